// A decoder of whatever form below one of the usual heads: the family writes
// the base model, the rest is here.
//
// Source: transformers 5.23, models/{opt,gpt_neox,gptj,bloom,…}/modeling_*.py
// (ForCausalLM, ForSequenceClassification, ForTokenClassification,
// ForQuestionAnswering).
#ifndef FORETELL_MODELS_LAYERS_HEADED_DECODER_H_
#define FORETELL_MODELS_LAYERS_HEADED_DECODER_H_

#include <string_view>

#include "models/layers/decoder_head.h"
#include "models/layers/generation_cache.h"
#include "models/layers/linear.h"
#include "models/model.h"

namespace foretell {

class HeadedDecoder : public Model {
 public:
  Tensor Forward(const ForwardInputs& inputs) override;

 protected:
  // `base_name` is the base model's name below a head.
  HeadedDecoder(const Module& root, std::string_view base_name,
                const HeadConfig& head);
  // After the base model's parameters: the head's.
  void AddHead(const Embedding& embeddings, bool ties) {
    AddHead(embeddings.module, embeddings.weight, ties);
  }
  void AddHead(const Module& embeddings, ParameterId weight, bool ties);

  // The base model's forward: [b, s, width].
  virtual Tensor RunBase(const ForwardInputs& inputs,
                         GenerationCache& cache) const = 0;

  // StartCache with what this class does of itself: a class for answers takes
  // no use_cache, and some do not hand it on.
  GenerationCache StartCacheFor(const ForwardInputs& inputs) const;

  Module root_;
  Module base_;
  // The configuration's use_cache holds, but under checkpointing.
  bool fills_cache_ = false;

 private:
  HeadConfig head_config_;
  std::optional<DecoderHead> head_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_HEADED_DECODER_H_
