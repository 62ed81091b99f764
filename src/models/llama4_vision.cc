// Llama 4 with its tower: patches unfolded, axial angles of complex numbers,
// and an adapter that shuffles neighbouring patches together.
//
// Source: transformers 5.23, models/llama4/modeling_llama4.py and
// configuration_llama4.py. It does not model the tower's operations.
#include <array>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/tower_module.h"
#include "models/whole_text.h"

namespace foretell {
namespace {

void AddVisionLayer(const TowerModule &layer, int64_t hidden, int64_t width,
                    int64_t intermediate) {
  const TowerModule attention =
      layer.Child("self_attn", RegionKind::kAttention);
  for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
    attention.Linear(name, hidden, width, true);
  }
  attention.Linear("o_proj", width, hidden, true);
  const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
  mlp.Linear("fc1", hidden, intermediate, true);
  mlp.Linear("fc2", intermediate, hidden, true);
  layer.LayerNorm("input_layernorm", hidden);
  layer.LayerNorm("post_attention_layernorm", hidden);
}

void AddAdapter(const ConfigView &config, const TowerModule &at,
                int64_t intermediate) {
  const int64_t in = config.Size({"projector_input_dim"}, 4096);
  const int64_t out = config.Size({"projector_output_dim"}, 4096);
  if (config.Real({"pixel_shuffle_ratio"}, 0.5) == 0) {
    config.Problem("pixel_shuffle_ratio", "is 0, which the class divides by",
                   "the published models state 0.5");
  }
  at.Linear("fc1", intermediate, in, false);
  at.Linear("fc2", out, out, false);
}

void AddTower(const ConfigView &config, const Module &at) {
  const int64_t hidden = config.Size({"hidden_size"}, 768);
  const int64_t heads = config.Size({"num_attention_heads"}, 16);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 34);
  const int64_t intermediate = config.Size({"intermediate_size"}, 5632);
  const int64_t channels = config.Size({"num_channels"}, 3);
  const int64_t image = config.Size({"image_size"}, 448);
  const int64_t patch = config.Size({"patch_size"}, 14);
  const int64_t head_dim = hidden / heads;
  if (head_dim == 0) {
    config.Problem("num_attention_heads",
                   "leaves nothing of hidden_size for a head",
                   "choose fewer heads");
  }
  const TowerModule tower(at);
  // A position of its own for the token of the class.
  const int64_t positions =
      PatchesOf(config, {image, image}, {patch, patch}) + 1;
  tower.Parameter("class_embedding", {hidden});
  tower.Parameter("positional_embedding_vlm", {positions, hidden});
  const int64_t pixels = ProductOf(config, "patch_size", patch, patch);
  tower.Child("patch_embedding", RegionKind::kEmbedding)
      .Linear("linear", ProductOf(config, "num_channels", channels, pixels),
              hidden, false);
  // Half a head for each axis, and a complex number turns two dims.
  const int64_t angles = 2 * (head_dim / 2 / 2);
  at.Child("rotary_embedding")
      .Buffer("freqs_ci", {positions, 1, angles}, DType::kComplex64, false);
  tower.LayerNorm("layernorm_pre", hidden);
  tower.LayerNorm("layernorm_post", hidden);
  const TowerModule list = tower.Child("model.layers");
  for (int64_t index = 0; index < layers; ++index) {
    AddVisionLayer(list.Child(index), hidden, heads * head_dim, intermediate);
  }
  AddAdapter(config, tower.Child("vision_adapter.mlp"), intermediate);
  CheckFields(config, {{"norm_eps", FieldKind::kFloat},
                       {"multi_modal_projector_bias", FieldKind::kFlag},
                       {"projector_dropout", FieldKind::kNumber}});
  config.Ignore({"vision_feature_select_strategy", "vision_feature_layer"});
  IgnoreTowerKeys(config);
}

std::unique_ptr<Model> BuildWhole(const ConfigView &config, const Module &root,
                                  std::string_view class_name) {
  config.Ignore({"boi_token_index", "eoi_token_index", "image_token_index",
                 "boi_token_id", "eoi_token_id", "image_token_id",
                 "pad_token_id"});
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Llama4ForCausalLM",
       .base_name = "",
       .holds_head = true,
       .text_alone_ties = true,
       .hidden = 5120,
       .build_text = BuildLlama4InWhole,
       .run = TextRun{}},
      [&](const Module &base, int64_t hidden) {
        const ConfigView vision = config.Nested("vision_config");
        AddTower(vision, base.Child("vision_model"));
        TowerModule(base)
            .Child("multi_modal_projector")
            .Linear("linear_1", vision.Size({"vision_output_dim"}, 7680),
                    hidden, false);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"llama4"};
constexpr std::array<std::string_view, 1> kClasses = {
    "Llama4ForConditionalGeneration"};

}  // namespace

extern const Family kLlama4VisionFamily = {
    .name = "llama4_vision",
    .title = "Llama 4 with its tower",
    .doc =
        "Llama 4's text model beside its own tower; its steps are of text "
        "alone.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = BuildWhole,
};

}  // namespace foretell
