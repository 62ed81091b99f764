// A document as GitHub Markdown, for a pull request's comment or a page.
//
// Texts are escaped so that outside strings stay texts: no markup, no HTML,
// no mention of a person or an issue, no link made by itself.
#ifndef FORETELL_REPORT_RENDER_MARKDOWN_H_
#define FORETELL_REPORT_RENDER_MARKDOWN_H_

#include <string>
#include <string_view>

#include "report/document.h"

namespace foretell {

std::string RenderMarkdown(const Document& document);

// One line of text as Markdown that shows exactly it, harmless.
std::string MarkdownText(std::string_view text);

// A code block around the lines, with a fence that they do not close.
std::string MarkdownCode(std::string_view text, std::string_view language = "");

}  // namespace foretell

#endif  // FORETELL_REPORT_RENDER_MARKDOWN_H_
