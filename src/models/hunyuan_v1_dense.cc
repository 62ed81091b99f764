// Hunyuan (dense): Llama's layer with norms of queries and keys behind their
// turn, and frequencies that a fixed alpha stretches.
//
// Source: transformers 5.23, models/hunyuan_v1_dense/
// modeling_hunyuan_v1_dense.py and configuration_hunyuan_v1_dense.py.
#include <array>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadHunyuanAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  if (const auto stated = config.OptionalSize({"head_dim"})) {
    attention.head_dim = *stated;
    return attention;
  }
  attention.head_dim = EvenHeadDim(config, attention);
  config.Find("model/heads", Severity::kBlock, "head_dim",
              "head_dim is not stated",
              "the class has no other width for its heads, and fails as a "
              "layer is built",
              "set head_dim to " + std::to_string(attention.head_dim));
  return attention;
}

// A fixed alpha makes the type dynamic one whose frequencies never change.
void FixFrequencies(const ConfigView& config, const AttentionConfig& attention,
                    RopeConfig& rope) {
  if (rope.type != "dynamic") return;
  const ConfigView nested = RopeSettings(config);
  if (!nested.Has("alpha") || nested.Real({"alpha"}, 0) == 0) return;
  rope.type = "dynamic by a fixed alpha";
  rope.frequencies = (attention.head_dim + 1) / 2;
}

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
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  FixFrequencies(config, attention, decoder.rope);
  attention.extend = [epsilon = decoder.norm_epsilon](
                         const Module& at, GroupedQueryAttention& one) {
    const RmsNorm query_norm(at.Child("query_layernorm", RegionKind::kNorm),
                             one.config.head_dim, epsilon);
    const RmsNorm key_norm(at.Child("key_layernorm", RegionKind::kNorm),
                           one.config.head_dim, epsilon);
    one.behind_turn = [query_norm, key_norm](Tensor& q, Tensor& k,
                                             const auto&) {
      q = query_norm.Forward(q);
      k = key_norm.Forward(k);
      return std::vector<Tensor>();
    };
  };
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole},
                       {"eod_token_id", FieldKind::kWhole, true}});
  // Settings of the code that came with the first files, for which the class
  // has no choice, and tokens of other inputs.
  config.Ignore({"use_qk_norm",        "qk_norm",
                 "mlp_bias",           "attention_head_dim",
                 "norm_type",          "add_classification_head",
                 "class_num",          "pool_type",
                 "use_rotary_pos_emb", "use_cla",
                 "cla_share_factor",   "dense_list",
                 "im_end_id",          "im_newline_id",
                 "im_start_id",        "image_token_id",
                 "mask_init_id",       "sep_token_id",
                 "text_end_id",        "text_start_id",
                 "org_vocab_size",     "group_limited_greedy"});

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
