#include "models/layers/read_falcon.h"

#include <optional>

#include "models/layers/check_fields.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// A null, which the fields take, is none.
bool FlagOrNone(const ConfigView& config, std::string_view key,
                bool otherwise) {
  const ConfigValue* value = config.Raw(key);
  return value != nullptr && value->is_null() ? false
                                              : config.Flag({key}, otherwise);
}

double DropoutOrNone(const ConfigView& config, std::string_view key) {
  const ConfigValue* value = config.Raw(key);
  return value != nullptr && value->is_null() ? 0 : ReadDropout(config, key, 0);
}

// Norms that the layer's forward asks for and that its constructor, under
// other conditions, did not make.
std::string WhyForwardFails(const FalconConfig& layer) {
  if (layer.is_new && !layer.is_parallel) {
    return "a layer of the new form that is not parallel has no norm for its "
           "feed-forward";
  }
  if (layer.is_new && layer.norms != 1 && layer.norms != 2) {
    return "the new form has one norm or two";
  }
  if (!layer.is_new && layer.has_two_norms()) {
    return "a layer of the old form looks for one norm and has two";
  }
  return "";
}

void ReadLayer(const ConfigView& config, int64_t layers, FalconConfig& out) {
  // An older name of the width, which comes first where it is no null.
  const bool is_old = config.Has("n_embed") && !config.config().is_loaded;
  const int64_t hidden = is_old ? config.Size({"n_embed"}, 4544)
                                : config.Size({"hidden_size"}, 4544);
  config.Ignore({"n_embed", "hidden_size"});
  if (is_old) {
    config.Derive("hidden_size", ConfigValue::Number(std::to_string(hidden)));
  }
  out.heads =
      CheckWholeHeads(config, hidden, config.Size({"num_attention_heads"}, 71),
                      layers, "num_attention_heads");
  out.kv_heads = SizeOrDerived(config, "num_kv_heads", out.heads.heads);
  out.is_new = FlagOrNone(config, "new_decoder_architecture", false);
  out.shares_keys = FlagOrNone(config, "multi_query", true);
  out.is_parallel = FlagOrNone(config, "parallel_attn", true);
  out.has_alibi = FlagOrNone(config, "alibi", false);
  out.bias = FlagOrNone(config, "bias", false);
  out.norms = config.OptionalInteger({"num_ln_in_parallel_attn"});
  if (!out.norms && out.is_new) out.norms = 2;
  out.inner = SizeOrDerived(config, "ffn_hidden_size", 4 * hidden);
  const auto activation = config.Raw("activation") == nullptr
                              ? std::optional<std::string>("gelu")
                              : config.OptionalText({"activation"});
  if (layers > 0 && !activation) {
    config.Find("model/activation", Severity::kBlock, "activation",
                "activation is null", "the class looks it up as it is built",
                "\"activation\": \"gelu\"");
  } else if (layers > 0) {
    out.activation = ActivationNamed(config, "activation", *activation);
  }
  out.norm_epsilon = config.Has("layer_norm_epsilon") ||
                             config.Raw("layer_norm_epsilon") == nullptr
                         ? config.Real({"layer_norm_epsilon"}, 1e-5)
                         : 1e-5;
  out.hidden_dropout = DropoutOrNone(config, "hidden_dropout");
  out.attention_dropout = DropoutOrNone(config, "attention_dropout");
}

}  // namespace

FalconModelConfig ReadFalcon(const ConfigView& config,
                             std::string_view class_name) {
  FalconModelConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat, true},
                       {"hidden_size", FieldKind::kWhole},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.layers = config.Layers({"num_hidden_layers"}, 32);
  ReadLayer(config, out.layers, out.layer);
  out.failure = WhyForwardFails(out.layer);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 65024);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  const int64_t positions = config.Size({"max_position_embeddings"}, 2048);
  out.rope = ReadRope(
      config, {.positions = positions, .head_dim = out.layer.heads.head_dim});
  out.head = ReadHead(config, class_name, out.layer.heads.hidden,
                      out.vocabulary, config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.tokens_in_float = false;
  if (!config.Has("classifier_dropout") &&
      config.Raw("hidden_dropout") == nullptr) {
    out.head.token_dropout = 0;
  }
  out.fills_cache = config.Flag({"use_cache"}, true) &&
                    out.head.kind == Head::kQuestionAnswering;
  // Bloom's names and the first releases' own; the class reads none of them.
  config.Ignore({"apply_residual_connection_post_layernorm", "n_head",
                 "n_layer", "n_head_kv"});
  return out;
}

}  // namespace foretell
