// GLM-4-0414: GLM's layer with a second norm behind attention and feed-forward.
//
// Source: transformers 5.23, models/glm4/modeling_glm4.py and
// configuration_glm4.py.
#include <array>
#include <string_view>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_glm.h"

namespace foretell {
namespace {

struct Glm4Layer {
  Glm4Layer(const Module& at, const AttentionConfig& attention,
            const DecoderKeys& keys)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden,
            keys.intermediate, keys.activation),
        input_layernorm(Norm(at, "input_layernorm", keys)),
        post_attention_layernorm(Norm(at, "post_attention_layernorm", keys)),
        post_self_attn_layernorm(Norm(at, "post_self_attn_layernorm", keys)),
        post_mlp_layernorm(Norm(at, "post_mlp_layernorm", keys)) {}

  static RmsNorm Norm(const Module& at, std::string_view name,
                      const DecoderKeys& keys) {
    return RmsNorm(at.Child(name, RegionKind::kNorm), keys.decoder.hidden,
                   keys.decoder.norm_epsilon);
  }

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
    hidden = self_attn.Forward(hidden, context.rotary, context.mask,
                               context.attention, cached);
    hidden = post_self_attn_layernorm.Forward(hidden);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    hidden = post_mlp_layernorm.Forward(hidden);
    return Add(residual, hidden);
  }

  Module module;
  GroupedQueryAttention self_attn;
  FusedGatedMlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
  RmsNorm post_self_attn_layernorm;
  RmsNorm post_mlp_layernorm;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto [attention, keys] = ReadGlm(config, class_name);
  auto model = std::make_unique<Decoder<Glm4Layer>>(
      root, keys.decoder,
      [&heads = attention, &read = keys](const Module& at, int64_t) {
        return Glm4Layer(at, heads, read);
      });
  model->states.assign(static_cast<size_t>(keys.decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(keys.decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"glm4"};
constexpr std::array<std::string_view, 4> kClasses = {
    "Glm4ForCausalLM", "Glm4Model", "Glm4ForSequenceClassification",
    "Glm4ForTokenClassification"};

}  // namespace

extern const Family kGlm4Family = {
    .name = "glm4",
    .title = "GLM-4-0414",
    .doc = "GLM's decoder with four norms a layer; GLM-4-0414 and GLM-Z1.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
