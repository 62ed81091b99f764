// Any bytes as a command line, words apart at NUL: parsed, or refused with
// InputErrors whose texts are harmless for a terminal. Anything else thrown is
// a bug, and libFuzzer reports it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/input_error.h"
#include "front/command_table.h"
#include "front/parse_command_line.h"
#include "report/render_errors.h"

namespace {

std::vector<std::string> Words(const uint8_t* data, size_t size) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == 0) {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(data[i]);
    }
  }
  return words;
}

void CheckHarmless(const std::string& text) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n') || code == 0x7F) std::abort();
  }
}

// What a run would read must be there: every value that was checked.
void Read(const foretell::Invocation& invocation) {
  invocation.format();
  if (invocation.command() == nullptr || invocation.Has("help") ||
      invocation.Has("version")) {
    return;
  }
  for (const foretell::ArgumentRow& row : invocation.command()->arguments) {
    const size_t given = invocation.Arguments(row.name).size();
    if (given == 0 && !row.optional) std::abort();
    if (given > 1 && !row.repeatable) std::abort();
    invocation.PlaceOf(row.name);
  }
  for (const foretell::OptionRow& row : invocation.command()->options) {
    invocation.Texts(row.name);
    if (row.kind == foretell::ValueKind::kInteger) {
      const auto number = invocation.Integer(row.name);
      if (number && (*number < row.least || *number > row.most)) std::abort();
    }
    invocation.PlaceOf(row.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> words = Words(data, size);
  foretell::AsksForJson(foretell::Commands(), words);
  try {
    Read(foretell::ParseCommandLine(foretell::Commands(), words));
  } catch (const foretell::InputErrors& errors) {
    CheckHarmless(foretell::RenderErrorsText(errors));
    foretell::RenderErrorsJson(errors);
  }
  return 0;
}
