// Any bytes as a model's configuration: an object, or InputErrors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/model_config_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const foretell::ModelConfig config =
        foretell::ParseModelConfig(text, "config.json", "fuzz");
    FORETELL_CHECK(config.root.is_object(), "a root that is no object");
    for (const auto& [key, value] : config.root.members()) {
      const foretell::Place place = config.PlaceOf(value, key);
      FORETELL_CHECK(place.line > 0 && place.caret >= 0, "a value's place");
    }
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  return 0;
}
