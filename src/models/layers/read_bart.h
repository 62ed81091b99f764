// BART's configuration: its keys, their aliases, what the class refuses, and
// how the families that share its keys differ.
//
// Source: transformers 5.23, models/{bart,mbart,marian,pegasus,m2m_100}/
// configuration_*.py and the constructors of modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_READ_BART_H_
#define FORETELL_MODELS_LAYERS_READ_BART_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/bart_stack.h"
#include "models/layers/classification.h"
#include "spec/config_view.h"

namespace foretell {

// What the configuration classes with BART's keys set differently.
struct BartDialect {
  BartForm form;
  bool norm_first = false;
  bool clamps_half = false;
  int64_t vocabulary = 50265;
  std::string_view activation = "gelu";
  double attention_dropout = 0;
  double layer_drop = 0;
  bool scales = false;  // scale_embedding
  int64_t padding = 1;
  std::optional<int64_t> start = 2;
  int64_t labels = 3;
  bool takes_null = true;  // of most keys, whose fields are optional
  bool has_pairs = false;  // decoder_vocab_size, of a vocabulary of its own
};

// What the class has beside a decoder.
struct BartNeeds {
  bool encoder = false;
  bool sequence_head = false;
};

struct BartConfig {
  BartStackConfig encoder;
  BartStackConfig decoder;
  std::optional<int64_t> padding;
  std::optional<int64_t> start;  // decoder_start_token_id
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  bool shares_embeddings = true;  // one table for encoder and decoder
  LabelConfig labels;
};

BartConfig ReadBart(const ConfigView& config, const BartNeeds& needs,
                    const BartDialect& dialect = {});

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_BART_H_
