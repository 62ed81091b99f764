// The formats that a document can be written in, by name.
//
// A new format is one renderer file and one line in render.cc.
#ifndef FORETELL_REPORT_RENDER_H_
#define FORETELL_REPORT_RENDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.h"

namespace foretell {

enum class Format : uint8_t { kText, kJson, kMarkdown };

struct TextStyle {
  int width = 100;      // columns; kept between 80 and 100
  bool colour = false;  // severities only
  // Off where no screen bounds the lines, so that names in tables stay whole
  // and can be searched for.
  bool wrap_tables = true;
};

std::vector<std::string_view> FormatNames();  // "text", "json", "markdown"
std::optional<Format> ParseFormat(std::string_view name);

// Ends with a line break. `style` concerns text only.
std::string Render(const Document& document, Format format,
                   const TextStyle& style = {});

}  // namespace foretell

#endif  // FORETELL_REPORT_RENDER_H_
