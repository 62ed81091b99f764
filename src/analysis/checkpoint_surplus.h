// What published checkpoints of a class hold beyond or other than the class:
// layers that predict further tokens, buffers, masks of old releases, tied
// tensors written out, a head left out.
//
// In: a configuration, the class and its parameters. Out: items of tensors
// under the names that the class would give them, each with how sure it is that
// a checkpoint holds it. An element counts once, in whatever type it is kept:
// quantization, its scales and its packing are not looked at here.
// Sources: the keys that transformers 5.23 skips as it loads
// (_keys_to_ignore_on_load_unexpected) and the published totals of the
// catalogue, which the items add up to.
#ifndef FORETELL_ANALYSIS_CHECKPOINT_SURPLUS_H_
#define FORETELL_ANALYSIS_CHECKPOINT_SURPLUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/parameters.h"
#include "spec/model_config.h"

namespace foretell {

enum class SurplusPresence : uint8_t {
  kAlways,     // the class's own state_dict, or the configuration says so
  kUsual,      // the publisher's checkpoints hold it; re-saved ones may not
  kSometimes,  // some releases or tools wrote it
};

std::string_view NameOf(SurplusPresence presence);

struct SurplusItem {
  std::string what;  // "1 layer that predicts a further token, model.layers.61"
  std::vector<TensorGroup> tensors;
  SurplusPresence presence = SurplusPresence::kSometimes;
  bool left_out = false;  // tensors of the class that the checkpoint lacks

  // Below zero where tensors are left out.
  int64_t Elements() const;
};

// At most a dozen items, the surest first.
std::vector<SurplusItem> CheckpointSurplus(const ModelConfig& config,
                                           std::string_view class_name,
                                           const ParameterAnalysis& parameters);

// The class's elements and those of all items that are always or usually
// there; nothing where the total is not known.
std::optional<int64_t> ExpectedElements(const ParameterAnalysis& parameters,
                                        const std::vector<SurplusItem>& items);

// The fewest items whose elements make up `difference`, by their places in
// `items`; those that are always there are in every answer. Nothing where no
// choice does.
std::optional<std::vector<size_t>> ExplainDifference(
    int64_t difference, const std::vector<SurplusItem>& items);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_CHECKPOINT_SURPLUS_H_
