// How BERT, GPT-2 and T5 let queries meet keys and values: as many heads on
// both sides, softmax in the dtype of the scores, dropout on the weights, and
// in T5 a bias by position.
//
// Source: transformers 5.23, models/{bert,gpt2,t5}/modeling_*.py
// (eager_attention_forward), integrations/sdpa_attention.py
// (create_position_bias_mask).
#ifndef FORETELL_MODELS_LAYERS_PLAIN_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_PLAIN_ATTENTION_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

struct PlainAttentionCall {
  Tensor mask;           // added to the scores; empty where there is none
  Tensor position_bias;  // [1, h, s, t]; empty but in T5
  double dropout = 0;
  double scale = 1;
  bool causal = false;                  // meant where there is no mask
  bool casts_weights = false;           // eager: to the values' dtype (GPT-2)
  bool casts_scores = false;            // eager: to float32, for the softmax
  int returning_levels = 1;             // Builder::ReturnBeside, of the weights
  std::string_view attention = "sdpa";  // or "eager"
};

// q [b, h, s, d], k and v [b, h, t, d] -> [b, s, h, d], not yet row-major.
Tensor AttendPlainly(const Tensor& q, const Tensor& k, const Tensor& v,
                     const PlainAttentionCall& call);

// [b, s, width] seen as heads of `head_dim`: [b, h, s, d].
Tensor SplitHeads(const Tensor& x, int64_t head_dim);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PLAIN_ATTENTION_H_
