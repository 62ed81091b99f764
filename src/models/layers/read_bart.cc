#include "models/layers/read_bart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "models/layers/check_fields.h"
#include "models/layers/dropout.h"

namespace foretell {
namespace {

using Keys = std::initializer_list<std::string_view>;

// A key and the alias that is set after it, or none.
struct AliasedKey {
  std::string_view name;
  std::string_view alias;
};

// The class takes a null of its own name where an alias is set later.
template <class Read>
int64_t ReadAliased(const ConfigView& config, const AliasedKey& key,
                    const Read& read) {
  if (key.alias.empty()) return read(Keys{key.name});
  const ConfigValue* own = config.Raw(key.name);
  const bool is_null = own != nullptr && own->is_null();
  if (is_null && config.Has(key.alias)) return read(Keys{key.alias});
  return read(Keys{key.alias, key.name});
}

void CheckHeads(const ConfigView& config, std::string_view key,
                const BartStackConfig& stack) {
  const BartLayerConfig& layer = stack.layer;
  if (stack.layers == 0 || layer.width % layer.heads == 0) return;
  config.Find("model/heads", Severity::kBlock, key,
              fmt::format("d_model {} is not a multiple of {} {}", layer.width,
                          key, layer.heads),
              "BartAttention refuses it as the model is built",
              "choose a number of heads that divides d_model");
}

// A chance that the forward alone reads: null is no number there.
double ReadChance(const ConfigView& config, std::string_view key,
                  double otherwise, bool takes_null) {
  const ConfigValue* value = config.Raw(key);
  if (value == nullptr || !value->is_null() || !takes_null) {
    return config.Real({key}, otherwise);
  }
  config.Find("model/dropout", Severity::kWarn, key,
              fmt::format("{} is null", config.PathOf(key)),
              "the model is built, but its forward fails",
              fmt::format("\"{}\": {}", key, otherwise));
  return 0;
}

// The dropouts are functions, which look at their probability as they run.
double ReadLateDropout(const ConfigView& config, std::string_view key,
                       double otherwise, bool takes_null) {
  const double probability = ReadChance(config, key, otherwise, takes_null);
  if (probability >= 0 && probability <= 1) return probability;
  config.Find("model/dropout", Severity::kWarn, key,
              fmt::format("{} is {}, which is no probability",
                          config.PathOf(key), probability),
              "the model is built, but its forward fails",
              fmt::format("\"{}\": {}", key, otherwise));
  return otherwise;
}

// What both stacks share.
BartStackConfig ReadShared(const ConfigView& config,
                           const BartDialect& dialect) {
  BartStackConfig out;
  out.form = dialect.form;
  out.layer.norm_first = dialect.norm_first;
  out.layer.clamps_half = dialect.clamps_half;
  const bool nulls = dialect.takes_null;
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, dialect.vocabulary);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 1024);
  out.layer.width =
      ReadAliased(config, {"d_model", "hidden_size"},
                  [&](Keys keys) { return config.Size(keys, 1024); });
  out.layer.dropout = ReadLateDropout(config, "dropout", 0.1, nulls);
  out.layer.attention_dropout = ReadLateDropout(
      config, "attention_dropout", dialect.attention_dropout, nulls);
  out.layer.activation_dropout =
      ReadLateDropout(config, "activation_dropout", 0, nulls);
  const ConfigValue* scales = config.Raw("scale_embedding");
  const bool is_null = scales != nullptr && scales->is_null() && nulls;
  if (!is_null && config.Flag({"scale_embedding"}, dialect.scales)) {
    out.embedding_scale = std::sqrt(static_cast<double>(out.layer.width));
  }
  return out;
}

struct StackKeys {
  AliasedKey layers;
  AliasedKey heads;
  std::string_view inner;
  std::string_view layer_drop;
};

void ReadStack(const ConfigView& config, const StackKeys& keys,
               const BartDialect& dialect, BartStackConfig& out) {
  out.layers = ReadAliased(config, keys.layers, [&](Keys names) {
    return config.Layers(names, 12);
  });
  out.layer.inner = SizeOrEmpty(config, {keys.inner}, 4096);
  out.layer_drop = ReadChance(config, keys.layer_drop, dialect.layer_drop,
                              dialect.takes_null);
  out.layer.heads = ReadAliased(config, keys.heads, [&](Keys names) {
    // Nothing divides by the heads where there is no layer.
    return out.layers == 0 ? SizeOrEmpty(config, names, 16)
                           : config.Size(names, 16);
  });
  if (out.layers == 0) return;
  out.layer.head_dim = std::max<int64_t>(1, out.layer.width / out.layer.heads);
}

Activation ReadActivation(const ConfigView& config,
                          std::string_view otherwise) {
  constexpr std::string_view kKey = "activation_function";
  const std::string name = config.Text({kKey}, otherwise);
  return ActivationNamed(config, kKey, name);
}

void CheckOtherFields(const ConfigView& config, bool nulls) {
  CheckCommonFields(config);
  const FieldKind drop = nulls ? FieldKind::kFloat : FieldKind::kNumber;
  CheckFields(config, {{"encoder_layerdrop", drop, nulls},
                       {"decoder_layerdrop", drop, nulls},
                       {"dropout", FieldKind::kNumber, nulls},
                       {"attention_dropout", FieldKind::kNumber, nulls},
                       {"activation_dropout", FieldKind::kNumber, nulls},
                       {"classifier_dropout", FieldKind::kNumber, nulls},
                       {"init_std", FieldKind::kFloat, nulls},
                       {"pad_token_id", FieldKind::kWhole, true},
                       {"decoder_start_token_id", FieldKind::kWhole, true},
                       {"forced_eos_token_id", FieldKind::kWholes, true},
                       {"scale_embedding", FieldKind::kFlag, nulls},
                       {"is_encoder_decoder", FieldKind::kFlag, nulls},
                       {"is_decoder", FieldKind::kFlag, nulls}});
  // Switches of the first BART's code, and names that it had.
  config.Ignore({"add_bias_logits", "add_final_layer_norm", "classif_dropout",
                 "extra_pos_embeddings", "force_bos_token_to_be_generated",
                 "normalize_before", "normalize_embedding", "output_past",
                 "static_position_embeddings", "_num_labels",
                 "do_blenderbot_90_layernorm"});
}

// A vocabulary of the decoder's own; zero and null are the encoder's.
void ReadPair(const ConfigView& config, const BartDialect& dialect,
              BartConfig& out) {
  if (!dialect.has_pairs) return;
  out.shares_embeddings =
      config.Flag({"share_encoder_decoder_embeddings"}, true);
  const int64_t own = config.Has("decoder_vocab_size")
                          ? config.SizeOrZero({"decoder_vocab_size"}, 0)
                          : 0;
  const int64_t words = own > 0 ? own : out.decoder.vocabulary;
  config.Derive("decoder_vocab_size",
                ConfigValue::Number(std::to_string(words)));
  config.Ignore({"decoder_vocab_size"});
  out.decoder.vocabulary = words;
}

}  // namespace

BartConfig ReadBart(const ConfigView& config, const BartNeeds& needs,
                    const BartDialect& dialect) {
  BartConfig out;
  CheckOtherFields(config, dialect.takes_null);
  out.decoder = ReadShared(config, dialect);
  out.encoder = out.decoder;
  ReadStack(config,
            {.layers = {"decoder_layers", ""},
             .heads = {"decoder_attention_heads", ""},
             .inner = "decoder_ffn_dim",
             .layer_drop = "decoder_layerdrop"},
            dialect, out.decoder);
  CheckHeads(config, "decoder_attention_heads", out.decoder);
  if (needs.encoder) {
    ReadStack(config,
              {.layers = {"encoder_layers", "num_hidden_layers"},
               .heads = {"encoder_attention_heads", "num_attention_heads"},
               .inner = "encoder_ffn_dim",
               .layer_drop = "encoder_layerdrop"},
              dialect, out.encoder);
    CheckHeads(config, "encoder_attention_heads", out.encoder);
  } else {
    CheckFields(config, {{"num_hidden_layers", FieldKind::kWhole, true},
                         {"encoder_layers", FieldKind::kWhole, true},
                         {"num_attention_heads", FieldKind::kWhole, true},
                         {"encoder_attention_heads", FieldKind::kWhole, true},
                         {"encoder_ffn_dim", FieldKind::kWhole, true}});
  }
  if (out.decoder.layers > 0 || out.encoder.layers > 0) {
    out.decoder.layer.activation = ReadActivation(config, dialect.activation);
    out.encoder.layer.activation = out.decoder.layer.activation;
  }
  config.Ignore({"activation_function"});
  const int64_t words = out.decoder.vocabulary;
  ReadPair(config, dialect, out);
  out.padding = ReadPadding(
      config, dialect.padding,
      {{"vocab_size", words}, {"vocab_size", out.decoder.vocabulary}});
  out.encoder.padding = out.padding;
  out.decoder.padding = out.padding;
  out.start = config.Raw("decoder_start_token_id") == nullptr
                  ? dialect.start
                  : config.OptionalInteger({"decoder_start_token_id"});
  if (needs.sequence_head) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0);
  }
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.labels = ReadLabels(config, needs.sequence_head, dialect.labels);
  return out;
}

}  // namespace foretell
