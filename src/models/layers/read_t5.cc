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
void ReadFeedForward(const ConfigView& config, T5LayerConfig& out) {
  const std::string form = config.Text({"feed_forward_proj"}, "relu");
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

T5LayerConfig ReadLayer(const ConfigView& config) {
  T5LayerConfig out;
  out.width = SizeOrEmpty(config, {"hidden_size", "d_model"}, 512);
  out.heads = SizeOrEmpty(config, {"num_attention_heads", "num_heads"}, 8);
  out.head_dim = SizeOrEmpty(config, {"head_dim", "d_kv"}, 64);
  out.inner = SizeOrEmpty(config, {"d_ff"}, 2048);
  out.buckets = SizeOrEmpty(config, {"relative_attention_num_buckets"}, 32);
  out.max_distance =
      SizeOrEmpty(config, {"relative_attention_max_distance"}, 128);
  out.dropout = ReadDropout(config, "dropout_rate", 0.1);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-6);
  ReadFeedForward(config, out);
  return out;
}

// The decoder is as deep as the encoder is said to be by the class's own name,
// which is read before an alias of it is.
void ReadDepth(const ConfigView& config, T5Config& out) {
  out.encoder_layers = config.Layers({"num_hidden_layers", "num_layers"}, 6);
  const ConfigValue* stated = config.Raw("num_decoder_layers");
  // Null is filled in as the class loads, and refused afterwards.
  const bool is_null = stated != nullptr && stated->is_null();
  if (stated != nullptr && (!is_null || config.config().is_loaded)) {
    out.decoder_layers = config.Layers({"num_decoder_layers"}, 6);
  } else if (config.Has("num_layers")) {
    out.decoder_layers = config.Layers({"num_layers"}, 6);
  } else {
    out.decoder_layers = 6;
  }
  config.Derive("num_decoder_layers",
                ConfigValue::Number(std::to_string(out.decoder_layers)));
}

// The class ties always; what the file says decides whether the decoder's
// output is scaled, as it does where the two go together in older files.
void ReadTies(const ConfigView& config, T5Config& out) {
  const ConfigValue* stated = config.Raw("tie_word_embeddings");
  const bool untied = stated != nullptr && stated->AsBool() == false;
  out.scale_outputs = !untied;
  if (config.Raw("scale_decoder_outputs")) {
    out.scale_outputs = config.Flag({"scale_decoder_outputs"}, true);
  }
  out.tie_embeddings = !(untied && config.config().is_loaded);
  config.Derive("tie_word_embeddings", ConfigValue::Bool(true));
  config.Derive("scale_decoder_outputs", ConfigValue::Bool(out.scale_outputs));
}

}  // namespace

T5Config ReadT5(const ConfigView& config, const T5Needs& needs) {
  T5Config out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_factor", FieldKind::kFloat},
                       {"is_encoder_decoder", FieldKind::kFlag},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 32128);
  out.layer = ReadLayer(config);
  ReadDepth(config, out);
  ReadTies(config, out);
  out.is_decoder = config.Flag({"is_decoder"}, false);
  if (needs.classifier_dropout) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0);
  }
  out.labels = ReadLabels(config, needs.labels);
  const ConfigValue* padding = config.Raw("pad_token_id");
  out.padding = padding ? config.OptionalInteger({"pad_token_id"}) : 0;
  out.start = config.OptionalInteger({"decoder_start_token_id"});
  // Positions are relative and have no table; the rest is what older versions
  // and other runs wrote.
  config.Ignore(
      {"n_positions", "use_cache", "classifier_dropout", "pruned_heads"});
  return out;
}

}  // namespace foretell
