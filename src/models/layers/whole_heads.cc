#include "models/layers/whole_heads.h"

#include <fmt/format.h>

#include <algorithm>

namespace foretell {

WholeHeads CheckWholeHeads(const ConfigView& config, int64_t hidden,
                           int64_t heads, int64_t layers,
                           std::string_view key) {
  WholeHeads out = {hidden, heads, std::max<int64_t>(1, hidden / heads)};
  if (layers > 0 && hidden % heads != 0) {
    config.Find("model/heads", Severity::kBlock, key,
                fmt::format("a width of {} is not a multiple of {} heads",
                            hidden, heads),
                "the class refuses it as the model is built",
                "choose a number of heads that divides the width");
  }
  return out;
}

}  // namespace foretell
