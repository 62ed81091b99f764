// BitNet: Llama's layer with one more norm in each branch, before its last
// product. Weights are those of training; packed ternary ones are not modelled.
//
// Source: transformers 5.23, models/bitnet/modeling_bitnet.py and
// configuration_bitnet.py.
#include <fmt/format.h>

#include <array>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct BitNetMlp {
  BitNetMlp(const Module& at, const DecoderKeys& keys)
      : module(at),
        gate_proj(at.Child("gate_proj", RegionKind::kLinear),
                  keys.decoder.hidden, keys.intermediate, false),
        up_proj(at.Child("up_proj", RegionKind::kLinear), keys.decoder.hidden,
                keys.intermediate, false),
        down_proj(at.Child("down_proj", RegionKind::kLinear), keys.intermediate,
                  keys.decoder.hidden, false),
        act_fn(at.Child("act_fn"), keys.activation),
        ffn_sub_norm(at.Child("ffn_sub_norm", RegionKind::kNorm),
                     keys.intermediate, keys.decoder.norm_epsilon) {}

  Tensor Forward(const Tensor& x) const {
    const Scope scope = module.Enter();
    const auto gated = [&] {
      const auto activated = [&] {
        const Tensor gate = gate_proj.Forward(x);
        return act_fn.Forward(gate);
      };
      Tensor gate = activated();
      return Mul(std::move(gate), up_proj.Forward(x));
    };
    const auto normed = [&] {
      const Tensor product = gated();
      return ffn_sub_norm.Forward(product);
    };
    const Tensor hidden = normed();
    return down_proj.Forward(hidden);
  }

  Module module;
  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  ActivationModule act_fn;
  RmsNorm ffn_sub_norm;
};

AttentionConfig ReadBitNetAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 2560, .heads = 20, .dropout_may_be_null = true});
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 5)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  const int64_t width = attention.heads * attention.head_dim;
  if (width != attention.hidden) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("the heads are {} wide together, and the norm "
                            "behind them is hidden_size {} wide",
                            width, attention.hidden),
                "the forward fails on the shapes",
                "choose heads that add up to hidden_size");
  }
  const ConfigValue* dropout = config.Raw("attention_dropout");
  if (dropout != nullptr && dropout->is_null()) {
    config.Find("model/dropout", Severity::kBlock, "attention_dropout",
                "attention_dropout is null",
                "the class takes it, but a training step fails on it",
                "set attention_dropout to 0.0");
  }
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadBitNetAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 128256,
                                  .intermediate = 6912,
                                  .positions = 2048,
                                  .norm_epsilon = 1e-5,
                                  .layers = 30,
                                  .activation = "relu2"});
  DecoderConfig& decoder = keys.decoder;
  attention.output_norm_epsilon = decoder.norm_epsilon;
  decoder.rope =
      ReadRope(config, {.default_theta = 500000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class has no biases here.
  config.Ignore({"mlp_bias"});

  using Layer = DecoderLayer<BitNetMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) { return BitNetMlp(mlp, keys); });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bitnet"};
constexpr std::array<std::string_view, 2> kClasses = {"BitNetForCausalLM",
                                                      "BitNetModel"};

}  // namespace

extern const Family kBitNetFamily = {
    .name = "bitnet",
    .title = "BitNet",
    .doc =
        "Llama's decoder with one more RMSNorm in each branch, before its last "
        "product; the weights of training, not the packed ones.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
