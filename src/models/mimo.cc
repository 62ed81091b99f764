// MiMo 7B, which predicts a further token with a layer of its own: Qwen2's
// decoder, and that layer, which the class holds and its forward does not run.
//
// Source: the MiMo report (arXiv 2505.07608) and the published tensor names of
// XiaomiMiMo/MiMo-7B-Base, whose header's total it reproduces.
#include <array>

#include "models/family.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

void AddNextTokenLayer(const TowerModule& at, const AttentionConfig& attention,
                       int64_t intermediate) {
  const int64_t hidden = attention.hidden;
  at.RmsNorm("input_layernorm", hidden);
  at.RmsNorm("post_attention_layernorm", hidden);
  at.RmsNorm("token_layernorm", hidden);
  at.RmsNorm("hidden_layernorm", hidden);
  at.Linear("input_proj", 2 * hidden, hidden, false);
  at.RmsNorm("final_layernorm", hidden);
  AddPlainAttention(at.Child("self_attn", RegionKind::kAttention), attention,
                    hidden, true);
  AddPlainMlp(at.Child("mlp", RegionKind::kMlp), hidden, intermediate);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  // More than any publisher adds; bounds the work that a file causes.
  constexpr int64_t kMost = 64;
  int64_t count = config.SizeOrZero({"num_nextn_predict_layers"}, 0);
  if (count > kMost) {
    config.Problem("num_nextn_predict_layers", "asks for too many layers",
                   "the published models have 1");
    count = 0;
  }
  const bool is_base = class_name == "MiMoModel";
  auto model =
      FamilyOfClass("Qwen2ForCausalLM")
          ->build(config, root, is_base ? "Qwen2Model" : "Qwen2ForCausalLM");
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  const int64_t intermediate = config.Size({"intermediate_size"}, 22016);
  // Below the base model, by its name: regions of one name are one place in
  // the state_dict.
  const TowerModule base(is_base ? root : root.Child("model"));
  const TowerModule list = base.Child("mtp_layers");
  for (int64_t index = 0; index < count; ++index) {
    AddNextTokenLayer(list.Child(index), attention, intermediate);
  }
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mimo"};
constexpr std::array<std::string_view, 2> kClasses = {"MiMoForCausalLM",
                                                      "MiMoModel"};

}  // namespace

extern const Family kMimoFamily = {
    .name = "mimo",
    .title = "MiMo",
    .doc =
        "Qwen2's decoder with a layer that predicts a further token beside it; "
        "MiMo 7B.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the MiMo report (arXiv 2505.07608), published tensor names and Qwen2",
};

}  // namespace foretell
