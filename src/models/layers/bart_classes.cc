#include "models/layers/bart_classes.h"

#include <limits>
#include <optional>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/shift_right.h"

namespace foretell {
namespace {

class Bart : public Model {
 public:
  Bart(const Module& root, const BartConfig& config, BartHead head,
       const BartRules& rules)
      : config_(config),
        rules_(rules),
        head_(head),
        root_(root),
        base_(head == BartHead::kNone ? root : root.Child("model")) {
    if (head != BartHead::kCausalLm) {
      if (config.shares_embeddings) {
        shared_.emplace(base_.Child("shared", RegionKind::kEmbedding),
                        config.encoder);
      }
      encoder_.emplace(base_.Child("encoder"), config.encoder);
    }
    decoder_.emplace(base_.Child("decoder"), config.decoder);
    AddHead();
    if (!config.tie_embeddings) return;
    Builder& builder = root.builder();
    const ParameterId words =
        shared_ ? shared_->weight : decoder_->embed_tokens.weight;
    if (shared_) {
      builder.Tie(encoder_->embed_tokens.weight, words);
      builder.Tie(decoder_->embed_tokens.weight, words);
    }
    const bool has_lm_head =
        head == BartHead::kLm || head == BartHead::kCausalLm;
    if (has_lm_head) builder.Tie(out_->weight, words);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    switch (head_) {
      case BartHead::kCausalLm: {
        EncoderDecoderCache cache =
            StartEncoderDecoderCache(root_.builder(), inputs, Sizes());
        const Tensor hidden = decoder_->Forward(
            inputs.input_ids, Tensor(), Tensor(), inputs.attention, cache);
        ReturnCache(cache, inputs);
        // What the decoder gives is sliced to the whole, or to its last token.
        const auto keep = [&] {
          constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
          return inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd)
                                : Alias(hidden);
        };
        const Tensor logits = out_->Forward(keep());
        return Scored(logits, inputs, RowLoss);
      }
      case BartHead::kLm:
        return RunLm(inputs);
      case BartHead::kSequence:
        root_.builder().Fail("which tokens end a sequence depends on the data");
        return inputs.input_ids;
      case BartHead::kAnswer:
        return StartLogits(out_->Forward(RunBase(inputs, Tensor())), inputs);
      case BartHead::kNone:
        break;
    }
    return RunBase(inputs, Tensor());
  }

 private:
  void AddHead() {
    const int64_t width = config_.decoder.layer.width;
    switch (head_) {
      case BartHead::kNone:
        return;
      case BartHead::kLm:
        if (rules_.logits_bias) {
          root_.Buffer("final_logits_bias", {1, config_.decoder.vocabulary},
                       root_.builder().dtype(), true);
          final_logits_bias_ = root_.builder().graph().buffers.back().value;
        }
        [[fallthrough]];
      case BartHead::kCausalLm:
        out_.emplace(root_.Child("lm_head", RegionKind::kHead), width,
                     config_.decoder.vocabulary, false);
        out_->module.MarkOutputEmbeddings();
        return;
      case BartHead::kSequence: {
        const Module at = root_.Child("classification_head", RegionKind::kHead);
        dense_.emplace(at.Child("dense", RegionKind::kHead), width, width,
                       true);
        out_.emplace(at.Child("out_proj", RegionKind::kHead), width,
                     config_.labels.count, true);
        return;
      }
      case BartHead::kAnswer:
        // Two ends, whatever number of labels the file states.
        out_.emplace(root_.Child("qa_outputs", RegionKind::kHead), width, 2,
                     true);
        return;
    }
  }

  Tensor Shift(const Tensor& ids) const {
    return rules_.shifts_around
               ? ShiftAround(ids, config_.padding)
               : ShiftRight(ids, config_.start, config_.padding);
  }

  EncoderDecoderSizes Sizes() const {
    const BartLayerConfig& layer = config_.decoder.layer;
    return {config_.decoder.layers, layer.heads, layer.head_dim, layer.width,
            encoder_.has_value(),   true};
  }

  // Without tokens of its own the decoder may read the encoder's, moved on by
  // one.
  Tensor RunBase(const ForwardInputs& inputs, Tensor ids) const {
    const Scope scope = base_.Enter();
    Builder& builder = root_.builder();
    if (ids.empty()) ids = inputs.decoder_ids;
    if (ids.empty() && (!rules_.shifts_inputs || inputs.past > 0)) {
      builder.Fail("the decoder has no tokens to read");
      return inputs.input_ids;
    }
    if (ids.empty()) ids = Shift(inputs.input_ids);
    EncoderDecoderCache cache =
        StartEncoderDecoderCache(builder, inputs, Sizes());
    const Tensor encoded =
        inputs.past > 0
            ? EncodedBefore(builder, inputs, Sizes())
            : encoder_->Forward(inputs.input_ids, inputs.attention_mask,
                                inputs.attention);
    inputs.Return(encoded);
    Tensor hidden = decoder_->Forward(ids, encoded, inputs.attention_mask,
                                      inputs.attention, cache);
    ReturnCache(cache, inputs);
    return hidden;
  }

  Tensor RunLm(const ForwardInputs& inputs) const {
    Tensor ids;
    if (!inputs.labels.empty()) ids = Shift(inputs.labels);
    const Tensor hidden = RunBase(inputs, ids);
    Tensor logits = out_->Forward(hidden);
    if (rules_.logits_bias) {
      logits = Add(logits, root_.builder().Read(final_logits_bias_));
    }
    return Scored(logits, inputs, RowLoss);
  }

  BartConfig config_;
  BartRules rules_;
  BartHead head_;
  Module root_;
  Module base_;
  std::optional<BartEmbedding> shared_;
  std::optional<BartEncoder> encoder_;
  std::optional<BartDecoder> decoder_;
  ValueId final_logits_bias_;
  std::optional<Linear> dense_;
  std::optional<Linear> out_;
};

// A decoder's layer keeps its own keys and values and, below an encoder, those
// of the encoder's output.
void StateLayers(const BartConfig& settings, bool has_encoder, Model& model) {
  const int64_t layers = settings.encoder.layers;
  if (has_encoder) {
    model.stacks.push_back({"encoder", layers});
    model.states.resize(static_cast<size_t>(layers));
  }
  model.stacks.push_back({"decoder", settings.decoder.layers});
  const BartLayerConfig& layer = settings.decoder.layer;
  LayerState state = {LayerState::Kind::kFull, layer.heads, layer.head_dim,
                      layer.head_dim, 0};
  for (int64_t index = 0; index < settings.decoder.layers; ++index) {
    state.kind = LayerState::Kind::kFull;
    model.states.push_back(state);
    state.kind = LayerState::Kind::kCross;
    if (has_encoder) model.states.push_back(state);
  }
}

}  // namespace

std::unique_ptr<Model> BuildBartClass(const ConfigView& config,
                                      const Module& root,
                                      const BartClass& which,
                                      const BartDialect& dialect,
                                      const BartRules& rules) {
  const bool has_encoder = which.head != BartHead::kCausalLm;
  BartConfig settings =
      ReadBart(config,
               {.encoder = has_encoder,
                .sequence_head = which.head == BartHead::kSequence},
               dialect);
  auto model = std::make_unique<Bart>(root, settings, which.head, rules);
  StateLayers(settings, has_encoder, *model);
  model->takes_decoder_ids = has_encoder;
  model->follows_mask = has_encoder;
  model->context_length = {settings.decoder.positions,
                           "max_position_embeddings"};
  return model;
}

}  // namespace foretell
