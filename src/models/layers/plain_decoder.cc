#include "models/layers/plain_decoder.h"

#include <string>

#include "models/layers/check_fields.h"
#include "models/layers/linear.h"
#include "models/layers/read_decoder.h"

namespace foretell {

Tensor ParametersOnly::Forward(const ForwardInputs& inputs) {
  root_.builder().Fail(std::string(why_));
  return inputs.input_ids;
}

PlainDecoderConfig ReadPlainDecoder(const ConfigView& config,
                                    int64_t vocabulary) {
  PlainDecoderConfig out;
  out.vocabulary = config.Size({"vocab_size"}, vocabulary);
  out.layers = config.Layers({"num_hidden_layers"}, 32);
  AttentionConfig& attention = out.attention;
  attention.hidden = config.Size({"hidden_size"}, 4096);
  attention.heads = config.Size({"num_attention_heads"}, 32);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  CheckPadding(config, out.vocabulary);
  // They move numbers, or are of training and generation.
  config.Ignore({"rms_norm_eps", "layer_norm_epsilon", "hidden_act",
                 "rope_theta", "rope_scaling", "rope_parameters",
                 "attention_dropout", "initializer_range", "pretraining_tp",
                 "pad_token_id", "bos_token_id", "eos_token_id", "dropout"});
  return out;
}

std::unique_ptr<Model> MakePlainDecoder(const ConfigView& config,
                                        const Module& root,
                                        std::string_view class_name,
                                        const PlainDecoderConfig& decoder,
                                        const MakePlainLayer& make_layer) {
  auto model = std::make_unique<ParametersOnly>(root, decoder.why);
  const bool is_base = class_name.ends_with("Model");
  const Module base = is_base ? root : root.Child("model");
  const int64_t hidden = decoder.attention.hidden;
  const Embedding table(base.Child("embed_tokens", RegionKind::kEmbedding),
                        decoder.vocabulary, hidden);
  table.module.MarkInputEmbeddings();
  const TowerModule plain(base);
  const TowerModule list = plain.Child("layers");
  for (int64_t index = 0; index < decoder.layers; ++index) {
    make_layer(list.Child(index), index);
  }
  if (decoder.norm_bias) {
    plain.LayerNorm(decoder.norm_name, hidden);
  } else {
    plain.RmsNorm(decoder.norm_name, hidden);
  }
  if (!is_base) {
    const Linear head(
        root.Child("lm_head", RegionKind::kHead), hidden,
        decoder.head_rows > 0 ? decoder.head_rows : decoder.vocabulary, false);
    head.module.MarkOutputEmbeddings();
    if (decoder.ties && decoder.head_rows == 0) {
      root.builder().Tie(head.weight, table.weight);
    }
  }
  model->stacks.push_back({"decoder", decoder.layers});
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(decoder.attention, 0));
  model->context_length.tokens =
      config.OptionalSize({"max_position_embeddings"});
  model->context_length.where = "max_position_embeddings";
  return model;
}

void AddPlainAttention(const TowerModule& at, const AttentionConfig& attention,
                       int64_t in, bool bias) {
  const int64_t queries = attention.heads * attention.head_dim;
  const int64_t keys = attention.kv_heads * attention.head_dim;
  at.Linear("q_proj", in, queries, bias);
  at.Linear("k_proj", in, keys, bias);
  at.Linear("v_proj", in, keys, bias);
  at.Linear("o_proj", queries, attention.hidden, false);
}

void AddPlainMlp(const TowerModule& at, int64_t hidden, int64_t intermediate) {
  at.Linear("gate_proj", hidden, intermediate, false);
  at.Linear("up_proj", hidden, intermediate, false);
  at.Linear("down_proj", intermediate, hidden, false);
}

}  // namespace foretell
