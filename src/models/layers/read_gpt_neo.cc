#include "models/layers/read_gpt_neo.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/check_fields.h"
#include "models/layers/dropout.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// The kinds of layers that `attention_types` spells out: [[["global",
// "local"], 12]] is the two, twelve times. Nothing where it is none such.
std::optional<std::vector<std::string>> ExpandTypes(const ConfigValue& types) {
  std::vector<std::string> out;
  if (!types.is_array()) return std::nullopt;
  for (const ConfigValue& entry : types.items()) {
    if (!entry.is_array() || entry.items().size() < 2) return std::nullopt;
    const ConfigValue& names = entry.items()[0];
    const auto times = entry.items()[1].AsInteger();
    if (!names.is_array() || !times) return std::nullopt;
    for (int64_t i = 0; i < *times; ++i) {
      for (const ConfigValue& name : names.items()) {
        if (!name.is_string()) return std::nullopt;
        out.emplace_back(*name.AsString());
      }
      const auto most = static_cast<size_t>(kLargestLayerCount);
      if (names.items().empty() || out.size() > most) break;
    }
  }
  return out;
}

std::vector<std::string> ReadTypes(const ConfigView& config) {
  // No field of the class, but set behind what it works out.
  const auto stated = config.TextList({"attention_layers"});
  const ConfigValue* types = config.Raw("attention_types");
  std::vector<std::string> out;
  if (types == nullptr || types->is_null()) {
    for (int i = 0; i < 12; ++i) out.insert(out.end(), {"global", "local"});
  } else if (auto expanded = ExpandTypes(*types)) {
    out = *std::move(expanded);
  } else {
    config.Problem("attention_types", "is no list of kinds and times",
                   "write [[[\"global\", \"local\"], 12]]");
  }
  if (stated) return *stated;
  std::vector<ConfigValue> items;
  for (const std::string& type : out) {
    items.push_back(ConfigValue::String(type));
  }
  config.Derive("attention_layers", ConfigValue::Array(std::move(items)));
  return out;
}

// One kind for each layer; of what is loaded already there may be more.
void CheckTypes(const ConfigView& config, int64_t layers) {
  const std::vector<std::string> types = ReadTypes(config);
  const auto count = static_cast<size_t>(layers);
  const bool may_be_more =
      config.config().is_loaded || config.log().most_layers == layers;
  if (types.size() < count || (types.size() > count && !may_be_more)) {
    config.Find("model/layer-types", Severity::kBlock, "attention_types",
                fmt::format("attention_types gives {} layers, and num_layers "
                            "is {}",
                            types.size(), layers),
                "the class refuses the configuration",
                fmt::format("give {} kinds of layers", layers));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (types[i] == "global" || types[i] == "local") continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "attention_types",
        fmt::format("\"{}\" names no kind of layer", types[i].substr(0, 40)),
        "the class refuses it as the model is built", "write global or local");
    return;
  }
}

}  // namespace

GptNeoConfig ReadGptNeo(const ConfigView& config, std::string_view class_name) {
  GptNeoConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat},
                       {"window_size", FieldKind::kWhole},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  const int64_t hidden = config.Size({"hidden_size"}, 2048);
  out.layers = config.Layers({"num_hidden_layers", "num_layers"}, 24);
  CheckTypes(config, out.layers);
  out.heads = CheckWholeHeads(
      config, hidden, config.Size({"num_attention_heads", "num_heads"}, 16),
      out.layers, "num_heads");
  out.inner = config.Has("intermediate_size")
                  ? config.SizeOrZero({"intermediate_size"}, 0)
                  : 4 * hidden;
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50257);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 2048);
  const std::string activation =
      config.Text({"activation_function"}, "gelu_new");
  if (out.layers > 0) {
    out.activation = ActivationNamed(config, "activation_function", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.attention_dropout = ReadDropout(config, "attention_dropout", 0);
  out.residual_dropout = ReadDropout(config, "resid_dropout", 0);
  out.embedding_dropout = ReadDropout(config, "embed_dropout", 0);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  out.head = ReadHead(config, class_name, hidden, out.vocabulary,
                      config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.tokens_in_float = false;
  if (out.head.kind == Head::kTokenClassification) {
    out.head.token_dropout = ReadDropout(config, "classifier_dropout", 0.1);
  }
  out.fills_cache = config.Flag({"use_cache"}, true) &&
                    out.head.kind == Head::kQuestionAnswering;
  // Of GPT-2's configuration, which older files copied.
  config.Ignore({"summary_activation", "summary_first_dropout",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj",
                 "gradient_checkpointing"});
  return out;
}

}  // namespace foretell
