// The configuration keys that rotary decoders share, read with one meaning.
//
// Families differ in defaults and in what they do with an absent or null
// head_dim and num_key_value_heads: those two each family reads itself.
// Source: transformers 5.23, models/{llama,mistral,qwen2,qwen3,mixtral,gemma,
// gemma2,phi3}/configuration_*.py, configuration_utils.py (validators).
#ifndef FORETELL_MODELS_LAYERS_READ_DECODER_H_
#define FORETELL_MODELS_LAYERS_READ_DECODER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

struct HeadDefaults {
  int64_t hidden = 4096;
  int64_t heads = 32;
  double dropout = 0;
  bool dropout_may_be_null = false;
};

// hidden_size, num_attention_heads and attention_dropout; the rest is the
// family's.
AttentionConfig ReadHeads(const ConfigView& config,
                          const HeadDefaults& defaults = {});

// hidden_size / num_attention_heads, rounded down as the classes do it; a
// problem where nothing is left.
int64_t EvenHeadDim(const ConfigView& config, const AttentionConfig& attention);

// head_dim of a class that has no such field but reads it where a file states
// it, else EvenHeadDim.
int64_t UndeclaredHeadDim(const ConfigView& config,
                          const AttentionConfig& attention);

// A flag whose null counts as false.
bool FlagOrNull(const ConfigView& config, std::string_view key, bool otherwise);

// A size that the class works out as it loads where it is absent or null.
int64_t SizeOrDerived(const ConfigView& config, std::string_view key,
                      int64_t otherwise);

// Keys and values that do not serve a whole number of query heads.
void CheckKeyValueHeads(const ConfigView& config,
                        const AttentionConfig& attention);

// Head dims that do not add up to the hidden size, which the class's
// validate_architecture refuses as it loads.
void CheckEvenHeads(const ConfigView& config, const AttentionConfig& attention,
                    std::string_view config_class);

// Class defaults, where families differ.
struct DecoderDefaults {
  int64_t vocabulary = 32000;
  int64_t intermediate = 11008;  // 0: the class reads it itself
  int64_t positions = 2048;
  double norm_epsilon = 1e-6;
  int64_t layers = 32;
  bool ties = false;
  std::optional<int64_t> padding = {};         // of an absent pad_token_id
  std::string_view norm_key = "rms_norm_eps";  // empty: it reads none
  // Empty where the class looks up none.
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
};

// What a decoder and its feed-forward are made of, but for attention and rope.
struct DecoderKeys {
  DecoderConfig decoder;
  int64_t intermediate = 0;
  Activation activation = Activation::kSilu;
  int64_t positions = 0;  // max_position_embeddings
};

// The head that the class's name ends in, and the labels and the dropout that
// it reads.
HeadConfig ReadHead(const ConfigView& config, std::string_view class_name,
                    int64_t hidden, int64_t vocabulary,
                    std::optional<int64_t> padding);

// vocab_size, num_hidden_layers, intermediate_size, hidden_act, rms_norm_eps,
// max_position_embeddings, tie_word_embeddings, pad_token_id, the labels of
// the class's head, and the fields that decide about nothing.
DecoderKeys ReadDecoder(const ConfigView& config, std::string_view class_name,
                        int64_t hidden, const DecoderDefaults& defaults);

// `layer_types` in the library's present names, checked as the library does;
// empty where the key is absent or null.
std::vector<std::string> ReadLayerTypes(const ConfigView& config,
                                        int64_t layers);

// The state that a layer of this attention keeps; window 0 for all tokens.
LayerState StateOf(const AttentionConfig& attention, int64_t window);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_DECODER_H_
