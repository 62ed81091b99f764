// Experts that are modules of their own, one after another in a list, as code
// beside older weights has them: how many may be asked for at most, since each
// is built. Takes the number that a configuration states.
#ifndef FORETELL_MODELS_LAYERS_LISTED_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_LISTED_EXPERTS_H_

#include <cstdint>
#include <string_view>

#include "spec/config_view.h"

namespace foretell {

// The most modules of experts that one configuration may ask for: past any
// published model's by an order; bounds the work that it causes.
inline constexpr int64_t kMostListedExperts = 65536;

// `experts`, or one where all layers' together are too many; a problem then.
inline int64_t BoundListedExperts(const ConfigView& config,
                                  std::string_view key, int64_t experts,
                                  int64_t layers) {
  if (layers == 0 || experts <= kMostListedExperts / layers) return experts;
  config.Problem(key, "asks for more modules than can be listed",
                 "write fewer experts or fewer layers");
  return 1;
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LISTED_EXPERTS_H_
