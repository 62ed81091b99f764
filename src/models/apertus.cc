// Apertus: Llama's layer with a norm on each head of queries and keys, and a
// feed-forward of two products around an activation that learns its slopes.
//
// Source: transformers 5.23, models/apertus/modeling_apertus.py and
// configuration_apertus.py, activations.py (XIELUActivation, in its Python
// form: the package xielu is not installed).
#include <array>
#include <optional>
#include <string>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// Two learned slopes, and its two constants as buffers, in the model's dtype.
struct Xielu {
  explicit Xielu(const Module& at)
      : module(at),
        alpha_p(at.Parameter("alpha_p", {1})),
        alpha_n(at.Parameter("alpha_n", {1})) {
    const auto buffer = [&](std::string_view name) {
      at.Buffer(name, {}, at.builder().dtype(), /*persistent=*/true);
      return at.builder().graph().buffers.back().value;
    };
    beta = buffer("beta");
    eps = buffer("eps");
  }

  Tensor Forward(const Tensor& x) const {
    const Scope scope = module.Enter();
    Builder& builder = module.builder();
    const Tensor slope_p = Softplus(builder.Read(alpha_p));
    const Tensor slope_n =
        Add(builder.Read(beta), Softplus(builder.Read(alpha_n)));
    const Tensor is_positive = GtScalar(x, 0);
    const auto linear = [&] { return Mul(builder.Read(beta), x); };
    const auto above = [&] {
      Tensor square = Mul(slope_p, x);
      square = Mul(std::move(square), x);
      const Tensor line = linear();
      return Add(square, line);
    };
    const auto below = [&] {
      Tensor curve = Expm1(Minimum(x, builder.Read(eps)));
      curve = Sub(std::move(curve), x);
      curve = Mul(std::move(curve), slope_n);
      const Tensor line = linear();
      return Add(curve, line);
    };
    const Tensor upper = above();
    const Tensor lower = below();
    return Where(is_positive, upper, lower);
  }

  Module module;
  ParameterId alpha_p;
  ParameterId alpha_n;
  ValueId beta;
  ValueId eps;
};

struct ApertusMlp {
  // Without an activation: xielu.
  ApertusMlp(const Module& at, int64_t hidden, int64_t intermediate,
             std::optional<Activation> activation)
      : module(at),
        up_proj(at.Child("up_proj", RegionKind::kLinear), hidden, intermediate,
                false),
        down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                  hidden, false) {
    if (activation) {
      plain.emplace(at.Child("act_fn"), *activation);
    } else {
      xielu.emplace(at.Child("act_fn"));
    }
  }

  Tensor Forward(const Tensor& hidden) const {
    const Scope scope = module.Enter();
    const auto activate = [&] {
      const Tensor up = up_proj.Forward(hidden);
      return xielu ? xielu->Forward(up) : plain->Forward(up);
    };
    const Tensor activated = activate();
    return down_proj.Forward(activated);
  }

  Module module;
  Linear up_proj;
  Linear down_proj;
  std::optional<ActivationModule> plain;
  std::optional<Xielu> xielu;
};

AttentionConfig ReadApertusAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.qk_norm = QkNorm::kMovedHeads;
  return attention;
}

// What the class takes where the file states no rope.
ConfigValue DefaultRope() {
  ConfigValue rope = ConfigValue::Object();
  rope.Set("rope_type", ConfigValue::String("llama3"));
  rope.Set("rope_theta", ConfigValue::Number("12000000.0"));
  rope.Set("factor", ConfigValue::Number("8.0"));
  rope.Set("original_max_position_embeddings", ConfigValue::Number("8192"));
  rope.Set("low_freq_factor", ConfigValue::Number("1.0"));
  rope.Set("high_freq_factor", ConfigValue::Number("4.0"));
  return rope;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadApertusAttention(config);
  const ConfigValue* named = config.Raw("hidden_act");
  const bool is_xielu =
      named == nullptr || named->AsString() == std::string_view("xielu");
  if (is_xielu) CheckFields(config, {{"hidden_act", FieldKind::kText}});
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 131072,
                   .intermediate = 14336,
                   .positions = 65536,
                   .norm_epsilon = 1e-5,
                   .padding = 3,
                   .activation_key = is_xielu ? "" : "hidden_act"});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  const ConfigValue default_rope = DefaultRope();
  decoder.rope =
      ReadRope(config, {.default_theta = 12000000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .when_absent = &default_rope});
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class has no biases here, and norms where these say so or not.
  config.Ignore({"mlp_bias", "qk_norm", "post_norm"});

  using Layer = DecoderLayer<ApertusMlp>;
  const auto activation =
      is_xielu ? std::nullopt : std::optional(keys.activation);
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return ApertusMlp(mlp, decoder.hidden, keys.intermediate,
                                         activation);
                     },
                     RmsScale::kWeight,
                     {.before_attention = "attention_layernorm",
                      .before_mlp = "feedforward_layernorm"});
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"apertus"};
constexpr std::array<std::string_view, 3> kClasses = {
    "ApertusForCausalLM", "ApertusModel", "ApertusForTokenClassification"};

}  // namespace

extern const Family kApertusFamily = {
    .name = "apertus",
    .title = "Apertus",
    .doc =
        "Llama's decoder with an RMSNorm on every head of queries and keys and "
        "a feed-forward of two products around a learned activation.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
