// Persimmon: queries, keys and values of each head side by side from one
// product, LayerNorms of queries and keys, a part of each head turned, and a
// squared relu.
//
// Source: transformers 5.23, models/persimmon/modeling_persimmon.py and
// configuration_persimmon.py.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/partial_rotary.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct PersimmonAttention {
  PersimmonAttention(const Module& at, const AttentionConfig& settings,
                     bool norms_queries, double epsilon)
      : module(at),
        config(settings),
        query_key_value(at.Child("query_key_value", RegionKind::kLinear),
                        config.hidden, 3 * config.hidden, true),
        dense(at.Child("dense", RegionKind::kLinear), config.hidden,
              config.hidden, true) {
    if (!norms_queries) return;
    q_layernorm.emplace(at.Child("q_layernorm", RegionKind::kNorm),
                        config.head_dim, epsilon);
    k_layernorm.emplace(at.Child("k_layernorm", RegionKind::kNorm),
                        config.head_dim, epsilon);
  }

  // hidden [b, s, width] -> the same
  Tensor Forward(const Tensor& hidden, const DecoderContext& context,
                 CachedLayer* cached) const {
    const Scope scope = module.Enter();
    const Tensor fused = query_key_value.Forward(hidden);
    const Tensor heads = View(fused, {hidden.size(0), hidden.size(1),
                                      config.heads, 3, config.head_dim});
    Tensor q = Select(heads, 3, 0);
    Tensor k = Select(heads, 3, 1);
    Tensor v = Select(heads, 3, 2);
    if (q_layernorm) {
      q = q_layernorm->Forward(q);
      k = k_layernorm->Forward(k);
    }
    q = Transpose(q, 1, 2);
    v = Transpose(v, 1, 2);
    k = Transpose(k, 1, 2);
    const std::vector<Tensor> names = TurnFirstDims(q, k, context.rotary);
    const Tensor out = AttendOverCache(config, q, k, v, context.mask,
                                       context.attention, cached);
    return dense.Forward(out);
  }

  Module module;
  AttentionConfig config;
  Linear query_key_value;
  Linear dense;
  std::optional<LayerNorm> q_layernorm;
  std::optional<LayerNorm> k_layernorm;
};

struct PersimmonLayer {
  PersimmonLayer(const Module& at, const AttentionConfig& attention,
                 const DecoderKeys& keys, bool norms_queries, double drop)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention,
                  norms_queries, keys.decoder.norm_epsilon),
        mlp(at.Child("mlp", RegionKind::kMlp),
            {.up = "dense_h_to_4h",
             .down = "dense_4h_to_h",
             .activation = "act"},
            attention.hidden, keys.intermediate, true, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, keys.decoder.norm_epsilon),
        dropout(at.Child("dropout"), drop) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context, cached);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    hidden = dropout.Forward(hidden);
    return Add(hidden, residual);
  }

  Module module;
  PersimmonAttention self_attn;
  PlainMlp mlp;
  LayerNorm input_layernorm;
  LayerNorm post_attention_layernorm;
  Dropout dropout;
};

AttentionConfig ReadPersimmonAttention(const ConfigView& config) {
  AttentionConfig attention;
  attention.hidden = config.Size({"hidden_size"}, 4096);
  attention.heads = config.Size({"num_attention_heads"}, 64);
  attention.kv_heads = attention.heads;
  // A module that refuses what is no probability, and is not called.
  attention.dropout = ReadDropout(config, "attention_dropout", 0);
  attention.head_dim = EvenHeadDim(config, attention);
  CheckEvenHeads(config, attention);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadPersimmonAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 262144,
                                  .intermediate = 16384,
                                  .positions = 16384,
                                  .norm_epsilon = 1e-5,
                                  .layers = 36,
                                  .norm_key = "layer_norm_eps",
                                  .activation = "relu2"});
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_name = "final_layernorm";
  decoder.rope = ReadPartialRope(config, attention, keys.positions, 0.5);
  const bool norms_queries = config.Flag({"qk_layernorm"}, true);
  const double drop = ReadDropout(config, "hidden_dropout", 0);
  // A field of the class, which a head for tokens therefore finds.
  if (!config.Has("classifier_dropout")) decoder.head.token_dropout = drop;
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);

  auto model = std::make_unique<Decoder<PersimmonLayer, LayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return PersimmonLayer(at, attention, keys, norms_queries, drop);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"persimmon"};
constexpr std::array<std::string_view, 4> kClasses = {
    "PersimmonForCausalLM", "PersimmonModel",
    "PersimmonForSequenceClassification", "PersimmonForTokenClassification"};

}  // namespace

extern const Family kPersimmonFamily = {
    .name = "persimmon",
    .title = "Persimmon",
    .doc =
        "A decoder of plain attention from one fused product, with LayerNorms "
        "of queries and keys and a squared relu.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
