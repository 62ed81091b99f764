// Qwen3-Next: three layers of four run the gated delta rule in place of
// attention, and all feed-forwards are of experts.
//
// Source: transformers 5.23, models/qwen3_next/modeling_qwen3_next.py and
// configuration_qwen3_next.py.
#include <array>

#include "models/family.h"
#include "models/layers/qwen_hybrid.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  QwenHybridConfig hybrid = ReadQwenHybrid(config, class_name,
                                           {.decoder = {.vocabulary = 151936,
                                                        .intermediate = 5632,
                                                        .positions = 32768,
                                                        .layers = 48}});
  hybrid.linear.joins_projections = true;
  DecoderConfig& decoder = hybrid.keys.decoder;
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }
  hybrid.experts = ReadQwenExperts(config, hybrid, 512, 10);
  hybrid.experts.normalizes = config.Flag({"norm_topk_prob"}, true);
  hybrid.shared_intermediate =
      config.Size({"shared_expert_intermediate_size"}, 512);
  hybrid.sparse = ReadSparseLayers(config, decoder.layers, hybrid.experts);
  return MakeQwenHybrid(root, hybrid);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen3_next"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Qwen3NextForCausalLM", "Qwen3NextModel",
    "Qwen3NextForSequenceClassification", "Qwen3NextForTokenClassification",
    "Qwen3NextForQuestionAnswering"};

}  // namespace

extern const Family kQwen3NextFamily = {
    .name = "qwen3_next",
    .title = "Qwen3-Next",
    .doc =
        "Gated delta nets in three layers of four and gated attention in the "
        "others, with many small experts beside a shared one.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
