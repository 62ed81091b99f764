// Nemotron (Minitron): Llama's order behind layer norms whose weight counts
// from 1, half of each head turned, and a feed-forward of two products around
// a squared ReLU.
//
// Source: transformers 5.23, models/nemotron/modeling_nemotron.py and
// configuration_nemotron.py.
#include <fmt/format.h>

#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/partial_rotary.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadNemotronAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 6144, .heads = 48});
  const auto kv_heads = config.OptionalSize({"num_key_value_heads"});
  attention.kv_heads = kv_heads.value_or(attention.heads);
  if (!kv_heads) {
    config.Find("model/kv-heads", Severity::kBlock, "num_key_value_heads",
                "num_key_value_heads is not stated",
                "the class divides by it, works out none, and is not built",
                fmt::format("set num_key_value_heads to {}", attention.heads));
  }
  CheckKeyValueHeads(config, attention);
  attention.head_dim =
      SizeOrDerived(config, "head_dim", EvenHeadDim(config, attention));
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.turn = ApplyJoinedPartialRotary;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadNemotronAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 256000,
                                  .intermediate = 24576,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5,
                                  .norm_key = "norm_eps",
                                  .activation = "relu2"});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadPartialRope(config, attention, keys.positions, 0.5);
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // Llama's epsilon, which the class does not look at.
  config.Ignore({"rms_norm_eps"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<PlainMlp, OnePlusLayerNorm>;
  auto model = std::make_unique<Decoder<Layer, OnePlusLayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return PlainMlp(mlp,
                                       {.up = "up_proj",
                                        .down = "down_proj",
                                        .activation = "act_fn"},
                                       decoder.hidden, keys.intermediate,
                                       mlp_bias, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"nemotron"};
constexpr std::array<std::string_view, 5> kClasses = {
    "NemotronForCausalLM", "NemotronModel", "NemotronForSequenceClassification",
    "NemotronForTokenClassification", "NemotronForQuestionAnswering"};

}  // namespace

extern const Family kNemotronFamily = {
    .name = "nemotron",
    .title = "Nemotron",
    .doc =
        "A decoder behind layer norms whose weight counts from 1, with half of "
        "each head turned and a squared ReLU; Nemotron-4 and Minitron.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
