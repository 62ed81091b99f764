#include "models/layers/gemma4_modules.h"

#include "models/layers/linear.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

void RegisterAttention(const TowerModule& at, const Gemma4Config& config,
                       const Gemma4Layer& layer, int64_t hidden) {
  const int64_t width = config.heads * layer.head_dim;
  const int64_t narrow = layer.kv_heads * layer.head_dim;
  at.Linear("q_proj", hidden, width, config.bias);
  at.RmsNorm("q_norm", layer.head_dim);
  if (!layer.reuses) {
    at.RmsNorm("k_norm", layer.head_dim);
    at.Linear("k_proj", hidden, narrow, config.bias);
    if (layer.has_values) at.Linear("v_proj", hidden, narrow, config.bias);
  }
  at.Linear("o_proj", width, hidden, config.bias);
}

void RegisterExperts(const TowerModule& layer, const ExpertsConfig& experts) {
  const TowerModule router = layer.Child("router", RegionKind::kRouter);
  router.Parameter("scale", {experts.hidden});
  router.Parameter("per_expert_scale", {experts.experts});
  router.Linear("proj", experts.hidden, experts.experts, false);
  const FusedExperts fused(
      layer.Child("experts", RegionKind::kExperts).module(), experts);
  for (const std::string_view name :
       {"post_feedforward_layernorm_1", "post_feedforward_layernorm_2",
        "pre_feedforward_layernorm_2"}) {
    layer.RmsNorm(name, experts.hidden);
  }
}

void RegisterLayer(const Module& at, const Gemma4Config& config,
                   const Gemma4Layer& layer, int64_t hidden) {
  // A factor of what the layer gives, which its checkpoint holds.
  at.Buffer("layer_scalar", {1}, at.builder().dtype(), true);
  const TowerModule block(at);
  RegisterAttention(block.Child("self_attn", RegionKind::kAttention), config,
                    layer, hidden);
  const TowerModule mlp = block.Child("mlp", RegionKind::kMlp);
  mlp.Linear("gate_proj", hidden, layer.intermediate, false);
  mlp.Linear("up_proj", hidden, layer.intermediate, false);
  mlp.Linear("down_proj", layer.intermediate, hidden, false);
  for (const std::string_view name :
       {"input_layernorm", "post_attention_layernorm",
        "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
    block.RmsNorm(name, hidden);
  }
  if (config.layer_width > 0) {
    block.Linear("per_layer_input_gate", hidden, config.layer_width, false);
    block.Linear("per_layer_projection", config.layer_width, hidden, false);
    block.RmsNorm("post_per_layer_input_norm", hidden);
  }
  if (config.has_experts) RegisterExperts(block, config.experts);
}

void RegisterRotary(const Module& at, const Gemma4Config& config) {
  for (const auto& [kind, angles] : config.ropes) {
    for (const std::string_view name : {"_inv_freq", "_original_inv_freq"}) {
      at.Buffer(kind + std::string(name), {angles}, DType::kFloat32, false);
    }
  }
}

LayerState StateOf(const Gemma4Config& config, const Gemma4Layer& layer) {
  LayerState state;
  if (layer.reuses) return state;
  state.kind =
      layer.slides ? LayerState::Kind::kSliding : LayerState::Kind::kFull;
  state.heads = layer.kv_heads;
  state.key_dim = layer.head_dim;
  state.value_dim = layer.head_dim;
  state.window = layer.slides ? config.window : 0;
  return state;
}

}  // namespace

Gemma4Decoder::Gemma4Decoder(const Module& root, const Gemma4Config& config,
                             const DecoderConfig& keys)
    : root_(root) {
  const bool has_head = keys.head.kind == Head::kCausalLm;
  const Module base = has_head ? root.Child("model") : root;
  const Embedding embed(base.Child("embed_tokens", RegionKind::kEmbedding),
                        keys.vocabulary, keys.hidden, /*is_scaled=*/true);
  embed.module.MarkInputEmbeddings();
  const Module list = base.Child("layers");
  for (int64_t index = 0; index < keys.layers; ++index) {
    const Gemma4Layer& layer = config.layers[static_cast<size_t>(index)];
    RegisterLayer(list.Child(index, RegionKind::kBlock), config, layer,
                  keys.hidden);
    states.push_back(StateOf(config, layer));
  }
  const TowerModule parts(base);
  parts.RmsNorm("norm", keys.hidden);
  RegisterRotary(base.Child("rotary_emb"), config);
  if (config.layer_width > 0) {
    const Embedding table(
        base.Child("embed_tokens_per_layer", RegionKind::kEmbedding),
        config.layer_rows, config.all_widths, /*is_scaled=*/true);
    parts.Linear("per_layer_model_projection", keys.hidden, config.all_widths,
                 false);
    parts.RmsNorm("per_layer_projection_norm", config.layer_width);
  }
  if (has_head) {
    const Linear head(root.Child("lm_head", RegionKind::kHead), keys.hidden,
                      keys.vocabulary, false);
    head.module.MarkOutputEmbeddings();
    if (keys.tie_embeddings) root.builder().Tie(head.weight, embed.weight);
  }
  stacks.push_back({"decoder", keys.layers});
}

Tensor Gemma4Decoder::Forward(const ForwardInputs& inputs) {
  root_.builder().Fail(
      "Gemma 4's operations are not modelled: only its parameters and what "
      "generation keeps");
  return inputs.input_ids;
}

}  // namespace foretell
