// T5's configuration: its keys, their other names, what the class works out as
// it loads, and how mT5's and UMT5's differ.
//
// Source: transformers 5.23, models/{t5,mt5,umt5}/configuration_*.py.
#ifndef FORETELL_MODELS_LAYERS_READ_T5_H_
#define FORETELL_MODELS_LAYERS_READ_T5_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/classification.h"
#include "models/layers/t5_attention.h"
#include "spec/config_view.h"

namespace foretell {

// What the configuration classes with T5's keys set differently.
struct T5Dialect {
  // When the decoder's output is scaled before the head.
  enum class Scale { kWithTie, kNever, kWhileTied };
  int64_t vocabulary = 32128;
  int64_t inner = 2048;
  int64_t layers = 6;
  int64_t heads = 8;
  std::string_view feed_forward = "relu";
  std::optional<int64_t> start = std::nullopt;
  Scale scale = Scale::kWithTie;
  // Every layer has a bias by distance of its own.
  bool bias_everywhere = false;
};

// What mT5 and UMT5 default to.
inline constexpr T5Dialect kMt5 = {.vocabulary = 250112,
                                   .inner = 1024,
                                   .layers = 8,
                                   .heads = 6,
                                   .feed_forward = "gated-gelu",
                                   .start = 0,
                                   .scale = T5Dialect::Scale::kNever};
inline constexpr T5Dialect kUmt5 = {.vocabulary = 250112,
                                    .inner = 1024,
                                    .layers = 8,
                                    .heads = 6,
                                    .feed_forward = "gated-gelu",
                                    .start = 0,
                                    .scale = T5Dialect::Scale::kWhileTied,
                                    .bias_everywhere = true};

// What the class's head reads beside the base model's keys.
struct T5Needs {
  bool labels = false;
  bool classifier_dropout = false;
};

struct T5Config {
  T5LayerConfig layer;
  int64_t vocabulary = 0;
  int64_t encoder_layers = 0;
  int64_t decoder_layers = 0;
  bool is_decoder = false;  // heeded by an encoder that stands alone
  bool tie_embeddings = true;
  bool scale_outputs = true;
  double classifier_dropout = 0;
  LabelConfig labels;
  std::optional<int64_t> padding;
  std::optional<int64_t> start;
};

T5Config ReadT5(const ConfigView& config, const T5Needs& needs,
                const T5Dialect& dialect = {});

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_T5_H_
