// Qwen (the first): Llama's layer under other names, with one product and
// biases for queries, keys and values.
//
// transformers 5.23 has no such class. Source: "Qwen Technical Report" (arXiv
// 2309.16609), "Qwen-VL" (arXiv 2308.12966) for the tower, and the published
// configurations; the tower's total is that of Qwen-VL-Chat's header.
// Nothing here is recorded against PyTorch, so no figure of it is exact.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/tower_module.h"

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

// Qwen-VL's: OpenCLIP's layers and a resampler of learned queries.
void AddQwenTower(const ConfigView& config, const TowerModule& tower) {
  const int64_t width = config.Size({"width"}, 1664);
  const int64_t layers = config.Layers({"layers"}, 48);
  const int64_t out = config.Size({"output_dim"}, 4096);
  const int64_t queries = config.Size({"n_queries"}, 256);
  const double ratio = config.Real({"mlp_ratio"}, 4);
  const Sides patch = ReadSides(config, "patch_size", 14);
  config.Ignore({"heads", "image_start_id", "image_size"});
  constexpr double kMostRatio = 1024;
  if (!(ratio > 0) || ratio > kMostRatio) {
    config.Problem("mlp_ratio", "is no ratio between 0 and 1024",
                   "the published model states 4.9231");
    return;
  }
  const auto wide = static_cast<int64_t>(static_cast<double>(width) * ratio);
  constexpr int64_t kColors = 3;
  // Turned to the image's own grid as it is read.
  constexpr int64_t kPlaces = 256;
  tower.Parameter("positional_embedding", {kPlaces, width});
  tower.Parameter("proj", {out, out});
  tower.Convolution("conv1", {width, kColors, patch.first, patch.second},
                    false);
  tower.LayerNorm("ln_pre", width);
  const TowerModule blocks = tower.Child("transformer.resblocks");
  for (int64_t index = 0; index < layers; ++index) {
    const TowerModule block = blocks.Child(index);
    block.LayerNorm("ln_1", width);
    block.LayerNorm("ln_2", width);
    const TowerModule attention = block.Child("attn", RegionKind::kAttention);
    attention.Linear("in_proj", width, 3 * width, true);
    attention.Linear("out_proj", width, width, true);
    const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
    mlp.Linear("c_fc", width, wide, true);
    mlp.Linear("c_proj", wide, width, true);
  }
  const TowerModule pool = tower.Child("attn_pool");
  pool.Parameter("pos_embed", {queries, out});
  pool.Parameter("query", {queries, out});
  pool.Linear("kv_proj", width, out, false);
  const TowerModule attention = pool.Child("attn", RegionKind::kAttention);
  attention.Parameter("in_proj_weight", {3 * out, out});
  attention.Parameter("in_proj_bias", {3 * out});
  attention.Linear("out_proj", out, out, true);
  pool.LayerNorm("ln_q", out);
  pool.LayerNorm("ln_kv", out);
  tower.LayerNorm("ln_post", out);
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

  const bool sees = config.Has("visual");
  if (sees) layer.fails = "the operations of Qwen-VL's tower are not modelled";
  using Layer = DescribedLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  if (sees) {
    const bool is_base = class_name == "QWenModel";
    AddQwenTower(config.Nested("visual"),
                 TowerModule(is_base ? root : root.Child("transformer"))
                     .Child("visual"));
  }
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
