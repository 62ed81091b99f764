// ChatGLM 2, 3 and GLM-4 in their published form: one product for queries, keys
// and values, another for gate and up, and half of each head turned in pairs.
//
// transformers 5.23 has no such class. Source: "ChatGLM: A Family of Large
// Language Models" (arXiv 2406.12793) and the published configurations.
// Nothing here is recorded against PyTorch, so no figure of it is exact.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/pair_rotary.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention;
  attention.hidden = config.Size({"hidden_size"}, 4096);
  attention.heads = config.Size({"num_attention_heads"}, 32);
  attention.head_dim = config.Size({"kv_channels"}, 128);
  const bool grouped = config.Flag({"multi_query_attention"}, false);
  const int64_t groups = config.Size({"multi_query_group_num"}, 1);
  attention.kv_heads = grouped ? groups : attention.heads;
  CheckKeyValueHeads(config, attention);
  attention.output_bias = config.Flag({"add_bias_linear"}, false);
  attention.qkv_bias =
      config.Flag({"add_qkv_bias"}, false) || attention.output_bias;
  attention.dropout = config.Real({"attention_dropout"}, 0);
  attention.turn = ApplyPartialPairRotary;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  DescribedConfig layer;
  layer.attention = ReadAttention(config);
  const AttentionConfig& attention = layer.attention;
  layer.names = {.attention = "self_attention",
                 .qkv = "query_key_value",
                 .output = "dense",
                 .gate = "",
                 .up = "dense_h_to_4h",
                 .down = "dense_4h_to_h"};
  layer.intermediate = config.Size({"ffn_hidden_size"}, 13696);
  layer.mlp_bias = attention.output_bias;
  layer.norm_epsilon = config.Real({"layernorm_epsilon"}, 1e-5);
  DecoderConfig decoder;
  decoder.hidden = attention.hidden;
  decoder.vocabulary = config.SizeOrZero({"padded_vocab_size"}, 65024);
  decoder.layers = config.Layers({"num_layers"}, 28);
  decoder.norm_epsilon = layer.norm_epsilon;
  const bool is_whole = class_name != "ChatGLMModel";
  decoder.base_name = is_whole ? "transformer" : "";
  decoder.embeddings_name = "embedding.word_embeddings";
  decoder.layers_name = "encoder.layers";
  decoder.norm_name = "encoder.final_layernorm";
  // The head is the inner model's in either class.
  decoder.head.kind = Head::kCausalLm;
  decoder.head.hidden = decoder.hidden;
  decoder.head.vocabulary = decoder.vocabulary;
  decoder.head.lm_name = is_whole ? "transformer.output_layer" : "output_layer";
  decoder.rope.theta = 10000 * config.Real({"rope_ratio"}, 1);
  decoder.rope.frequencies = attention.head_dim / 4;
  decoder.rope.positions = config.Size({"seq_length"}, 2048);
  for (const std::string_view tower : {"vision_config", "pre_seq_len"}) {
    if (!config.Has(tower)) continue;
    config.Problem(tower, "adds a part that the family does not have",
                   "describe the language model without it");
  }
  if (!config.Flag({"rmsnorm"}, true) ||
      !config.Flag({"post_layer_norm"}, true) ||
      config.Flag({"apply_residual_connection_post_layernorm"}, false)) {
    layer.fails = "norms of another kind or place are not modelled";
  }
  CheckCommonFields(config);
  // Repeats num_layers; and how numbers are kept while they are made.
  config.Ignore({"num_hidden_layers", "hidden_dropout", "bias_dropout_fusion",
                 "apply_query_key_layer_scaling", "attention_softmax_in_fp32",
                 "fp32_residual_connection", "original_rope",
                 "quantization_bit", "interleaved_qkv", "classifier_dropout",
                 "pad_token_id", "tie_word_embeddings", "prefix_projection"});

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

constexpr std::array<std::string_view, 1> kModelTypes = {"chatglm"};
constexpr std::array<std::string_view, 2> kClasses = {
    "ChatGLMForConditionalGeneration", "ChatGLMModel"};

}  // namespace

extern const Family kChatglmFamily = {
    .name = "chatglm",
    .title = "ChatGLM",
    .doc =
        "A decoder with fused products and half of each head turned; ChatGLM2, "
        "ChatGLM3 and GLM-4.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the GLM report (arXiv 2406.12793) and published files",
};

}  // namespace foretell
