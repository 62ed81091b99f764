// What a family gives: a model that has registered its parameters, can run its
// forward, and states what generation keeps per layer.
//
// A model belongs to the builder it was made with and must not outlive it.
#ifndef FORETELL_MODELS_MODEL_H_
#define FORETELL_MODELS_MODEL_H_

#include <string>
#include <vector>

#include "graph/builder.h"
#include "spec/layer_state.h"

namespace foretell {

// Inputs of one training step or forward.
struct ForwardInputs {
  Tensor input_ids;  // [batch, seq] int64
  Tensor labels;     // [batch, seq] int64, [batch] for a class of sequences
  // What an encoder-decoder's decoder reads, where it is told; one token in a
  // decode, in which the encoder's output is there already.
  Tensor decoder_ids;
  // A full mask of padding [batch, past + seq] that the caller passes; empty
  // where it passes none. Of an encoder-decoder it is the encoder's.
  Tensor attention_mask;
  // Fills a generation cache, and gives the last token's logits only.
  bool prefill = false;
  // A class that holds this one takes no use_cache, so that a cache is filled
  // in training too, but under checkpointing.
  bool fills_cache = false;
  // Tokens that a filled cache holds when one more is decoded; 0: none.
  int64_t past = 0;
  std::string attention = "sdpa";      // "eager" or "sdpa"
  std::string experts = "grouped_mm";  // or "eager", one after another
  // Takes what the object that the class returns holds beside its loss: it
  // lives as long as the caller keeps that object. Null where nobody does.
  std::vector<Tensor>* returned = nullptr;

  // Takes the tensors of the generation cache that the class returns.
  std::vector<Tensor>* cache = nullptr;

  bool HasCache() const { return prefill || past > 0; }
  void Return(const Tensor& tensor) const {
    if (returned != nullptr && !tensor.empty()) returned->push_back(tensor);
  }
  void ReturnCache(const Tensor& tensor) const {
    Return(tensor);
    if (cache != nullptr) cache->push_back(tensor);
  }
};

class Model {
 public:
  virtual ~Model() = default;

  // Writes the forward pass and returns the loss, or the first output where
  // the class returns no loss.
  virtual Tensor Forward(const ForwardInputs& inputs) = 0;

  std::vector<LayerStack> stacks;
  // One per kept state, in the order of the layers: an encoder-decoder's layer
  // keeps two.
  std::vector<LayerState> states;
  ContextLength context_length;
  // What the class makes of a mask of padding is written out.
  bool follows_mask = false;
  // The class takes its decoder's tokens as an input of their own.
  bool takes_decoder_ids = false;
  // A class for the next token whose layers look ahead: a prefill gives the
  // last token's logits, but there is no cache to fill.
  bool runs_without_cache = false;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_MODEL_H_
