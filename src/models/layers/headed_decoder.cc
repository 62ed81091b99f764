#include "models/layers/headed_decoder.h"

namespace foretell {

HeadedDecoder::HeadedDecoder(const Module& root, std::string_view base_name,
                             const HeadConfig& head)
    : root_(root),
      base_(head.kind == Head::kNone ? root : root.Child(base_name)),
      head_config_(head) {}

void HeadedDecoder::AddHead(const Module& embeddings, ParameterId weight,
                            bool ties) {
  embeddings.MarkInputEmbeddings();
  head_.emplace(root_, head_config_);
  if (head_config_.kind == Head::kCausalLm && ties) {
    root_.builder().Tie(head_->projection->weight, weight);
  }
}

GenerationCache HeadedDecoder::StartCacheFor(
    const ForwardInputs& inputs) const {
  Builder& builder = root_.builder();
  const bool fills = fills_cache_ && !builder.execution().checkpoint;
  return StartCache(builder, inputs, states, fills);
}

Tensor HeadedDecoder::Forward(const ForwardInputs& inputs) {
  GenerationCache cache;
  const Tensor hidden = RunBase(inputs, cache);
  const Tensor output = head_->Forward(hidden, inputs);
  // The object of answers has no place for a cache.
  if (head_config_.kind != Head::kQuestionAnswering) {
    ReturnCache(cache, inputs);
  }
  return output;
}

}  // namespace foretell
