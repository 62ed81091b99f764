#include "models/layers/read_decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/layers/check_fields.h"

namespace foretell {
namespace {

// transformers 5.23, configuration_utils.py: ALLOWED_ATTN_LAYER_TYPES.
constexpr std::array<std::string_view, 14> kLayerTypes = {
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "window_attention",
    "indexed_attention",
    "compressed_sparse_attention",
    "heavily_compressed_attention",
    "minimax_m3_sparse",
    "conv",
    "moe",
    "hybrid",
    "hybrid_sliding",
    "reference_sliding_attention",
    "linear_attention"};

// The same file: _LEGACY_LAYER_TYPE_REMAP.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4>
    kOldLayerTypes = {{{"mamba", "linear_attention"},
                       {"attention", "full_attention"},
                       {"deepseek_sparse_attention", "indexed_attention"},
                       {"qwen_sparse_attention", "indexed_attention"}}};

}  // namespace

HeadConfig ReadHead(const ConfigView& config, std::string_view class_name,
                    int64_t hidden, int64_t vocabulary,
                    std::optional<int64_t> padding) {
  HeadConfig out;
  out.kind = HeadOfClass(class_name).value_or(Head::kNone);
  out.hidden = hidden;
  out.vocabulary = vocabulary;
  const bool is_token = out.kind == Head::kTokenClassification;
  out.labels =
      ReadLabels(config, is_token || out.kind == Head::kSequenceClassification);
  out.padding = padding;
  if (is_token) {
    // The first that is no null.
    const std::string_view key = config.Has("classifier_dropout")
                                     ? "classifier_dropout"
                                     : "hidden_dropout";
    if (config.Has(key)) out.token_dropout = ReadDropout(config, key, 0.1);
    if (config.Raw("token_classification_bias")) {
      out.token_bias = config.Flag({"token_classification_bias"}, true);
    }
  }
  config.Ignore(
      {"classifier_dropout", "hidden_dropout", "token_classification_bias"});
  return out;
}

AttentionConfig ReadHeads(const ConfigView& config,
                          const HeadDefaults& defaults) {
  AttentionConfig out;
  out.hidden = config.Size({"hidden_size"}, defaults.hidden);
  out.heads = config.Size({"num_attention_heads"}, defaults.heads);
  if (!defaults.dropout_may_be_null || config.Has("attention_dropout")) {
    out.dropout = config.Real({"attention_dropout"}, defaults.dropout);
  }
  return out;
}

int64_t EvenHeadDim(const ConfigView& config,
                    const AttentionConfig& attention) {
  const int64_t head_dim = attention.hidden / attention.heads;
  if (head_dim > 0) return head_dim;
  config.Problem("num_attention_heads",
                 fmt::format("is {}, which leaves no dims of a hidden_size of "
                             "{} for a head",
                             attention.heads, attention.hidden),
                 "choose fewer heads or state head_dim");
  return 1;
}

int64_t UndeclaredHeadDim(const ConfigView& config,
                          const AttentionConfig& attention) {
  return config.Raw("head_dim") == nullptr ? EvenHeadDim(config, attention)
                                           : config.Size({"head_dim"}, 128);
}

bool FlagOrNull(const ConfigView& config, std::string_view key,
                bool otherwise) {
  const ConfigValue* stated = config.Raw(key);
  return (stated == nullptr || !stated->is_null()) &&
         config.Flag({key}, otherwise);
}

int64_t SizeOrDerived(const ConfigView& config, std::string_view key,
                      int64_t otherwise) {
  const auto stated = config.OptionalSize({key});
  if (stated) return *stated;
  // Once loaded, nothing works it out again.
  if (config.config().is_loaded && config.Raw(key) != nullptr) {
    config.Problem(key, "is null on a loaded configuration", "state a number");
  }
  config.Derive(key, ConfigValue::Number(std::to_string(otherwise)));
  return otherwise;
}

void CheckKeyValueHeads(const ConfigView& config,
                        const AttentionConfig& attention) {
  if (attention.heads % attention.kv_heads == 0) return;
  config.Find("model/kv-heads", Severity::kBlock, "num_key_value_heads",
              fmt::format("num_attention_heads {} is not a multiple of "
                          "num_key_value_heads {}",
                          attention.heads, attention.kv_heads),
              "each key and value head serves a whole number of query heads; "
              "the forward fails on the shapes",
              fmt::format("set num_key_value_heads to a divisor of {}",
                          attention.heads));
}

void CheckEvenHeads(const ConfigView& config, const AttentionConfig& attention,
                    std::string_view config_class) {
  const bool divides = attention.hidden % attention.heads == 0;
  if (divides || config.config().is_loaded) return;
  config.Find(
      "model/heads", Severity::kBlock, "num_attention_heads",
      fmt::format("hidden_size {} is not a multiple of "
                  "num_attention_heads {}",
                  attention.hidden, attention.heads),
      fmt::format("{} refuses the configuration as it loads", config_class),
      "choose a number of heads that divides hidden_size");
}

DecoderKeys ReadDecoder(const ConfigView& config, std::string_view class_name,
                        int64_t hidden, const DecoderDefaults& defaults) {
  DecoderKeys out;
  DecoderConfig& decoder = out.decoder;
  decoder.hidden = hidden;
  decoder.vocabulary = config.SizeOrZero({"vocab_size"}, defaults.vocabulary);
  decoder.layers = config.Layers({"num_hidden_layers"}, defaults.layers);
  decoder.norm_epsilon =
      defaults.norm_key.empty()
          ? defaults.norm_epsilon
          : config.Real({defaults.norm_key}, defaults.norm_epsilon);
  decoder.tie_embeddings = config.Flag({"tie_word_embeddings"}, defaults.ties);
  const auto padding = config.Raw("pad_token_id") == nullptr
                           ? defaults.padding
                           : config.OptionalInteger({"pad_token_id"});
  decoder.head =
      ReadHead(config, class_name, hidden, decoder.vocabulary, padding);
  decoder.fills_cache = decoder.head.kind == Head::kQuestionAnswering &&
                        config.Flag({"use_cache"}, true);
  CheckPadding(config, decoder.vocabulary, defaults.padding);
  if (defaults.intermediate > 0) {
    out.intermediate =
        config.Size({"intermediate_size"}, defaults.intermediate);
  }
  out.positions = config.Size({"max_position_embeddings"}, defaults.positions);
  // An activation is looked up where a layer is built.
  if (defaults.activation_key.empty()) {
    out.activation = Activation::kSilu;
  } else if (decoder.layers > 0) {
    out.activation = ActivationNamed(
        config, defaults.activation_key,
        config.Text({defaults.activation_key}, defaults.activation));
  } else {
    CheckFields(config, {{defaults.activation_key, FieldKind::kText}});
  }
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat}});
  if (!defaults.norm_key.empty()) {
    CheckFields(config, {{defaults.norm_key, FieldKind::kFloat}});
  }
  return out;
}

std::vector<std::string> ReadLayerTypes(const ConfigView& config,
                                        int64_t layers) {
  auto types = config.TextList({"layer_types"});
  if (!types) return {};
  for (std::string& type : *types) {
    for (const auto& [old_name, name] : kOldLayerTypes) {
      if (type == old_name) type = name;
    }
    if (std::ranges::find(kLayerTypes, type) != kLayerTypes.end()) continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("\"{}\" names no kind of layer", type.substr(0, 40)),
        "the library refuses the configuration",
        "write full_attention or sliding_attention for each layer");
    break;
  }
  // Fewer layers were asked for than the file has.
  const auto count = static_cast<size_t>(layers);
  if (config.log().most_layers == layers && types->size() > count) {
    types->resize(count);
  }
  if (types->size() != count) {
    config.Find("model/layer-types", Severity::kBlock, "layer_types",
                fmt::format("layer_types names {} layers, and "
                            "num_hidden_layers is {}",
                            types->size(), layers),
                "the library refuses the configuration",
                fmt::format("list {} kinds, or remove the key", layers));
  }
  return *std::move(types);
}

LayerState StateOf(const AttentionConfig& attention, int64_t window) {
  LayerState state;
  state.kind =
      window > 0 ? LayerState::Kind::kSliding : LayerState::Kind::kFull;
  state.heads = attention.kv_heads;
  state.key_dim = attention.head_dim;
  state.value_dim = attention.head_dim;
  state.window = window;
  return state;
}

}  // namespace foretell
