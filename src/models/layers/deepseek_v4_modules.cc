#include "models/layers/deepseek_v4_modules.h"

#include <string_view>

#include "models/layers/linear.h"
#include "models/layers/mlp.h"

namespace foretell {
namespace {

void RegisterNorm(const Module& at, std::string_view name, int64_t width) {
  at.Child(name, RegionKind::kNorm).Parameter("weight", {width});
}

void RegisterLinear(const Module& at, std::string_view name, int64_t in,
                    int64_t out) {
  const Linear linear(at.Child(name, RegionKind::kLinear), in, out, false);
}

void RegisterRotary(const Module& at, const V4Config& config) {
  for (const std::string_view name :
       {"main_inv_freq", "main_original_inv_freq", "compress_inv_freq",
        "compress_original_inv_freq"}) {
    at.Buffer(name, {config.frequencies}, DType::kFloat32, false);
  }
}

void RegisterCompressor(const Module& at, const V4Config& config,
                        bool is_sparse) {
  const int64_t width = (is_sparse ? 2 : 1) * config.head_dim;
  at.Parameter("position_bias",
               {is_sparse ? config.sparse_rate : config.heavy_rate, width});
  RegisterLinear(at, "kv_proj", config.hidden, width);
  RegisterLinear(at, "gate_proj", config.hidden, width);
  RegisterNorm(at, "kv_norm", config.head_dim);
  RegisterRotary(at.Child("rotary_emb"), config);
  if (!is_sparse) return;
  const Module indexer = at.Child("indexer");
  indexer.Parameter("position_bias",
                    {config.sparse_rate, 2 * config.index_dim});
  RegisterLinear(indexer, "kv_proj", config.hidden, 2 * config.index_dim);
  RegisterLinear(indexer, "gate_proj", config.hidden, 2 * config.index_dim);
  RegisterNorm(indexer, "kv_norm", config.index_dim);
  RegisterLinear(indexer, "q_b_proj", config.q_rank,
                 config.index_heads * config.index_dim);
  RegisterRotary(indexer.Child("rotary_emb"), config);
  RegisterLinear(indexer.Child("scorer"), "weights_proj", config.hidden,
                 config.index_heads);
}

void RegisterAttention(const Module& at, const V4Config& config,
                       V4Attention kind) {
  const int64_t width = config.heads * config.head_dim;
  at.Parameter("sinks", {config.heads});
  RegisterLinear(at, "q_a_proj", config.hidden, config.q_rank);
  RegisterNorm(at, "q_a_norm", config.q_rank);
  RegisterLinear(at, "q_b_proj", config.q_rank, width);
  RegisterLinear(at, "kv_proj", config.hidden, config.head_dim);
  RegisterNorm(at, "kv_norm", config.head_dim);
  RegisterLinear(at, "o_a_proj", width / config.output_groups,
                 config.output_groups * config.output_rank);
  RegisterLinear(at, "o_b_proj", config.output_groups * config.output_rank,
                 config.hidden);
  if (kind == V4Attention::kSliding) return;
  RegisterCompressor(at.Child("compressor"), config,
                     kind == V4Attention::kSparse);
}

void RegisterExperts(const Module& at, const V4Config& config, bool hashes,
                     int64_t vocabulary) {
  const ExpertsConfig& experts = config.experts;
  const Module gate = at.Child("gate", RegionKind::kRouter);
  gate.Parameter("weight", {experts.experts, experts.hidden});
  if (hashes) {
    gate.Buffer("tid2eid", {vocabulary, experts.per_token}, DType::kInt64,
                true);
  } else {
    gate.Buffer("e_score_correction_bias", {experts.experts},
                at.builder().dtype(), true);
  }
  const FusedExperts fused(at.Child("experts", RegionKind::kExperts), experts);
  const GatedMlp shared(at.Child("shared_experts", RegionKind::kMlp),
                        experts.hidden, experts.intermediate, config.mlp_bias,
                        experts.activation);
}

void RegisterStreams(const Module& at, const V4Config& config) {
  const int64_t mixes = (2 + config.streams) * config.streams;
  at.Parameter("fn", {mixes, config.streams * config.hidden});
  at.Parameter("base", {mixes});
  at.Parameter("scale", {3});
}

}  // namespace

V4Model::V4Model(const Module& root, const V4Config& config,
                 const DecoderConfig& keys)
    : root_(root) {
  const bool has_head = keys.head.kind == Head::kCausalLm;
  const Module base = has_head ? root.Child("model") : root;
  const Embedding embed(base.Child("embed_tokens", RegionKind::kEmbedding),
                        keys.vocabulary, config.hidden);
  embed.module.MarkInputEmbeddings();
  const Module layers = base.Child("layers");
  for (int64_t index = 0; index < keys.layers; ++index) {
    const auto at = static_cast<size_t>(index);
    const Module layer = layers.Child(index, RegionKind::kBlock);
    RegisterAttention(layer.Child("self_attn", RegionKind::kAttention), config,
                      config.attentions[at]);
    RegisterExperts(layer.Child("mlp", RegionKind::kMlp), config,
                    config.hashes[at], keys.vocabulary);
    RegisterNorm(layer, "input_layernorm", config.hidden);
    RegisterNorm(layer, "post_attention_layernorm", config.hidden);
    RegisterStreams(layer.Child("attn_hc"), config);
    RegisterStreams(layer.Child("ffn_hc"), config);
  }
  RegisterNorm(base, "norm", config.hidden);
  RegisterRotary(base.Child("rotary_emb"), config);
  const Module collapse = base.Child("hc_head");
  collapse.Parameter("hc_fn", {config.streams, config.streams * config.hidden});
  collapse.Parameter("hc_base", {config.streams});
  collapse.Parameter("hc_scale", {1});
  if (has_head) {
    const Linear head(root.Child("lm_head", RegionKind::kHead), config.hidden,
                      keys.vocabulary, false);
    head.module.MarkOutputEmbeddings();
    if (keys.tie_embeddings) {
      root.builder().Tie(head.weight, embed.weight);
    }
  }
  stacks.push_back({"decoder", keys.layers});
  LayerState state;
  state.kind = LayerState::Kind::kUnknown;
  states.assign(static_cast<size_t>(keys.layers), state);
}

Tensor V4Model::Forward(const ForwardInputs& inputs) {
  root_.builder().Fail(
      "DeepSeek-V4's compressed attention and residual streams are not "
      "modelled");
  return inputs.input_ids;
}

}  // namespace foretell
