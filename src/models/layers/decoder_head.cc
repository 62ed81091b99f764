#include "models/layers/decoder_head.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

DecoderHead::DecoderHead(const Module& root, const HeadConfig& settings)
    : config(settings) {
  const auto add = [&](std::string_view name, int64_t out, bool bias) {
    projection.emplace(root.Child(name, RegionKind::kHead), config.hidden, out,
                       bias);
  };
  switch (config.kind) {
    case Head::kNone:
      return;
    case Head::kCausalLm:
      add(config.lm_name, config.vocabulary, config.lm_bias);
      projection->module.MarkOutputEmbeddings();
      return;
    case Head::kSequenceClassification:
      add("score", config.labels.count, false);
      return;
    case Head::kTokenClassification:
      dropout.emplace(root.Child("dropout"), config.token_dropout);
      add(config.token_name, config.labels.count, config.token_bias);
      return;
    case Head::kQuestionAnswering:
      add("qa_outputs", config.answer_ends, true);
      return;
  }
}

Tensor DecoderHead::Forward(const Tensor& hidden,
                            const ForwardInputs& inputs) const {
  const Tensor& labels = inputs.labels;
  switch (config.kind) {
    case Head::kNone:
      return hidden;
    case Head::kCausalLm: {
      constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
      const Tensor input = config.hidden_divisor
                               ? DivScalar(hidden, *config.hidden_divisor)
                               : hidden;
      Tensor logits = projection->Forward(
          inputs.prefill ? Slice(input, 1, -1, kToTheEnd) : Alias(input));
      if (config.logit_multiplier) {
        logits = MulScalar(std::move(logits), *config.logit_multiplier);
      }
      if (config.logit_softcap) {
        logits = SoftCap(std::move(logits), *config.logit_softcap);
      }
      if (config.logit_divisor) {
        logits = DivScalar(std::move(logits), *config.logit_divisor);
      }
      return Scored(logits, inputs, CausalLmLoss);
    }
    case Head::kSequenceClassification: {
      const Tensor logits = projection->Forward(hidden);
      const LastTokens at = LastOfRow(logits, inputs.input_ids, config.padding);
      inputs.Return(at.scores);
      return labels.empty() ? at.scores
                            : SequenceLoss(at.scores, labels, config.labels);
    }
    case Head::kTokenClassification: {
      const Tensor logits = projection->Forward(dropout->Forward(hidden));
      inputs.Return(logits);
      if (labels.empty()) return logits;
      return config.tokens_in_float ? TokenLoss(logits, labels)
                                    : RowLoss(logits, labels);
    }
    case Head::kQuestionAnswering:
      return StartLogits(projection->Forward(hidden), inputs);
  }
  return hidden;
}

}  // namespace foretell
