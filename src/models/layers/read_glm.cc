#include "models/layers/read_glm.h"

#include <utility>

#include "models/layers/pair_rotary.h"
#include "models/layers/partial_rotary.h"

namespace foretell {

GlmKeys ReadGlm(const ConfigView& config, std::string_view class_name) {
  AttentionConfig attention = ReadHeads(config);
  // A null would be taken, and fail as a layer is built.
  attention.kv_heads = config.Size({"num_key_value_heads"}, 2);
  attention.head_dim = config.Size({"head_dim"}, 128);
  CheckKeyValueHeads(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, true);
  attention.turn = ApplyPartialPairRotary;
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 151552,
                                  .intermediate = 13696,
                                  .positions = 131072,
                                  .norm_epsilon = 0.00000015625,
                                  .layers = 40,
                                  .padding = 151329});
  keys.decoder.rope = ReadPartialRope(config, attention, keys.positions, 0.5);
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, keys.decoder.layers);
  return {std::move(attention), std::move(keys)};
}

}  // namespace foretell
