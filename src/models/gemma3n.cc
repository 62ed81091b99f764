// Gemma 3n: a text model of several residual streams and embeddings for each
// layer, alone or beside towers for images and sounds.
//
// Source: transformers 5.23, models/gemma3n/modeling_gemma3n.py and
// configuration_gemma3n.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/gemma3n_modules.h"
#include "models/layers/gemma3n_towers.h"
#include "models/layers/gemma_ropes.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_gemma4.h"
#include "models/layers/tower_module.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

void Refuse(const ConfigView& config, std::string_view key, std::string what) {
  config.Find("model/layers", Severity::kBlock, key, std::move(what),
              "the class refuses the configuration as it loads, or fails as it "
              "is built",
              "state one value for each layer, or remove the key");
}

// One for all layers, or a list of one for each.
std::vector<int64_t> ReadWidths(const ConfigView& config, int64_t layers) {
  const auto count = static_cast<size_t>(layers);
  const ConfigValue* stated = config.Raw("intermediate_size");
  if (stated == nullptr || !stated->is_array()) {
    return std::vector(count, config.Size({"intermediate_size"}, 16384));
  }
  std::vector<int64_t> out = config.IntegerList({"intermediate_size"})
                                 .value_or(std::vector<int64_t>());
  constexpr int64_t kMost = int64_t{1} << 40;  // as Size bounds them
  for (int64_t& width : out) {
    if (width >= 1 && width <= kMost) continue;
    config.Problem("intermediate_size", "a layer's is no size",
                   "choose sizes from 1 on");
    width = 1;
  }
  if (config.log().most_layers == layers && out.size() > count) {
    out.resize(count);
  }
  if (out.size() != count) {
    Refuse(config, "intermediate_size",
           fmt::format("{} sizes for {} layers", out.size(), layers));
    out.resize(count, 1);
  }
  return out;
}

// Which layers cut off gates: the first ten of more than ten, or as listed.
std::vector<bool> ReadSparse(const ConfigView& config, int64_t layers) {
  constexpr int64_t kSparseLayers = 10;
  const auto count = static_cast<size_t>(layers);
  const ConfigValue* stated = config.Raw("activation_sparsity_pattern");
  config.Ignore({"activation_sparsity_pattern"});
  std::vector<bool> out(count, false);
  if (stated == nullptr || stated->is_null()) {
    for (int64_t i = 0; i < kSparseLayers && layers > kSparseLayers; ++i) {
      out[static_cast<size_t>(i)] = true;
    }
    return out;
  }
  const auto& items = stated->items();
  const bool is_cut =
      config.log().most_layers == layers && items.size() > count;
  if (!stated->is_array() || (items.size() != count && !is_cut)) {
    Refuse(config, "activation_sparsity_pattern",
           fmt::format("{} values for {} layers", items.size(), layers));
    return out;
  }
  for (size_t i = 0; i < count; ++i) {
    const auto share = items[i].AsReal();
    if (!share || *share >= 1) {
      config.Problem("activation_sparsity_pattern",
                     "a layer's is no share below 1", "write 0.0 or 0.95");
      break;
    }
    out[i] = *share > 0;
  }
  return out;
}

std::vector<std::string> ReadKinds(const ConfigView& config, int64_t layers) {
  constexpr int64_t kPeriod = 5;
  std::vector<std::string> kinds = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      kinds.emplace_back((layer + 1) % kPeriod == 0 ? "full_attention"
                                                    : "sliding_attention");
    }
    DeriveLayerTypes(config, kinds);
  }
  kinds.resize(static_cast<size_t>(layers), "sliding_attention");
  return kinds;
}

void ReadStreams(const ConfigView& config, Gemma3nConfig& out) {
  out.streams = config.Size({"altup_num_inputs"}, 4);
  out.active = config.SizeOrZero({"altup_active_idx"}, 0);
  out.coefficient_clip = config.Real({"altup_coef_clip"}, 120);
  out.scales_corrected = config.Flag({"altup_correct_scale"}, true);
  constexpr int64_t kMostStreams = 1024;
  if (out.streams > kMostStreams) {
    config.Problem("altup_num_inputs",
                   fmt::format("{} streams are too many", out.streams),
                   fmt::format("choose at most {}", kMostStreams));
    out.streams = 1;
  }
  if (out.active >= out.streams) {
    Refuse(config, "altup_active_idx",
           fmt::format("stream {} of {}", out.active, out.streams));
    out.active = 0;
  }
}

std::unique_ptr<Gemma3nDecoder> BuildDecoder(const ConfigView& config,
                                             const Module& root,
                                             std::string_view class_name) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 2048, .heads = 8, .dropout_may_be_null = true});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 2);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 256);
  if (attention.hidden % attention.heads != 0 && !config.config().is_loaded) {
    Refuse(config, "num_attention_heads",
           fmt::format("hidden_size {} is not a multiple of {} heads",
                       attention.hidden, attention.heads));
  }
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 262400,
                                  .intermediate = 0,
                                  .positions = 32768,
                                  .layers = 35,
                                  .ties = true,
                                  .padding = 0,
                                  .activation_key = "hidden_activation",
                                  .activation = "gelu_pytorch_tanh"});
  const int64_t layers = keys.decoder.layers;
  Gemma3nConfig read;
  read.hidden = attention.hidden;
  read.heads = attention.heads;
  read.kv_heads = attention.kv_heads;
  read.head_dim = attention.head_dim;
  read.bias = config.Flag({"attention_bias"}, false);
  read.dropout = attention.dropout;
  read.window = config.Size({"sliding_window"}, 512);
  read.norm_epsilon = keys.decoder.norm_epsilon;
  read.activation = keys.activation;
  read.layer_width = config.Size({"hidden_size_per_layer_input"}, 256);
  read.layer_rows = config.Size({"vocab_size_per_layer_input"}, 262144);
  read.all_widths = ProductOf(config, "hidden_size_per_layer_input",
                              read.layer_width, layers);
  read.laurel_rank = config.Size({"laurel_rank"}, 64);
  ReadStreams(config, read);
  ProductOf(config, "num_attention_heads", read.heads, read.head_dim);
  read.vocabulary = keys.decoder.vocabulary;
  read.ties = keys.decoder.tie_embeddings;
  CheckFields(config, {{"final_logit_softcapping", FieldKind::kFloat}});
  keys.decoder.head.logit_softcap =
      config.Real({"final_logit_softcapping"}, 30);
  read.head = keys.decoder.head;
  ReadPadding(config, 0, {{"vocab_size_per_layer_input", read.layer_rows}});
  const std::vector<int64_t> widths = ReadWidths(config, layers);
  const std::vector<bool> sparse = ReadSparse(config, layers);
  const std::vector<std::string> kinds = ReadKinds(config, layers);
  const int64_t first_shared = ReadFirstShared(config, kinds, 15);
  for (size_t index = 0; index < kinds.size(); ++index) {
    Gemma3nLayer& layer = read.layers.emplace_back();
    layer.slides = kinds[index] == "sliding_attention";
    layer.reuses = static_cast<int64_t>(index) >= first_shared;
    layer.intermediate = widths[index];
    layer.is_sparse = sparse[index];
  }
  for (const size_t index : StoringLayers(kinds, first_shared)) {
    read.layers[index].stores = true;
  }
  read.ropes =
      ReadGemmaRopes(config, kinds, read.head_dim, keys.positions).used;
  // The first scales learning, the second an older form's scores.
  config.Ignore({"altup_lr_multiplier", "query_pre_attn_scalar"});
  auto model = std::make_unique<Gemma3nDecoder>(root, read);
  model->context_length.tokens = keys.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildDecoder(config, root, class_name);
}

Gemma3nEmbedderConfig ReadEmbedder(const ConfigView& config, int64_t width,
                                   int64_t offset) {
  Gemma3nEmbedderConfig out;
  out.rows = config.Size({"vocab_size"}, 128);
  out.width = config.Size({"hidden_size"}, width);
  out.offset = config.SizeOrZero({"vocab_offset"}, offset);
  out.epsilon = config.Real({"rms_norm_eps"}, 1e-6);
  return out;
}

std::unique_ptr<Model> BuildWhole(const ConfigView& config, const Module& root,
                                  std::string_view class_name) {
  config.Ignore({"boi_token_id", "eoi_token_id", "image_token_id",
                 "boa_token_id", "eoa_token_id", "audio_token_id",
                 "initializer_range", "vision_soft_tokens_per_image",
                 "audio_soft_tokens_per_image"});
  Gemma3nDecoder* text = nullptr;
  const ConfigView vision = config.Nested("vision_config");
  const ConfigView audio = config.Nested("audio_config");
  return MakeComposite(
      config, root, class_name,
      {.text_class = "Gemma3nForCausalLM",
       .ties = true,
       .hidden = 2048,
       .build_text =
           [&text](const ConfigView& own, const Module& at,
                   std::string_view name) {
             auto model = BuildDecoder(own, at, name);
             text = model.get();
             return model;
           },
       .run = TextRun{}},
      [&](const Module& base, int64_t) {
        AddGemma3nVisionTower(vision, base.Child("vision_tower"));
      },
      [&](const Module& base, int64_t) {
        AddGemma3nAudioTower(audio, base.Child("audio_tower"));
        constexpr int64_t kTextRows = 262144;
        constexpr int64_t kRows = 128;
        text->AddEmbedders(base, ReadEmbedder(vision, 2048, kTextRows),
                           ReadEmbedder(audio, 1536, kTextRows + kRows));
      });
}

constexpr std::array<std::string_view, 1> kTextTypes = {"gemma3n_text"};
constexpr std::array<std::string_view, 2> kTextClasses = {"Gemma3nForCausalLM",
                                                          "Gemma3nTextModel"};
constexpr std::array<std::string_view, 1> kWholeTypes = {"gemma3n"};
constexpr std::array<std::string_view, 2> kWholeClasses = {
    "Gemma3nForConditionalGeneration", "Gemma3nModel"};

}  // namespace

extern const Family kGemma3nFamily = {
    .name = "gemma3n",
    .title = "Gemma 3n",
    .doc =
        "Several residual streams of which one passes each layer, a low-rank "
        "branch beside attention, gates cut off below a quantile, shared keys "
        "and values, embeddings for each layer.",
    .model_types = kTextTypes,
    .classes = kTextClasses,
    .old_names = {},
    .build = BuildText,
};

extern const Family kGemma3nWholeFamily = {
    .name = "gemma3n_towers",
    .title = "Gemma 3n with its towers",
    .doc =
        "Gemma 3n's text model beside MobileNet V5 for images and a conformer "
        "for sounds; its steps are of text alone.",
    .model_types = kWholeTypes,
    .classes = kWholeClasses,
    .old_names = {},
    .build = BuildWhole,
};

}  // namespace foretell
