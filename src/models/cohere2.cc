// Cohere 2 (Command R7B, Command A): Cohere's layers, most of which attend to a
// window and turn by position; every fourth sees all and does not turn.
//
// Source: transformers 5.23, models/cohere2/modeling_cohere2.py and
// configuration_cohere2.py.
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/pair_rotary.h"
#include "models/layers/parallel_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

AttentionConfig ReadCohere2Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 8192, .heads = 64});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, which works it out; what a file states stands.
  if (config.Raw("head_dim") != nullptr) {
    attention.head_dim = config.Size({"head_dim"}, 128);
  } else {
    attention.head_dim = EvenHeadDim(config, attention);
    config.Derive("head_dim",
                  ConfigValue::Number(std::to_string(attention.head_dim)));
  }
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadCohere2Attention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 256000,
                                  .intermediate = 22528,
                                  .positions = 8192,
                                  .norm_epsilon = 1e-5,
                                  .layers = 40,
                                  .ties = true,
                                  .padding = 0,
                                  .norm_key = "layer_norm_eps"});
  DecoderConfig& decoder = keys.decoder;
  CheckFields(config, {{"logit_scale", FieldKind::kFloat}});
  decoder.head.logit_multiplier = config.Real({"logit_scale"}, 0.0625);
  const WindowedLayers windows = ReadPatternedLayers(config, decoder.layers, 4);
  decoder.window = windows.window;
  decoder.mixes_masks = true;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .layer_types = windows.types});
  decoder.rope.interleaves = true;
  // Settings of other code: the class's layers, norms and rotary have no other
  // form, and a cache is none of a training step's.
  config.Ignore({"cache_implementation", "order_of_interleaved_layers",
                 "position_embedding_type", "rotary_pct",
                 "use_embedding_sharing", "use_gated_activation",
                 "use_parallel_block", "use_parallel_embedding",
                 "use_qk_norm"});

  auto model = std::make_unique<Decoder<ParallelLayer, CenteredNorm>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = windows.WindowOf(index);
        attention.turn = attention.window > 0 ? ApplyPairRotary : nullptr;
        return ParallelLayer(at, attention, keys);
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"cohere2"};
constexpr std::array<std::string_view, 2> kClasses = {"Cohere2ForCausalLM",
                                                      "Cohere2Model"};

}  // namespace

extern const Family kCohere2Family = {
    .name = "cohere2",
    .title = "Cohere 2",
    .doc =
        "Cohere's decoder with windows in three of four layers, which alone "
        "turn by position; Command R7B and Command A.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
