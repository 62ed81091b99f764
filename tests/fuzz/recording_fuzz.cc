// Any bytes as a file of recordings: rows, or InputErrors with their lines.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& row : foretell::ParseRecordings(text, "fuzz")) {
      FORETELL_CHECK(row.line > 0, "a row without its line");
      foretell::ConfigValue root = foretell::ConfigValue::Object();
      foretell::ApplyOverrides(row.edits, root);
      foretell::ApplyOverrides(row.overrides, root);
    }
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(errors.errors().size() <= 20, "too many errors");
    FORETELL_CHECK(errors.errors().front().place.line > 0, "no line");
  }
  return 0;
}
