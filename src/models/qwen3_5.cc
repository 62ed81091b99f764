// Qwen3.5, its text model: Qwen3-Next's layers with dense feed-forwards, and
// positions of three axes.
//
// Source: transformers 5.23, models/qwen3_5/modeling_qwen3_5.py and
// configuration_qwen3_5.py. It does not model the vision tower.
#include <array>

#include "models/family.h"
#include "models/layers/axis_rope.h"
#include "models/layers/qwen_hybrid.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  QwenHybridConfig hybrid = ReadQwenHybrid(config, class_name,
                                           {.decoder = {.vocabulary = 248320,
                                                        .intermediate = 12288,
                                                        .positions = 32768},
                                            .hidden = 4096,
                                            .kv_heads = 4});
  hybrid.sparse.any = false;
  hybrid.keys.decoder.rope.sections = ReadRopeSections(config, {11, 11, 10});
  return MakeQwenHybrid(root, hybrid);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen3_5_text"};
constexpr std::array<std::string_view, 3> kClasses = {
    "Qwen3_5ForCausalLM", "Qwen3_5TextModel",
    "Qwen3_5TextForSequenceClassification"};

}  // namespace

extern const Family kQwen35Family = {
    .name = "qwen3_5",
    .title = "Qwen3.5",
    .doc =
        "Gated delta nets in three layers of four, gated attention with "
        "positions of three axes in the others.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
