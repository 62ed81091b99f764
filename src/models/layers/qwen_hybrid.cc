#include "models/layers/qwen_hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"
#include "models/layers/split_rotary.h"

namespace foretell {
namespace {

// Every so many layers attend.
std::vector<std::string> DeriveLayerTypes(const ConfigView& config,
                                          int64_t layers) {
  const int64_t interval = config.Raw("full_attention_interval") == nullptr
                               ? 4
                               : config.Size({"full_attention_interval"}, 4);
  std::vector<std::string> out;
  std::vector<ConfigValue> told;
  for (int64_t layer = 0; layer < layers; ++layer) {
    out.emplace_back((layer + 1) % interval != 0 ? "linear_attention"
                                                 : "full_attention");
    told.push_back(ConfigValue::String(out.back()));
  }
  config.Derive("layer_types", ConfigValue::Array(std::move(told)));
  return out;
}

std::vector<std::string> ReadTypes(const ConfigView& config, int64_t layers) {
  if (!config.Has("layer_types")) return DeriveLayerTypes(config, layers);
  std::vector<std::string> types = ReadLayerTypes(config, layers);
  for (const std::string& type : types) {
    if (type == "linear_attention" || type == "full_attention") continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class has no mask for layers of the kind {}", type),
        "its forward fails on the first of them",
        "write linear_attention or full_attention for each layer");
    break;
  }
  return types;
}

GatedDeltaConfig ReadLinear(const ConfigView& config, const DecoderKeys& keys) {
  GatedDeltaConfig out;
  out.hidden = keys.decoder.hidden;
  out.key_heads = config.Size({"linear_num_key_heads"}, 16);
  out.value_heads = config.Size({"linear_num_value_heads"}, 32);
  out.key_dim = config.Size({"linear_key_head_dim"}, 128);
  out.value_dim = config.Size({"linear_value_head_dim"}, 128);
  out.kernel = config.Size({"linear_conv_kernel_dim"}, 4);
  out.activation = keys.activation;
  out.norm_epsilon = keys.decoder.norm_epsilon;
  if (out.value_heads % out.key_heads != 0) {
    config.Find("model/kv-heads", Severity::kBlock, "linear_num_key_heads",
                fmt::format("linear_num_value_heads {} is not a multiple of "
                            "linear_num_key_heads {}",
                            out.value_heads, out.key_heads),
                "each head of keys serves a whole number of heads of values; "
                "the forward fails on the shapes",
                fmt::format("set linear_num_key_heads to a divisor of {}",
                            out.value_heads));
  }
  return out;
}

bool IsOfKind(const std::vector<std::string>& types, int64_t layer,
              std::string_view kind) {
  const auto at = static_cast<size_t>(layer);
  return at < types.size() && types[at] == kind;
}

}  // namespace

bool QwenHybridConfig::IsLinear(int64_t layer) const {
  return IsOfKind(layer_types, layer, "linear_attention");
}

bool QwenHybridConfig::Attends(int64_t layer) const {
  return IsOfKind(layer_types, layer, "full_attention");
}

QwenHybridConfig ReadQwenHybrid(const ConfigView& config,
                                std::string_view class_name,
                                const QwenHybridDefaults& defaults) {
  QwenHybridConfig out;
  AttentionConfig& attention = out.attention;
  attention = ReadHeads(config, {.hidden = defaults.hidden, .heads = 16});
  attention.kv_heads = config.Size({"num_key_value_heads"}, defaults.kv_heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 256);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  out.keys =
      ReadDecoder(config, class_name, attention.hidden, defaults.decoder);
  DecoderConfig& decoder = out.keys.decoder;
  decoder.norm_scale = RmsScale::kOnePlusWeight;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  attention.turn = ApplySplitRotary;
  out.layer_types = ReadTypes(config, decoder.layers);
  out.linear = ReadLinear(config, out.keys);
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = out.keys.positions,
                                   .head_dim = attention.head_dim,
                                   .layer_types = out.layer_types,
                                   .turns_part = true,
                                   .default_part = 0.25});
  // Where layer_types are stated nothing reads the interval; the rest are the
  // authors' own and other classes' keys.
  config.Ignore({"full_attention_interval", "use_sliding_window",
                 "attn_output_gate", "output_gate_type", "mamba_ssm_dtype",
                 "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings"});
  return out;
}

ExpertsConfig ReadQwenExperts(const ConfigView& config,
                              const QwenHybridConfig& hybrid, int64_t experts,
                              int64_t per_token) {
  ExpertsConfig out;
  out.hidden = hybrid.keys.decoder.hidden;
  out.intermediate = config.Size({"moe_intermediate_size"}, 512);
  out.activation = hybrid.keys.activation;
  out.experts = std::max<int64_t>(0, config.Whole({"num_experts"}, experts));
  out.per_token = config.SizeOrZero({"num_experts_per_tok"}, per_token);
  out.softmax_casts = true;
  CheckExpertsPerToken(config, out);
  out.keeps_logits = ReadKeepsLogits(config);
  return out;
}

GatedAttention::GatedAttention(const Module& at,
                               const AttentionConfig& settings)
    : module(at),
      config(settings),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.hidden,
             2 * config.heads * config.head_dim, config.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads * config.head_dim, config.hidden, config.output_bias),
      q_norm(at.Child("q_norm", RegionKind::kNorm), config.head_dim,
             config.qk_norm_epsilon.value_or(0), RmsScale::kOnePlusWeight),
      k_norm(at.Child("k_norm", RegionKind::kNorm), config.head_dim,
             config.qk_norm_epsilon.value_or(0), RmsScale::kOnePlusWeight) {}

Tensor GatedAttention::Forward(const Tensor& hidden,
                               const std::pair<Tensor, Tensor>& rotary,
                               const Tensor& mask, std::string_view attention,
                               CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape heads = {batch, length, -1, config.head_dim};
  Tensor q;
  Tensor gate;
  const auto divide = [&] {
    const Tensor both =
        View(q_proj.Forward(hidden), {batch, length, -1, 2 * config.head_dim});
    const std::vector<Tensor> halves = Split(both, config.head_dim, -1);
    if (halves.size() != 2) return false;
    q = halves[0];
    gate = halves[1];
    return true;
  };
  if (!divide()) return hidden;  // the graph has failed already
  gate = Reshape(gate, {batch, length, -1});
  const auto normalize = [&](Tensor x, const RmsNorm& norm) {
    x = norm.Forward(x);
    return Transpose(x, 1, 2);
  };
  q = normalize(View(q, heads), q_norm);
  Tensor k = normalize(View(k_proj.Forward(hidden), heads), k_norm);
  Tensor v = Transpose(View(v_proj.Forward(hidden), heads), 1, 2);
  std::tie(q, k) = config.turn(q, k, rotary.first, rotary.second);
  Tensor out = AttendOverCache(config, q, k, v, mask, attention, cached);
  out = Mul(out, Sigmoid(gate));
  out = o_proj.Forward(out);
  return out;
}

namespace {

template <class Part, class... Arguments>
std::optional<Part> MakeIf(bool exists, Arguments&&... arguments) {
  if (!exists) return std::nullopt;
  return std::optional<Part>(std::in_place,
                             std::forward<Arguments>(arguments)...);
}

SparseOrDense<SharedExpertMlp> MakeMlp(const Module& at,
                                       const QwenHybridConfig& config,
                                       int64_t index) {
  SparseOrDense<SharedExpertMlp> out;
  if (config.sparse.Contains(index)) {
    out.sparse.emplace(at, config.experts, config.shared_intermediate);
  } else {
    out.dense.emplace(at, config.attention.hidden, config.keys.intermediate,
                      false, config.keys.activation);
  }
  return out;
}

}  // namespace

QwenHybridLayer::QwenHybridLayer(const Module& at,
                                 const QwenHybridConfig& config, int64_t index)
    : module(at),
      linear_attn(MakeIf<GatedDeltaNet>(
          config.IsLinear(index), at.Child("linear_attn", RegionKind::kMixer),
          config.linear)),
      self_attn(MakeIf<GatedAttention>(
          config.Attends(index), at.Child("self_attn", RegionKind::kAttention),
          config.attention)),
      mlp(MakeMlp(at.Child("mlp", RegionKind::kMlp), config, index)),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.attention.hidden, config.keys.decoder.norm_epsilon,
                      RmsScale::kOnePlusWeight),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.attention.hidden, config.keys.decoder.norm_epsilon,
          RmsScale::kOnePlusWeight) {}

Tensor QwenHybridLayer::Forward(const Tensor& input,
                                const DecoderContext& context) const {
  const Tensor mask = linear_attn ? Tensor() : context.mask;
  const CheckpointScope checkpoint(module.builder(), {input},
                                   {context.rotary.first, context.rotary.second,
                                    mask, context.position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = input_layernorm.Forward(input);
  CachedLayer* cached = nullptr;
  if (context.fills_cache) cached = context.output->NextLayer();
  if (linear_attn) {
    hidden = linear_attn->Forward(hidden, cached);
  } else if (self_attn) {
    hidden = self_attn->Forward(hidden, context.rotary, mask, context.attention,
                                cached);
  }
  hidden = Add(residual, hidden);
  residual = hidden;
  hidden = post_attention_layernorm.Forward(hidden);
  hidden =
      mlp.Forward(hidden, {context.experts, &context.output->router_logits});
  return Add(residual, hidden);
}

std::unique_ptr<Model> MakeQwenHybrid(const Module& root,
                                      const QwenHybridConfig& config) {
  const DecoderConfig& decoder = config.keys.decoder;
  auto model = std::make_unique<Decoder<QwenHybridLayer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return QwenHybridLayer(at, config, index);
      });
  if (config.experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(config.experts));
  }
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(config.IsLinear(layer)
                                ? config.linear.State()
                                : StateOf(config.attention, 0));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

}  // namespace foretell
