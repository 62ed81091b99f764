// What stands on a decoder: nothing, the language-modelling head, or one of
// the generic heads for sequences, tokens and answers.
//
// Source: transformers 5.23, modeling_layers.py (GenericForSequence-
// Classification, GenericForTokenClassification, GenericForQuestionAnswering),
// models/llama/modeling_llama.py (LlamaForCausalLM).
#ifndef FORETELL_MODELS_LAYERS_DECODER_HEAD_H_
#define FORETELL_MODELS_LAYERS_DECODER_HEAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/layers/classification.h"
#include "models/layers/dropout.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/model.h"

namespace foretell {

struct HeadConfig {
  Head kind = Head::kNone;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  // Of the language-modelling head.
  std::optional<double> logit_softcap;
  std::optional<double> logit_multiplier;
  std::optional<double> logit_divisor;  // Granite's
  bool lm_bias = false;
  std::string lm_name = "lm_head";
  // What its input is divided by (MiniCPM).
  std::optional<double> hidden_divisor;
  LabelConfig labels;          // of sequences and tokens
  bool token_bias = true;      // of the head for tokens
  double token_dropout = 0.1;  // before the head for tokens
  std::string_view token_name = "score";
  bool tokens_in_float = true;     // the loss of tokens
  int64_t answer_ends = 2;         // rows of the head for answers
  std::optional<int64_t> padding;  // the token that fills up sequences
};

struct DecoderHead {
  DecoderHead(const Module& root, const HeadConfig& config);
  // hidden [b, s, width] -> the loss [], or what the class returns first where
  // it returns no loss.
  Tensor Forward(const Tensor& hidden, const ForwardInputs& inputs) const;

  HeadConfig config;
  std::optional<Dropout> dropout;
  std::optional<Linear> projection;  // lm_head, score or qa_outputs
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DECODER_HEAD_H_
