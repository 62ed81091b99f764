// GLM-4 9B in the library's own form: Llama's layer with gate and up from one
// product, and neighbouring dims of half a head turned.
//
// Source: transformers 5.23, models/glm/modeling_glm.py and
// configuration_glm.py.
#include <array>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_glm.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto [attention, keys] = ReadGlm(config, class_name);
  using Layer = DecoderLayer<FusedGatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, keys.decoder,
      [&, &heads = attention, &read = keys](const Module& at, int64_t) {
        return Layer(at, heads, read.decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return FusedGatedMlp(mlp, heads.hidden,
                                            read.intermediate, read.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(keys.decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(keys.decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"glm"};
constexpr std::array<std::string_view, 4> kClasses = {
    "GlmForCausalLM", "GlmModel", "GlmForSequenceClassification",
    "GlmForTokenClassification"};

}  // namespace

extern const Family kGlmFamily = {
    .name = "glm",
    .title = "GLM",
    .doc =
        "Llama's decoder with gate and up from one product and neighbouring "
        "dims of half a head turned; GLM-4 and GLM-Edge.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
