// T5's stack of blocks: self attention, in a decoder cross attention, and a
// feed-forward, each behind a norm and added to its input.
//
// Source: transformers 5.23, models/t5/modeling_t5.py (T5DenseActDense to
// T5Block, T5Stack).
#ifndef FORETELL_MODELS_LAYERS_T5_STACK_H_
#define FORETELL_MODELS_LAYERS_T5_STACK_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/layers/dropout.h"
#include "models/layers/t5_attention.h"

namespace foretell {

// wi, or wi_0 and wi_1 whose products meet, then wo.
struct T5FeedForward {
  T5FeedForward(const Module& at, const T5LayerConfig& config);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear wi;
  std::optional<Linear> wi_1;
  Linear wo;
  Dropout dropout;
  ActivationModule act;
};

// What the blocks of a stack hand on.
struct T5BlockState {
  Tensor hidden;      // [b, s, width]
  Tensor bias;        // of self attention
  Tensor cross_bias;  // of cross attention
};

struct T5StackInputs {
  Tensor mask;            // of self attention; may be empty
  Tensor encoder_hidden;  // empty where there is no encoder
  EncoderDecoderCache* cache = nullptr;
  std::string_view attention = "sdpa";
};

struct T5Block {
  T5Block(const Module& at, const T5LayerConfig& config, bool is_decoder,
          bool is_first);
  void Forward(const T5StackInputs& inputs, size_t index,
               T5BlockState& state) const;

  Module module;

 private:
  // One of the block's residual branches: "layer.0" and so on.
  struct Branch {
    Branch(const Module& at, const T5LayerConfig& config,
           std::optional<T5Attention> attention_of);

    Module module;
    std::optional<T5Attention> attention;
    std::optional<T5FeedForward> feed_forward;
    T5Norm norm;
    Dropout dropout;
  };
  static std::vector<Branch> MakeBranches(const Module& at,
                                          const T5LayerConfig& config,
                                          bool is_decoder, bool is_first);
  // The call's bias takes what the layers after share.
  Tensor Attend(const Branch& branch, const Tensor& hidden,
                const Tensor& states, T5AttentionCall call, Tensor& bias) const;

  std::vector<Branch> layer_;
};

struct T5Stack {
  T5Stack(const Module& at, const T5LayerConfig& config, int64_t vocabulary,
          int64_t layers, bool in_decoder);
  // token ids [b, s] and, in a decoder, the encoder's output [b, t, width];
  // padding is the encoder's mask, or empty
  // -> [b, s, width]
  Tensor Forward(const Tensor& ids, const Tensor& encoder_hidden,
                 std::string_view attention, const Tensor& padding,
                 EncoderDecoderCache* cache = nullptr) const;

  Module module;
  bool is_decoder;
  Embedding embed_tokens;
  std::vector<T5Block> block;
  T5Norm final_layer_norm;
  Dropout dropout;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_T5_STACK_H_
