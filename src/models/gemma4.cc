// Gemma 4: wide heads in every sixth layer, layers that read
// others' keys and values, embeddings for each layer, experts beside the
// feed-forward; and the wholes, with towers for images and sounds or, unified,
// with projections alone.
//
// Source: transformers 5.23, models/gemma4/modeling_gemma4.py and
// models/gemma4_unified/modeling_gemma4_unified.py with their configurations.
#include <array>
#include <optional>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/gemma4_modules.h"
#include "models/layers/gemma4_towers.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_gemma4.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

// How the class that holds the text model runs it.
enum class Around { kNothing, kWhole, kEagerWhole, kUnifiedWhole };

std::unique_ptr<Model> BuildAround(const ConfigView& config, const Module& root,
                                   std::string_view class_name, Around around) {
  const bool is_unified = class_name.starts_with("Gemma4Unified");
  const AttentionConfig attention = ReadHeads(
      config, {.hidden = 2304, .heads = 8, .dropout_may_be_null = true});
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 262144,
                                  .intermediate = 9216,
                                  .positions = is_unified ? 262144 : 131072,
                                  .layers = 30,
                                  .ties = true,
                                  .padding = 0,
                                  .activation_key = "hidden_activation",
                                  .activation = "gelu_pytorch_tanh"});
  keys.decoder.head.logit_softcap =
      config.OptionalReal({"final_logit_softcapping"});
  Gemma4Config read = ReadGemma4(config, keys, attention, is_unified);
  read.in_whole = around != Around::kNothing;
  read.whole_is_eager = around == Around::kEagerWhole;
  read.whole_has_blocks =
      around == Around::kUnifiedWhole &&
      config.OptionalText({"use_bidirectional_attention"}) == "vision";
  auto model = std::make_unique<Gemma4Decoder>(root, read, keys.decoder);
  model->context_length.tokens = keys.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAround(config, root, class_name, Around::kNothing);
}

std::unique_ptr<Model> BuildInWhole(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  return BuildAround(config, root, class_name, Around::kWhole);
}

std::unique_ptr<Model> BuildInEagerWhole(const ConfigView& config,
                                         const Module& root,
                                         std::string_view class_name) {
  return BuildAround(config, root, class_name, Around::kEagerWhole);
}

std::unique_ptr<Model> BuildInUnified(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name) {
  return BuildAround(config, root, class_name, Around::kUnifiedWhole);
}

// Of tokens that stand for images and sounds; no shape depends on them.
void IgnoreTokens(const ConfigView& config) {
  config.Ignore({"boi_token_id", "eoi_token_id", "image_token_id",
                 "video_token_id", "boa_token_id", "eoa_token_id",
                 "eoa_token_index", "audio_token_id", "initializer_range",
                 "vision_soft_tokens_per_image"});
}

std::unique_ptr<Model> BuildWhole(const ConfigView& config, const Module& root,
                                  std::string_view class_name) {
  IgnoreTokens(config);
  std::optional<int64_t> vision;
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Gemma4ForCausalLM",
       .ties = true,
       .hidden = 2304,
       // The tower of sounds has no other attention, and so has the whole.
       .build_text =
           config.Has("audio_config") ? BuildInEagerWhole : BuildInWhole,
       .run = TextRun{}},
      [&](const Module& base, int64_t) {
        if (!config.Has("vision_config")) return;
        vision = AddGemma4VisionTower(config.Nested("vision_config"),
                                      base.Child("vision_tower"));
      },
      [&](const Module& base, int64_t hidden) {
        const TowerModule parts(base);
        std::optional<int64_t> audio;
        if (config.Has("audio_config")) {
          audio = AddGemma4AudioTower(config.Nested("audio_config"),
                                      base.Child("audio_tower"));
        }
        const auto join = [&](std::string_view name, int64_t width) {
          parts.Child(name).Linear("embedding_projection", width, hidden,
                                   false);
        };
        if (vision) join("embed_vision", *vision);
        if (audio) join("embed_audio", *audio);
      });
}

// Patches of pixels, several joined, made as wide as `hidden`.
void AddPatches(const ConfigView& config, const TowerModule& at,
                int64_t hidden) {
  const int64_t width = config.Size({"mm_embed_dim"}, 3840);
  const int64_t positions = config.Size({"mm_posemb_size"}, 1120);
  const int64_t projected = config.Size({"output_proj_dims"}, 3840);
  const int64_t side =
      ProductOf(config, "patch_size", config.Size({"patch_size"}, 16),
                config.Size({"pooling_kernel_size"}, 3));
  constexpr int64_t kColors = 3;
  const int64_t pixels =
      ProductOf(config, "patch_size",
                ProductOf(config, "patch_size", side, side), kColors);
  at.Parameter("pos_embedding", {positions, 2, width});
  at.LayerNorm("patch_ln1", pixels);
  at.Linear("patch_dense", pixels, width, true);
  at.LayerNorm("patch_ln2", width);
  at.LayerNorm("pos_norm", width);
  at.Child("multimodal_embedder")
      .Linear("embedding_projection", projected, hidden, false);
  IgnoreTowerKeys(config);
}

std::unique_ptr<Model> BuildUnified(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  IgnoreTokens(config);
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Gemma4UnifiedForCausalLM",
       .ties = true,
       .hidden = 2304,
       .build_text = BuildInUnified,
       .run = TextRun{}},
      {}, [&](const Module& base, int64_t hidden) {
        const TowerModule parts(base);
        if (config.Has("vision_config")) {
          AddPatches(config.Nested("vision_config"),
                     parts.Child("embed_vision"), hidden);
        }
        if (!config.Has("audio_config")) return;
        const ConfigView audio = config.Nested("audio_config");
        // The others are other names of the same field.
        const int64_t width =
            audio.Size({"audio_embed_dim", "hidden_size", "output_proj_dims",
                        "audio_samples_per_token"},
                       640);
        parts.Child("embed_audio")
            .Linear("embedding_projection", width, hidden, false);
        IgnoreTowerKeys(audio);
      });
}

constexpr std::array<std::string_view, 1> kTextTypes = {"gemma4_text"};
constexpr std::array<std::string_view, 2> kTextClasses = {"Gemma4ForCausalLM",
                                                          "Gemma4TextModel"};
constexpr std::array<std::string_view, 1> kWholeTypes = {"gemma4"};
constexpr std::array<std::string_view, 2> kWholeClasses = {
    "Gemma4ForConditionalGeneration", "Gemma4Model"};
constexpr std::array<std::string_view, 1> kUnifiedTextTypes = {
    "gemma4_unified_text"};
constexpr std::array<std::string_view, 2> kUnifiedTextClasses = {
    "Gemma4UnifiedForCausalLM", "Gemma4UnifiedTextModel"};
constexpr std::array<std::string_view, 1> kUnifiedTypes = {"gemma4_unified"};
constexpr std::array<std::string_view, 2> kUnifiedClasses = {
    "Gemma4UnifiedForConditionalGeneration", "Gemma4UnifiedModel"};

}  // namespace

extern const Family kGemma4Family = {
    .name = "gemma4",
    .title = "Gemma 4",
    .doc =
        "Wide heads in every sixth layer, shared keys and values, embeddings "
        "for each layer, experts.",
    .model_types = kTextTypes,
    .classes = kTextClasses,
    .old_names = {},
    .build = BuildText,
};

extern const Family kGemma4WholeFamily = {
    .name = "gemma4_towers",
    .title = "Gemma 4 with its towers",
    .doc =
        "Gemma 4's text model beside its own towers for images and sounds; "
        "its steps are of text alone.",
    .model_types = kWholeTypes,
    .classes = kWholeClasses,
    .old_names = {},
    .build = BuildWhole,
};

extern const Family kGemma4UnifiedFamily = {
    .name = "gemma4_unified",
    .title = "Gemma 4, unified",
    .doc =
        "Gemma 4's text model, into which images and sounds are projected "
        "without towers; its steps are of text alone.",
    .model_types = kUnifiedTypes,
    .classes = kUnifiedClasses,
    .old_names = {},
    .build = BuildUnified,
};

extern const Family kGemma4UnifiedLmFamily = {
    .name = "gemma4_unified_text",
    .title = "Gemma 4's text model, unified",
    .doc =
        "Gemma 4's decoder without embeddings for each layer and without "
        "experts.",
    .model_types = kUnifiedTextTypes,
    .classes = kUnifiedTextClasses,
    .old_names = {},
    .build = BuildText,
};

}  // namespace foretell
