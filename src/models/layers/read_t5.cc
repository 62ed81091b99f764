#include "models/layers/read_t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "models/layers/check_fields.h"
#include "models/layers/dropout.h"

namespace foretell {
namespace {

// "relu", "gated-gelu": how the class reads the form of its feed-forward as it
// loads. The two attributes that it makes of it win where a file has them.
void ReadFeedForward(const ConfigView& config, const T5Dialect& dialect,
                     T5LayerConfig& out) {
  const std::string form =
      config.Text({"feed_forward_proj"}, dialect.feed_forward);
  const size_t dash = form.find('-');
  const std::string first = form.substr(0, dash);
  std::string name = form.substr(form.rfind('-') + 1);
  const bool two_parts = dash != std::string::npos;
  if ((two_parts && first != "gated") || std::ranges::count(form, '-') > 1) {
    config.Find("model/feed-forward", Severity::kBlock, "feed_forward_proj",
                fmt::format("feed_forward_proj is \"{}\"", form.substr(0, 40)),
                "T5Config refuses what is neither ACTIVATION nor "
                "gated-ACTIVATION",
                "\"feed_forward_proj\": \"gated-gelu\"");
  }
  if (form == "gated-gelu") name = "gelu_new";
  out.gated = first == "gated";
  if (config.Raw("is_gated_act")) {
    out.gated = config.Flag({"is_gated_act"}, out.gated);
  }
  std::string_view key = "feed_forward_proj";
  if (config.Raw("dense_act_fn")) {
    key = "dense_act_fn";
    name = config.Text({key}, name);
  }
  config.Derive("is_gated_act", ConfigValue::Bool(out.gated));
  config.Derive("dense_act_fn", ConfigValue::String(name));
  out.activation = ActivationNamed(config, key, name);
}

T5LayerConfig ReadLayer(const ConfigView& config, const T5Dialect& dialect) {
  T5LayerConfig out;
  out.width = SizeOrEmpty(config, {"hidden_size", "d_model"}, 512);
  out.heads =
      SizeOrEmpty(config, {"num_attention_heads", "num_heads"}, dialect.heads);
  out.head_dim = SizeOrEmpty(config, {"head_dim", "d_kv"}, 64);
  out.inner = SizeOrEmpty(config, {"d_ff"}, dialect.inner);
  out.buckets = SizeOrEmpty(config, {"relative_attention_num_buckets"}, 32);
  out.max_distance =
      SizeOrEmpty(config, {"relative_attention_max_distance"}, 128);
  out.dropout = ReadDropout(config, "dropout_rate", 0.1);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-6);
  ReadFeedForward(config, dialect, out);
  out.bias_everywhere = dialect.bias_everywhere;
  return out;
}

// The decoder is as deep as the encoder is said to be by the class's own name,
// which is read before an alias of it is.
void ReadDepth(const ConfigView& config, int64_t otherwise, T5Config& out) {
  out.encoder_layers =
      config.Layers({"num_hidden_layers", "num_layers"}, otherwise);
  const ConfigValue* stated = config.Raw("num_decoder_layers");
  // Null is filled in as the class loads, and refused afterwards.
  const bool is_null = stated != nullptr && stated->is_null();
  if (stated != nullptr && (!is_null || config.config().is_loaded)) {
    out.decoder_layers = config.Layers({"num_decoder_layers"}, otherwise);
  } else if (config.Has("num_layers")) {
    out.decoder_layers = config.Layers({"num_layers"}, otherwise);
  } else {
    out.decoder_layers = otherwise;
  }
  config.Derive("num_decoder_layers",
                ConfigValue::Number(std::to_string(out.decoder_layers)));
}

// The class ties always; what the file says decides whether the decoder's
// output is scaled, as it does where the two go together in older files.
void ReadTies(const ConfigView& config, T5Dialect::Scale scale, T5Config& out) {
  const ConfigValue* stated = config.Raw("tie_word_embeddings");
  const bool untied = stated != nullptr && stated->AsBool() == false;
  out.tie_embeddings = !(untied && config.config().is_loaded);
  config.Derive("tie_word_embeddings", ConfigValue::Bool(true));
  if (scale != T5Dialect::Scale::kWithTie) {
    const bool heeds = scale == T5Dialect::Scale::kWhileTied;
    out.scale_outputs = heeds && out.tie_embeddings;
    config.Ignore({"scale_decoder_outputs"});
    return;
  }
  out.scale_outputs = !untied;
  if (config.Raw("scale_decoder_outputs")) {
    out.scale_outputs = config.Flag({"scale_decoder_outputs"}, true);
  }
  config.Derive("scale_decoder_outputs", ConfigValue::Bool(out.scale_outputs));
}

}  // namespace

T5Config ReadT5(const ConfigView& config, const T5Needs& needs,
                const T5Dialect& dialect) {
  T5Config out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_factor", FieldKind::kFloat},
                       {"is_encoder_decoder", FieldKind::kFlag},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, dialect.vocabulary);
  out.layer = ReadLayer(config, dialect);
  ReadDepth(config, dialect.layers, out);
  ReadTies(config, dialect.scale, out);
  out.is_decoder = config.Flag({"is_decoder"}, false);
  if (needs.classifier_dropout) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0);
  }
  out.labels = ReadLabels(config, needs.labels);
  const ConfigValue* padding = config.Raw("pad_token_id");
  out.padding = padding ? config.OptionalInteger({"pad_token_id"}) : 0;
  out.start = config.Raw("decoder_start_token_id") == nullptr
                  ? dialect.start
                  : config.OptionalInteger({"decoder_start_token_id"});
  // Positions are relative and have no table; the rest is what older versions
  // and other runs wrote.
  config.Ignore(
      {"n_positions", "use_cache", "classifier_dropout", "pruned_heads"});
  return out;
}

}  // namespace foretell
