// Any bytes as changes to a configuration: changes that apply, or InputErrors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/json.h"
#include "input/overrides.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto overrides = foretell::ParseOverrides(text, "--over");
    foretell::ConfigValue root = foretell::ParseJson(
        R"({"a": 1, "b": {"c": [1, 2], "d": null}, "e": "x"})", "base");
    foretell::ApplyOverrides(overrides, root);
    FORETELL_CHECK(root.is_object(), "a root that is no object");
    for (const auto& one : overrides) {
      FORETELL_CHECK(!one.path.empty(), "a change without a key");
    }
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  return 0;
}
