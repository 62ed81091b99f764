// Llama 3.2 Vision: Llama's decoder in which some layers attend to an image
// alone, beside a tower whose tiles get learned places.
//
// Source: transformers 5.23, models/mllama/modeling_mllama.py and
// configuration_mllama.py. Of operations it models those of text alone.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"
#include "models/layers/rope.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

// Tokens beside the vocabulary that stand for an image and have no logits.
constexpr int64_t kImageTokens = 8;

// A layer that attends to an image, which is not there with text alone: its
// parameters.
void AddCrossLayer(const TowerModule& layer, const AttentionConfig& heads,
                   int64_t intermediate) {
  const int64_t hidden = heads.hidden;
  layer.Parameter("cross_attn_attn_gate", {1});
  layer.Parameter("cross_attn_mlp_gate", {1});
  const TowerModule attention =
      layer.Child("cross_attn", RegionKind::kAttention);
  AddPlainAttention(attention, heads, hidden, false);
  attention.RmsNorm("q_norm", heads.head_dim);
  attention.RmsNorm("k_norm", heads.head_dim);
  AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden, intermediate);
  layer.RmsNorm("input_layernorm", hidden);
  layer.RmsNorm("post_attention_layernorm", hidden);
}

// One that attends to an image is passed over.
struct MllamaLayer {
  Tensor Forward(const Tensor& hidden, const DecoderContext& context) const {
    if (text) return text->Forward(hidden, context);
    if (context.fills_cache && !context.output->NextLayer()->keys.empty()) {
      hidden.builder().Fail("what a layer keeps of an image is not modelled");
    }
    return hidden;
  }

  std::optional<DecoderLayer<GatedMlp>> text;
};

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = EvenHeadDim(config, attention);
  attention.dropout = config.Real({"dropout"}, 0);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 128256,
                                  .intermediate = 14336,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 40,
                                  .padding = 128004});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 500000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  const std::vector<int64_t> crossing =
      config.IntegerList({"cross_attention_layers"})
          .value_or(std::vector<int64_t>{3, 8, 13, 18, 23, 28, 33, 38});
  const auto is_cross = [&crossing](int64_t layer) {
    return std::ranges::find(crossing, layer) != crossing.end();
  };
  decoder.vocabulary += kImageTokens;
  decoder.tie_embeddings = false;
  auto model = std::make_unique<Decoder<MllamaLayer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        MllamaLayer layer;
        if (is_cross(index)) {
          AddCrossLayer(TowerModule(at), attention, keys.intermediate);
          return layer;
        }
        layer.text.emplace(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              return GatedMlp(mlp, decoder.hidden, keys.intermediate, false,
                              keys.activation);
            });
        return layer;
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, 0));
    if (is_cross(layer)) model->states.back().kind = LayerState::Kind::kCross;
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

struct Vision {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t heads_width = 0;  // of all heads
  int64_t tiles = 0;
  int64_t ratios = 0;  // of the tiles' arrangements, and none
};

void AddVisionLayers(const TowerModule& list, const Vision& sizes,
                     int64_t layers, bool is_gated) {
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule layer = list.Child(index);
    if (is_gated) {
      layer.Parameter("gate_attn", {1});
      layer.Parameter("gate_ffn", {1});
    }
    const TowerModule attention =
        layer.Child("self_attn", RegionKind::kAttention);
    for (const std::string_view name : {"q_proj", "k_proj", "v_proj"}) {
      attention.Linear(name, sizes.hidden, sizes.heads_width, false);
    }
    attention.Linear("o_proj", sizes.heads_width, sizes.hidden, false);
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("fc1", sizes.hidden, sizes.intermediate, true);
    mlp.Linear("fc2", sizes.intermediate, sizes.hidden, true);
    layer.LayerNorm("input_layernorm", sizes.hidden);
    layer.LayerNorm("post_attention_layernorm", sizes.hidden);
  }
}

// How many arrangements of tiles there are; one more stands for none.
int64_t ReadRatios(const ConfigView& config) {
  constexpr int64_t kByDefault = 8;
  const ConfigValue* list = config.Raw("supported_aspect_ratios");
  const int64_t known = list != nullptr && list->is_array()
                            ? static_cast<int64_t>(list->items().size())
                            : kByDefault;
  return known + 1;
}

void AddTower(const ConfigView& config, const Module& at) {
  Vision sizes;
  sizes.hidden = config.Size({"hidden_size"}, 1280);
  sizes.intermediate = config.Size({"intermediate_size"}, 5120);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 32);
  const int64_t global = config.Layers({"num_global_layers"}, 8);
  const int64_t heads =
      config.Size({"num_attention_heads", "attention_heads"}, 16);
  const int64_t channels = config.Size({"num_channels"}, 3);
  const int64_t image = config.Size({"image_size"}, 448);
  const int64_t patch = config.Size({"patch_size"}, 14);
  sizes.tiles = config.Size({"max_num_tiles"}, 4);
  sizes.ratios = ReadRatios(config);
  sizes.heads_width = sizes.hidden / heads * heads;
  const int64_t patches = PatchesOf(config, {image, image}, {patch, patch}) + 1;
  const int64_t tiled =
      ProductOf(config, "max_num_tiles", sizes.tiles, sizes.hidden);

  const TowerModule tower(at);
  tower.Parameter("class_embedding", {sizes.hidden});
  tower.Convolution("patch_embedding", {sizes.hidden, channels, patch, patch},
                    false);
  const TowerModule places =
      tower.Child("gated_positional_embedding", RegionKind::kEmbedding);
  places.Parameter("gate", {1});
  places.Parameter("embedding", {patches, sizes.hidden});
  places.Embedding("tile_embedding", sizes.ratios,
                   ProductOf(config, "image_size", tiled, patches));
  for (const std::string_view name :
       {"pre_tile_positional_embedding", "post_tile_positional_embedding"}) {
    const TowerModule tile = tower.Child(name, RegionKind::kEmbedding);
    tile.Parameter("gate", {1});
    tile.Embedding("embedding", sizes.ratios, tiled);
  }
  tower.LayerNorm("layernorm_pre", sizes.hidden);
  tower.LayerNorm("layernorm_post", sizes.hidden);
  AddVisionLayers(tower.Child("transformer.layers"), sizes, layers, false);
  AddVisionLayers(tower.Child("global_transformer.layers"), sizes, global,
                  true);
  config.Ignore({"norm_eps", "intermediate_layers_indices"});
  IgnoreTowerKeys(config);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"image_token_index", "image_token_id"});
  const ConfigView vision = config.Nested("vision_config");
  return MakeComposite(
      config, root, class_name,
      {.text_class = "MllamaForCausalLM", .run = TextRun{}},
      [&](const Module& base, int64_t) {
        AddTower(vision, base.Child("vision_model"));
      },
      [&](const Module& base, int64_t hidden) {
        TowerModule(base).Linear("multi_modal_projector",
                                 vision.Size({"vision_output_dim"}, 7680),
                                 hidden, true);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"mllama"};
constexpr std::array<std::string_view, 2> kClasses = {
    "MllamaForConditionalGeneration", "MllamaModel"};
constexpr std::array<std::string_view, 1> kTextTypes = {"mllama_text_model"};
constexpr std::array<std::string_view, 2> kTextClasses = {"MllamaForCausalLM",
                                                          "MllamaTextModel"};

}  // namespace

extern const Family kMllamaFamily = {
    .name = "mllama",
    .title = "Llama 3.2 Vision",
    .doc =
        "Llama whose every fifth layer attends to an image beside a tower of "
        "tiles; steps are of text alone.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

extern const Family kMllamaTextFamily = {
    .name = "mllama_text",
    .title = "Llama 3.2 Vision's text model",
    .doc =
        "Llama's decoder in which some layers attend to an image; steps are of "
        "text alone, which passes over these.",
    .model_types = kTextTypes,
    .classes = kTextClasses,
    .old_names = {},
    .build = BuildText,
};

}  // namespace foretell
