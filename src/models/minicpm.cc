// MiniCPM 1, 2 and 4: Llama's layer with embeddings, branches and the head's
// input multiplied by constants of the configuration.
//
// transformers 5.23 has no such class. Source: "MiniCPM: Unveiling the
// Potential of Small Language Models" (arXiv 2404.06395), "MiniCPM4" (arXiv
// 2506.07900) and the published configurations. Nothing here is recorded
// against PyTorch, so no figure of it is exact.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/listed_experts.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = EvenHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

double ReadFactor(const ConfigView& config, std::string_view key) {
  const double factor = config.Real({key}, 1);
  if (factor > 0) return factor;
  config.Problem(key, "is no positive number", "write a positive number");
  return 1;
}

// MiniCPM-MoE: experts are feed-forwards of their own, in a list.
void AddSparseLayer(const TowerModule& at, const DescribedConfig& layer,
                    int64_t experts, int64_t per_token) {
  const int64_t hidden = layer.attention.hidden;
  AddPlainAttention(at.Child("self_attn", RegionKind::kAttention),
                    layer.attention, hidden, layer.attention.qkv_bias);
  const TowerModule moe = at.Child("mlp", RegionKind::kExperts);
  const TowerModule list = moe.Child("experts");
  for (int64_t i = 0; i < experts; ++i) {
    const TowerModule one = list.Child(i);
    one.ExpertLinear("w1", hidden, layer.intermediate, experts, per_token);
    one.ExpertLinear("w2", layer.intermediate, hidden, experts, per_token);
    one.ExpertLinear("w3", hidden, layer.intermediate, experts, per_token);
  }
  moe.Child("gate", RegionKind::kRouter)
      .module()
      .Parameter("weight", {experts, hidden});
  at.RmsNorm("input_layernorm", hidden);
  at.RmsNorm("post_attention_layernorm", hidden);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden, {.ties = true});
  DecoderConfig& decoder = keys.decoder;
  decoder.embedding_multiplier = ReadFactor(config, "scale_emb");
  decoder.head.hidden_divisor = static_cast<double>(attention.hidden) /
                                ReadFactor(config, "dim_model_base");
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  DescribedConfig layer;
  layer.attention = attention;
  layer.intermediate = keys.intermediate;
  layer.activation = keys.activation;
  layer.norm_epsilon = decoder.norm_epsilon;
  layer.residual_multiplier =
      ReadFactor(config, "scale_depth") /
      std::sqrt(static_cast<double>(std::max<int64_t>(decoder.layers, 1)));
  const int64_t experts =
      BoundListedExperts(config, "num_experts",
                         config.SizeOrZero({"num_experts"}, 0), decoder.layers);
  const int64_t per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  config.Ignore({"mup_denominator", "pretraining_tp"});
  // Trained sparsity of attention, which serves long inputs only.
  config.Ignore({"sparse_config"});

  if (experts > 0) {
    PlainDecoderConfig plain;
    plain.vocabulary = decoder.vocabulary;
    plain.layers = decoder.layers;
    plain.ties = decoder.tie_embeddings;
    plain.attention = attention;
    return MakePlainDecoder(config, root, class_name, plain,
                            [&](const TowerModule& at, int64_t) {
                              AddSparseLayer(at, layer, experts, per_token);
                            });
  }
  using Layer = DescribedLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"minicpm"};
constexpr std::array<std::string_view, 3> kClasses = {
    "MiniCPMForCausalLM", "MiniCPMModel", "MiniCPMForSequenceClassification"};

}  // namespace

extern const Family kMinicpmFamily = {
    .name = "minicpm",
    .title = "MiniCPM",
    .doc =
        "Llama's decoder with embeddings, branches and logits scaled by "
        "constants; "
        "MiniCPM 1B, 2B and 4.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the MiniCPM reports (arXiv 2404.06395, 2506.07900) and published "
        "files",
};

}  // namespace foretell
