// Qwen3.5-MoE, its text model: Qwen3.5's layers, all with experts.
//
// Source: transformers 5.23, models/qwen3_5_moe/modeling_qwen3_5_moe.py and
// configuration_qwen3_5_moe.py. It does not model the vision tower.
#include <array>

#include "models/family.h"
#include "models/layers/axis_rope.h"
#include "models/layers/qwen_hybrid.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  QwenHybridConfig hybrid = ReadQwenHybrid(
      config, class_name,
      {.decoder = {.vocabulary = 248320, .positions = 32768, .layers = 40}});
  hybrid.experts = ReadQwenExperts(config, hybrid, 256, 8);
  hybrid.shared_intermediate =
      config.Size({"shared_expert_intermediate_size"}, 512);
  hybrid.keys.decoder.rope.sections = ReadRopeSections(config, {11, 11, 10});
  return MakeQwenHybrid(root, hybrid);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen3_5_moe_text"};
constexpr std::array<std::string_view, 2> kClasses = {"Qwen3_5MoeForCausalLM",
                                                      "Qwen3_5MoeTextModel"};

}  // namespace

extern const Family kQwen35MoeFamily = {
    .name = "qwen3_5_moe",
    .title = "Qwen3.5-MoE",
    .doc =
        "Qwen3.5's gated delta nets and gated attention, with many small "
        "experts beside a shared one in every layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
