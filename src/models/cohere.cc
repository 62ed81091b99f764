// Cohere's Command R and Aya: attention and feed-forward side by side behind
// one LayerNorm without a bias, neighbouring dims turned in float32, and logits
// scaled.
//
// Source: transformers 5.23, models/cohere/modeling_cohere.py and
// configuration_cohere.py.
#include <array>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/pair_rotary.h"
#include "models/layers/parallel_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// The class takes a null for both, and its forward fails on it.
void RefuseNull(const ConfigView& config, std::string_view key) {
  const ConfigValue* value = config.Raw(key);
  if (value == nullptr || !value->is_null()) return;
  config.Find("model/null", Severity::kBlock, key,
              std::string(key) + " is null",
              "the class takes it, but its forward fails on it",
              "state a number or remove the key");
}

AttentionConfig ReadCohereAttention(const ConfigView& config, double epsilon) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 8192, .heads = 64, .dropout_may_be_null = true});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.turn = ApplyPairRotary;
  RefuseNull(config, "attention_dropout");
  const bool norms_queries =
      config.Has("use_qk_norm") && config.Flag({"use_qk_norm"}, false);
  config.Ignore({"use_qk_norm"});
  const auto stay = [](Tensor&, Tensor&, const auto&) {
    return std::vector<Tensor>();
  };
  attention.extend = [=](const Module& at, GroupedQueryAttention& one) {
    one.before_transpose = stay;
    if (!norms_queries) return;
    const AttentionConfig& heads = one.config;
    const CenteredNorm q_norm(at.Child("q_norm", RegionKind::kNorm),
                              Shape{heads.heads, heads.head_dim}, epsilon);
    const CenteredNorm k_norm(at.Child("k_norm", RegionKind::kNorm),
                              Shape{heads.kv_heads, heads.head_dim}, epsilon);
    one.before_transpose = [q_norm, k_norm](Tensor& q, Tensor& k, const auto&) {
      q = q_norm.Forward(q);
      k = k_norm.Forward(k);
      return std::vector<Tensor>();
    };
  };
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  DecoderKeys keys =
      ReadDecoder(config, class_name, config.Size({"hidden_size"}, 8192),
                  {.vocabulary = 256000,
                   .intermediate = 22528,
                   .positions = 8192,
                   .norm_epsilon = 1e-5,
                   .layers = 40,
                   .ties = true,
                   .padding = 0,
                   .norm_key = "layer_norm_eps"});
  DecoderConfig& decoder = keys.decoder;
  const AttentionConfig attention =
      ReadCohereAttention(config, decoder.norm_epsilon);
  RefuseNull(config, "logit_scale");
  decoder.head.logit_multiplier =
      config.OptionalReal({"logit_scale"}).value_or(0.0625);
  decoder.rope = ReadRope(config, {.default_theta = 500000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .head_dim_is_held = config.Has("head_dim")});
  decoder.rope.interleaves = true;
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // A length of older code, which the class does not read.
  config.Ignore({"model_max_length"});

  auto model = std::make_unique<Decoder<ParallelLayer, CenteredNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return ParallelLayer(at, attention, keys);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"cohere"};
constexpr std::array<std::string_view, 2> kClasses = {"CohereForCausalLM",
                                                      "CohereModel"};

}  // namespace

extern const Family kCohereFamily = {
    .name = "cohere",
    .title = "Cohere",
    .doc =
        "A decoder whose attention and gated feed-forward stand side by side "
        "behind one norm, with scaled logits; Command R and Aya.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
