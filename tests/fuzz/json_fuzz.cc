// Any bytes as JSON: a value that is written back equal, or InputErrors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/json.h"

namespace foretell {
namespace {

// Every value knows a place inside the text, after its parent's.
void CheckOffsets(const ConfigValue& value, int64_t least, int64_t end) {
  FORETELL_CHECK(value.offset() >= least && value.offset() < end,
                 "a value's offset");
  for (const ConfigValue& item : value.items()) {
    CheckOffsets(item, value.offset() + 1, end);
  }
  for (const auto& [key, member] : value.members()) {
    CheckOffsets(member, value.offset() + 1, end);
  }
}

void CheckPrefix(const std::string& text) {
  int64_t offset = 0;
  const JsonResult prefix = ReadJsonPrefix(text, "fuzz", &offset);
  FORETELL_CHECK(offset >= 0 && offset <= static_cast<int64_t>(text.size()),
                 "the end of a prefix");
}

}  // namespace
}  // namespace foretell

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  foretell::CheckPrefix(text);
  try {
    const foretell::ConfigValue value = foretell::ParseJson(text, "fuzz");
    foretell::CheckOffsets(value, 0, static_cast<int64_t>(size));
    const foretell::ConfigValue again =
        foretell::ParseJson(value.ToJson(), "again");
    FORETELL_CHECK(value == again, "written back differently");
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  return 0;
}
