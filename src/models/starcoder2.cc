// StarCoder2: grouped-query attention and a plain feed-forward, each behind a
// LayerNorm, with biases and dropout throughout, and a window.
//
// Source: transformers 5.23, models/starcoder2/modeling_starcoder2.py and
// configuration_starcoder2.py.
#include <algorithm>
#include <array>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct Starcoder2Layer {
  Starcoder2Layer(const Module& at, const AttentionConfig& attention,
                  const DecoderKeys& keys, bool bias)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp),
            {.up = "c_fc", .down = "c_proj", .activation = "act"},
            attention.hidden, keys.intermediate, bias, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, keys.decoder.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const Tensor& mask =
        self_attn.config.window > 0 ? context.window_mask : context.mask;
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context.rotary, mask, context.attention,
                               cached);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = ForwardMlp(hidden);
    return Add(residual, hidden);
  }

  // The dropout belongs to the feed-forward's own forward.
  Tensor ForwardMlp(const Tensor& input) const {
    const Scope scope = mlp.module.Enter();
    Tensor hidden = mlp.up.Forward(input);
    hidden = mlp.act.Forward(hidden);
    hidden = mlp.down.Forward(hidden);
    return ApplyDropout(hidden, self_attn.config.output_dropout);
  }

  Module module;
  GroupedQueryAttention self_attn;
  PlainMlp mlp;
  LayerNorm input_layernorm;
  LayerNorm post_attention_layernorm;
};

AttentionConfig ReadStarcoder2Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 3072, .heads = 24});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 2);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states one; 0 is none.
  const int64_t stated =
      config.Has("head_dim") ? config.SizeOrZero({"head_dim"}, 0) : 0;
  attention.head_dim = stated > 0 ? stated : EvenHeadDim(config, attention);
  config.Ignore({"head_dim"});
  attention.qkv_bias = config.Flag({"use_bias"}, true);
  attention.output_bias = attention.qkv_bias;
  attention.output_dropout = ReadDropout(config, "residual_dropout", 0);
  CheckFields(config, {{"sliding_window", FieldKind::kWhole, true}});
  attention.window = config.OptionalSize({"sliding_window"}).value_or(0);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadStarcoder2Attention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 49152,
                                  .intermediate = 12288,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5,
                                  .layers = 30,
                                  .ties = true,
                                  .norm_key = "norm_epsilon",
                                  .activation = "gelu_pytorch_tanh"});
  DecoderConfig& decoder = keys.decoder;
  decoder.window = attention.window;
  decoder.embedding_dropout = ReadDropout(config, "embedding_dropout", 0);
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .head_dim_is_held = config.Has("head_dim")});
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class has one kind of norm and of feed-forward, and reads
  // norm_epsilon; the rest are settings of the code that trained it.
  config.Ignore({"layer_norm_epsilon", "norm_type", "mlp_type"});

  auto model = std::make_unique<Decoder<Starcoder2Layer, LayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Starcoder2Layer(at, attention, keys, attention.qkv_bias);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, attention.window));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"starcoder2"};
constexpr std::array<std::string_view, 4> kClasses = {
    "Starcoder2ForCausalLM", "Starcoder2Model",
    "Starcoder2ForSequenceClassification", "Starcoder2ForTokenClassification"};

}  // namespace

extern const Family kStarcoder2Family = {
    .name = "starcoder2",
    .title = "StarCoder2",
    .doc =
        "A decoder of grouped-query attention with rotary positions and a "
        "plain feed-forward, with LayerNorms, biases, dropout and a window.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
