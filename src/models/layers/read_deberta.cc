#include "models/layers/read_deberta.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/check_fields.h"

namespace foretell {
namespace {

// A whole number of either sign; a null is refused.
int64_t ReadWhole(const ConfigView& config, std::string_view key,
                  int64_t otherwise) {
  const ConfigValue* value = config.Raw(key);
  if (value == nullptr) return otherwise;
  const auto whole = value->AsInteger();
  if (whole && *whole <= kLargestSize && *whole >= -kLargestSize) return *whole;
  config.Problem(key, fmt::format("is {}, not a size", value->KindName()),
                 fmt::format("write {} or remove the key", otherwise));
  return otherwise;
}

// Parts of "a | b", without blanks, in lower case.
std::vector<std::string> PartsOf(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '|') {
      parts.emplace_back();
    } else {
      parts.back() +=
          c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  for (std::string& part : parts) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
  }
  return parts;
}

// Which sides meet distances. The class divides a string as it loads; one that
// is set afterwards stays whole, and is then looked through for a part.
void ReadSides(const ConfigView& config, DebertaLayerConfig& out) {
  constexpr std::string_view kKey = "pos_att_type";
  const ConfigValue* value = config.Raw(kKey);
  if (value == nullptr || value->is_null()) return;
  const auto text = value->AsString();
  if (text && config.config().is_loaded) {
    out.content_first = text->find("c2p") != std::string_view::npos;
    out.position_first = text->find("p2c") != std::string_view::npos;
    return;
  }
  const std::vector<std::string> sides =
      text ? PartsOf(*text)
           : config.TextList({kKey}).value_or(std::vector<std::string>());
  const auto has = [&](std::string_view side) {
    return std::ranges::find(sides, side) != sides.end();
  };
  out.content_first = has("c2p");
  out.position_first = has("p2c");
  if (!text) return;
  std::vector<ConfigValue> items;
  for (const std::string& side : sides) {
    items.push_back(ConfigValue::String(side));
  }
  config.Derive(kKey, ConfigValue::Array(std::move(items)));
}

void ReadDistances(const ConfigView& config, int64_t positions,
                   DebertaLayerConfig& out) {
  ReadSides(config, out);
  out.relative = config.Flag({"relative_attention"}, false);
  const int64_t most = ReadWhole(config, "max_relative_positions", -1);
  out.max_distance = most < 1 ? positions : most;
  if (out.relative) out.buckets = ReadWhole(config, "position_buckets", -1);
  config.Ignore({"position_buckets"});
  out.buckets = std::max<int64_t>(0, out.buckets);
  // Null means no, as for Python.
  const ConfigValue* shares = config.Raw("share_att_key");
  out.shares_keys = shares != nullptr && !shares->is_null() &&
                    config.Flag({"share_att_key"}, false);
}

void ReadHeads(const ConfigView& config, int64_t layers, BertLayerConfig& out) {
  if (layers == 0) {
    out.heads = SizeOrEmpty(config, {"num_attention_heads"}, 24);
    config.Ignore({"attention_head_size"});
    return;
  }
  out.heads = config.Size({"num_attention_heads"}, 24);
  const int64_t even = out.hidden / out.heads;
  out.head_dim = config.Raw("attention_head_size") == nullptr
                     ? even
                     : SizeOrEmpty(config, {"attention_head_size"}, even);
  if (out.hidden % out.heads != 0) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            out.hidden, out.heads),
                "DisentangledSelfAttention refuses it as the model is built",
                "choose a number of heads that divides hidden_size");
  } else if (out.head_dim != even) {
    config.Find("model/heads", Severity::kWarn, "attention_head_size",
                fmt::format("{} heads of {} do not fill hidden_size {}",
                            out.heads, out.head_dim, out.hidden),
                "the model is built, but its forward fails on the shapes",
                "remove attention_head_size");
  }
}

// An activation that is looked up only as it runs.
std::optional<Activation> ReadLateActivation(const ConfigView& config,
                                             std::string_view key,
                                             std::string_view otherwise) {
  const auto activation = ParseActivation(config.Text({key}, otherwise));
  if (activation) return activation;
  config.Find("model/activation", Severity::kWarn, key,
              fmt::format("{} names no activation", config.PathOf(key)),
              "the model is built, but its forward fails",
              fmt::format("\"{}\": \"{}\"", key, otherwise));
  return std::nullopt;
}

void ReadConvolution(const ConfigView& config, int64_t width,
                     DebertaConvolutionConfig& out) {
  out.window = std::max<int64_t>(0, ReadWhole(config, "conv_kernel_size", 0));
  if (out.window == 0) {
    config.Ignore({"conv_groups", "conv_act"});
    return;
  }
  if (config.Raw("conv_groups")) {
    out.groups = config.Size({"conv_groups"}, 1);
  }
  if (width % out.groups != 0) {
    config.Find("model/convolution", Severity::kBlock, "conv_groups",
                fmt::format("hidden_size {} is not a multiple of conv_groups "
                            "{}",
                            width, out.groups),
                "torch.nn.Conv1d refuses it as the model is built",
                "\"conv_groups\": 1");
    out.groups = 1;
  }
  out.activation = config.Raw("conv_act")
                       ? ReadLateActivation(config, "conv_act", "tanh")
                       : Activation::kTanh;
}

bool NormsDistances(const ConfigView& config) {
  constexpr std::string_view kKey = "norm_rel_ebd";
  if (config.Raw(kKey) == nullptr) return false;
  const auto parts = PartsOf(config.Text({kKey}, "none"));
  return std::ranges::find(parts, "layer_norm") != parts.end();
}

void CheckOtherFields(const ConfigView& config) {
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_eps", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"max_relative_positions", FieldKind::kWhole},
                       {"type_vocab_size", FieldKind::kWhole},
                       {"pooler_dropout", FieldKind::kNumber},
                       {"pooler_hidden_act", FieldKind::kText},
                       {"legacy", FieldKind::kFlag},
                       {"pad_token_id", FieldKind::kWhole, true}});
  const ConfigValue* sides = config.Raw("pos_att_type");
  if (sides == nullptr || sides->is_null() || sides->is_string()) return;
  if (!sides->is_array()) {
    config.Problem("pos_att_type", "is no string and no list of strings",
                   "write [\"p2c\", \"c2p\"]");
  }
}

DebertaStackConfig ReadStack(const ConfigView& config, bool needs_activation) {
  DebertaStackConfig out;
  BertLayerConfig& layer = out.attention.layer;
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 128100);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 512);
  out.types = std::max<int64_t>(0, ReadWhole(config, "type_vocab_size", 0));
  out.layers = config.Layers({"num_hidden_layers"}, 24);
  layer.hidden = config.Size({"hidden_size"}, 1536);
  layer.intermediate = SizeOrEmpty(config, {"intermediate_size"}, 6144);
  ReadHeads(config, out.layers, layer);
  const std::string activation = config.Text({"hidden_act"}, "gelu");
  if (out.layers > 0 || needs_activation) {
    layer.activation = ActivationNamed(config, "hidden_act", activation);
  }
  layer.norm_epsilon = config.Real({"layer_norm_eps"}, 1e-7);
  layer.hidden_dropout = ReadDropout(config, "hidden_dropout_prob", 0.1);
  layer.attention_dropout =
      ReadDropout(config, "attention_probs_dropout_prob", 0.1);
  ReadDistances(config, out.positions, out.attention);
  out.adds_positions = config.Flag({"position_biased_input"}, true);
  out.embedding_width =
      config.Raw("embedding_size") == nullptr
          ? layer.hidden
          : SizeOrEmpty(config, {"embedding_size"}, layer.hidden);
  out.norms_distances = NormsDistances(config);
  ReadConvolution(config, layer.hidden, out.convolution);
  return out;
}

}  // namespace

DebertaConfig ReadDeberta(const ConfigView& config, const DebertaNeeds& needs) {
  DebertaConfig out;
  CheckOtherFields(config);
  out.stack = ReadStack(config, needs.vocabulary_head);
  out.padding = ReadPadding(config, 0, {{"vocab_size", out.stack.vocabulary}});
  out.legacy = config.Flag({"legacy"}, true);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  const int64_t hidden = out.stack.layer().hidden;
  out.classifier_dropout = out.stack.layer().hidden_dropout;
  const ConfigValue* width = config.Raw("pooler_hidden_size");
  if (width == nullptr) {
    config.Derive("pooler_hidden_size",
                  ConfigValue::Number(std::to_string(hidden)));
  }
  if (needs.pooler) {
    out.pooler_width =
        width ? SizeOrEmpty(config, {"pooler_hidden_size"}, hidden) : hidden;
    out.pooler_dropout = ReadDropout(config, "pooler_dropout", 0);
    out.pooler_activation =
        ReadLateActivation(config, "pooler_hidden_act", "gelu");
    if (config.Has("cls_dropout")) {
      out.classifier_dropout = ReadDropout(config, "cls_dropout", 0.1);
    }
  }
  config.Ignore({"cls_dropout"});
  out.labels = ReadLabels(config, needs.labels);
  return out;
}

}  // namespace foretell
