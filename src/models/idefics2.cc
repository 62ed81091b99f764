// Idefics 2: Mistral beside a vision transformer whose patches a perceiver
// sums up in learned latents.
//
// Source: transformers 5.23, models/idefics2/modeling_idefics2.py and
// configuration_idefics2.py. It does not model their operations.
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/tower_module.h"
#include "models/layers/vit_tower.h"

namespace foretell {
namespace {

void AddPerceiver(const ConfigView& config, const TowerModule& at,
                  int64_t hidden) {
  const int64_t latents = config.Size({"resampler_n_latents"}, 64);
  const int64_t depth = config.Layers({"resampler_depth"}, 3);
  AttentionConfig heads;
  heads.hidden = hidden;
  heads.heads = config.Size({"resampler_n_heads"}, 16);
  heads.kv_heads = config.Size({"num_key_value_heads"}, 4);
  heads.head_dim = config.Size({"resampler_head_dim"}, 96);
  // The class writes the text model's width over what the file states.
  config.Ignore({"model_type", "hidden_size", "hidden_act", "rms_norm_eps",
                 "attention_dropout", "initializer_range"});
  ProductOf(config, "resampler_head_dim", heads.heads, heads.head_dim);
  at.Parameter("latents", {latents, hidden});
  const TowerModule layers = at.Child("layers");
  for (int64_t index = 0; index < depth; ++index) {
    const TowerModule layer = layers.Child(index);
    layer.RmsNorm("input_latents_norm", hidden);
    layer.RmsNorm("input_context_norm", hidden);
    AddPlainAttention(layer.Child("self_attn", RegionKind::kAttention), heads,
                      hidden, false);
    layer.RmsNorm("post_attention_layernorm", hidden);
    AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden, 4 * hidden);
  }
  at.RmsNorm("norm", hidden);
}

void AddConnector(const ConfigView& config, const TowerModule& at,
                  int64_t vision, int64_t hidden) {
  const int64_t wide =
      config.Nested("text_config").Size({"intermediate_size"}, 14336);
  const TowerModule projection =
      at.Child("modality_projection", RegionKind::kMlp);
  projection.Linear("gate_proj", vision, wide, false);
  projection.Linear("up_proj", vision, wide, false);
  projection.Linear("down_proj", wide, hidden, false);
  AddPerceiver(config.Nested("perceiver_config"),
               at.Child("perceiver_resampler"), hidden);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"image_token_id"});
  return MakeComposite(
      config, root, class_name,
      {.text_type = "mistral", .text_name = "text_model", .run = TextRun{}},
      [&](const Module& base, int64_t hidden) {
        const VitTower tower =
            AddVitTower(config.Nested("vision_config"),
                        base.Child("vision_model"), VitKind::kIdefics2);
        AddConnector(config, TowerModule(base).Child("connector"), tower.hidden,
                     hidden);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"idefics2"};
constexpr std::array<std::string_view, 2> kClasses = {
    "Idefics2ForConditionalGeneration", "Idefics2Model"};

}  // namespace

extern const Family kIdefics2Family = {
    .name = "idefics2",
    .title = "Idefics 2",
    .doc =
        "Mistral beside a vision transformer and a perceiver; its "
        "steps are of text alone.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
