// Qwen (the first): Llama's layer under other names, with one product and
// biases for queries, keys and values.
//
// transformers 5.23 has no such class. Source: "Qwen Technical Report" (arXiv
// 2309.16609) and the published configurations.
// Nothing here is recorded against PyTorch, so no figure of it is exact.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention;
  attention.hidden = config.Size({"hidden_size"}, 4096);
  attention.heads = config.Size({"num_attention_heads"}, 32);
  attention.kv_heads = attention.heads;
  attention.head_dim = config.Size({"kv_channels"}, 128);
  attention.dropout = config.Real({"attn_dropout_prob"}, 0);
  attention.qkv_bias = true;
  attention.output_bias = !config.Flag({"no_bias"}, true);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  DescribedConfig layer;
  layer.attention = ReadAttention(config);
  const AttentionConfig& attention = layer.attention;
  // The activation stands on what w2 gives.
  layer.names = {.attention = "attn",
                 .qkv = "c_attn",
                 .output = "c_proj",
                 .gate = "w2",
                 .up = "w1",
                 .down = "c_proj",
                 .input_norm = "ln_1",
                 .mlp_norm = "ln_2"};
  // The configuration counts gate and up as one.
  layer.intermediate = config.Size({"intermediate_size"}, 22016) / 2;
  layer.mlp_bias = attention.output_bias;
  layer.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-6);
  DecoderConfig decoder;
  decoder.hidden = attention.hidden;
  decoder.vocabulary = config.SizeOrZero({"vocab_size"}, 151936);
  decoder.layers = config.Layers({"num_hidden_layers"}, 32);
  decoder.norm_epsilon = layer.norm_epsilon;
  decoder.tie_embeddings = config.Flag({"tie_word_embeddings"}, false);
  decoder.base_name = "transformer";
  decoder.embeddings_name = "wte";
  decoder.layers_name = "h";
  decoder.norm_name = "ln_f";
  decoder.embedding_dropout_name = "drop";
  decoder.embedding_dropout = config.Real({"emb_dropout_prob"}, 0);
  decoder.head.kind = class_name == "QWenModel" ? Head::kNone : Head::kCausalLm;
  decoder.head.hidden = decoder.hidden;
  decoder.head.vocabulary = decoder.vocabulary;
  decoder.rope.theta = config.Real({"rotary_emb_base"}, 10000);
  decoder.rope.frequencies = (attention.head_dim + 1) / 2;
  decoder.rope.positions = config.Size({"seq_length"}, 2048);
  if (config.Has("visual")) {
    config.Problem("visual", "adds an image tower that the family has not",
                   "describe the language model without it");
  }
  if (config.Real({"rotary_pct"}, 1) != 1) {
    layer.fails = "a part of each head turned is not modelled";
  }
  CheckCommonFields(config);
  // Lengths past the trained one, kernels and number formats of other code.
  config.Ignore({"max_position_embeddings", "use_dynamic_ntk", "use_logn_attn",
                 "use_flash_attn", "bf16", "fp16", "fp32", "onnx_safe",
                 "scale_attn_weights", "softmax_in_fp32", "use_cache_kernel",
                 "use_cache_quantization", "tokenizer_type", "pos_emb",
                 "ffn_hidden_size", "padded_vocab_size", "params_dtype",
                 "no_tie_embeddings"});

  using Layer = DescribedLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length.tokens = decoder.rope.positions;
  model->context_length.where = "seq_length";
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen"};
constexpr std::array<std::string_view, 2> kClasses = {"QWenLMHeadModel",
                                                      "QWenModel"};

}  // namespace

extern const Family kQwenFamily = {
    .name = "qwen",
    .title = "Qwen",
    .doc =
        "Llama's decoder with one product for queries, keys and values; the "
        "first Qwen.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Qwen report (arXiv 2309.16609) and published files",
};

}  // namespace foretell
