// Hunyuan (dense): Llama's layer with norms of queries and keys behind their
// turn, and frequencies that a fixed alpha stretches.
//
// Source: transformers 5.23, models/hunyuan_v1_dense/
// modeling_hunyuan_v1_dense.py and configuration_hunyuan_v1_dense.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/head_norms.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_hunyuan.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadHunyuanAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 290943,
                                  .intermediate = 11008,
                                  .positions = 2048,
                                  .norm_epsilon = 1e-5,
                                  .padding = 0});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadHunyuanRope(config, keys.positions, attention);
  attention.extend = NormsBehindTurn(decoder.norm_epsilon);
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole},
                       {"eod_token_id", FieldKind::kWhole, true}});
  IgnoreHunyuanCode(config);

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       false, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"hunyuan_v1_dense"};
constexpr std::array<std::string_view, 3> kClasses = {
    "HunYuanDenseV1ForCausalLM", "HunYuanDenseV1Model",
    "HunYuanDenseV1ForSequenceClassification"};

}  // namespace

extern const Family kHunyuanV1DenseFamily = {
    .name = "hunyuan_v1_dense",
    .title = "Hunyuan (dense)",
    .doc =
        "Llama's decoder with norms of queries and keys behind their turn; "
        "Hunyuan 0.5B to 7B and Hunyuan-MT.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
