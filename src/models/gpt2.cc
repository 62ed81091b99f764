// GPT-2: the decoder of OpenAI's GPT-2 and of what was distilled or retrained
// from it.
//
// Source: transformers 5.23, models/gpt2/modeling_gpt2.py and
// configuration_gpt2.py.
#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/classification.h"
#include "models/layers/functional.h"
#include "models/layers/generation_cache.h"
#include "models/layers/heads.h"
#include "models/layers/positions.h"
#include "models/layers/read_gpt2.h"

namespace foretell {
namespace {

enum class Gpt2Head {
  kNone,
  kLm,
  kDouble,
  kSequence,
  kToken,
  kAnswer,
};

struct Gpt2Class {
  std::string_view name;
  Gpt2Head head;
};

constexpr std::array<Gpt2Class, 6> kTable = {{
    {"GPT2LMHeadModel", Gpt2Head::kLm},
    {"GPT2Model", Gpt2Head::kNone},
    {"GPT2DoubleHeadsModel", Gpt2Head::kDouble},
    {"GPT2ForSequenceClassification", Gpt2Head::kSequence},
    {"GPT2ForTokenClassification", Gpt2Head::kToken},
    {"GPT2ForQuestionAnswering", Gpt2Head::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

class Gpt2 : public Model {
 public:
  Gpt2(const Module& root, const Gpt2Config& config, Gpt2Head head)
      : config_(config),
        which_(head),
        root_(root),
        base_(head == Gpt2Head::kNone ? root : root.Child("transformer")),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.block.hidden),
        wpe_(base_.Child("wpe", RegionKind::kEmbedding), config.positions,
             config.block.hidden),
        drop_(base_.Child("drop"), config.embedding_dropout),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.block.hidden,
              config.block.norm_epsilon) {
    wte_.module.MarkInputEmbeddings();
    follows_mask = true;
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    GenerationCache cache;
    const Tensor hidden = RunBase(inputs, cache);
    const Tensor output = RunHead(hidden, inputs);
    // Of tokens and of answers the class returns an object without a cache.
    if (which_ != Gpt2Head::kToken && which_ != Gpt2Head::kAnswer) {
      ReturnCache(cache, inputs);
    }
    return output;
  }

 private:
  Tensor RunHead(const Tensor& hidden, const ForwardInputs& inputs) const {
    const Tensor& labels = inputs.labels;
    switch (which_) {
      case Gpt2Head::kNone:
        return hidden;
      case Gpt2Head::kLm: {
        const Tensor logits = head_->Forward(
            inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden));
        return Scored(logits, inputs, CausalLmLoss);
      }
      case Gpt2Head::kDouble:
        return RunDoubleHeads(hidden, inputs);
      case Gpt2Head::kSequence: {
        const Tensor logits = head_->Forward(hidden);
        const LastTokens at =
            LastOfRow(logits, inputs.input_ids, config_.padding);
        inputs.Return(at.scores);
        return labels.empty() ? at.scores
                              : SequenceLoss(at.scores, labels, config_.labels);
      }
      case Gpt2Head::kToken: {
        const Tensor logits = head_->Forward(dropout_->Forward(hidden));
        return Scored(logits, inputs, RowLoss);
      }
      case Gpt2Head::kAnswer:
        return StartLogits(head_->Forward(hidden), inputs);
    }
    return hidden;
  }

  static std::vector<Gpt2Block> MakeBlocks(const Module& list,
                                           const Gpt2Config& config) {
    std::vector<Gpt2Block> blocks;
    blocks.reserve(static_cast<size_t>(config.layers));
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block,
                          index);
    }
    return blocks;
  }

  void AddHead() {
    const int64_t labels = config_.labels.count;
    switch (which_) {
      case Gpt2Head::kNone:
        return;
      case Gpt2Head::kLm:
      case Gpt2Head::kDouble:
        AddLinear("lm_head", config_.vocabulary, false);
        head_->module.MarkOutputEmbeddings();
        if (config_.tie_embeddings) {
          root_.builder().Tie(head_->weight, wte_.weight);
        }
        if (which_ == Gpt2Head::kDouble) {
          summary_.emplace(
              root_.Child("multiple_choice_head", RegionKind::kHead),
              config_.summary, config_.block.hidden);
        }
        return;
      case Gpt2Head::kSequence:
        AddLinear("score", labels, false);
        return;
      case Gpt2Head::kToken:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        AddLinear("classifier", labels, true);
        return;
      case Gpt2Head::kAnswer:
        AddLinear("qa_outputs", 2, true);
        return;
    }
  }

  void AddLinear(std::string_view name, int64_t out, bool bias) {
    head_.emplace(root_.Child(name, RegionKind::kHead), config_.block.hidden,
                  out, bias);
  }

  Tensor RunBase(const ForwardInputs& inputs, GenerationCache& cache) const {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    if (inputs.HasCache() && config_.block.cross_attention) {
      builder.Fail(
          "the cache of a decoder with cross attention is not modelled");
    }
    // The one class whose forward takes no use_cache: the file's value holds,
    // but for checkpointing.
    cache = StartCache(builder, inputs, states,
                       which_ == Gpt2Head::kAnswer && config_.uses_cache &&
                           !builder.execution().checkpoint);
    const int64_t length = inputs.input_ids.size(1);
    if (config_.padding && inputs.attention_mask.empty()) {
      LookForPadding(inputs.input_ids);
    }
    const Tensor input_ids = View(inputs.input_ids, {-1, length});
    const Tensor embedded = wte_.Forward(input_ids);
    const Tensor position_ids = PositionIds(builder, length, inputs.past);
    const Tensor positions = wpe_.Forward(position_ids);
    Tensor hidden = Add(embedded, positions);
    // With a cache the library does not look for packed sequences.
    const auto make_mask = [&] {
      if (!inputs.attention_mask.empty()) {
        return CausalMaskOver(
            View(inputs.attention_mask, {embedded.size(0), -1}), embedded,
            inputs.attention, {.past = inputs.past});
      }
      return CausalMask(embedded,
                        cache.layers.empty() ? position_ids : Tensor(),
                        inputs.attention, 0, inputs.past);
    };
    const Tensor mask = make_mask();
    hidden = drop_.Forward(hidden);
    for (const Gpt2Block& block : blocks_) {
      hidden = block.Forward(hidden, mask, position_ids, inputs.attention,
                             cache.NextLayer());
    }
    hidden = ln_f_.Forward(hidden);
    return View(hidden, {-1, length, hidden.size(-1)});
  }

  // Looks at each row's ends, to warn where there may be padding.
  static void LookForPadding(const Tensor& input_ids) {
    const auto compare = [&] {
      const Tensor ends =
          Transfer(LiftFresh(input_ids.builder(), {2}, DType::kInt64));
      return Index(input_ids, std::span(&ends, 1), 1);
    };
    const Tensor ends = compare();
    Tensor found = EqScalar(ends, 0);
    found = Any(found);
    LocalScalar(found);
  }

  Tensor RunDoubleHeads(const Tensor& hidden,
                        const ForwardInputs& inputs) const {
    const Tensor& labels = inputs.labels;
    const Tensor logits = head_->Forward(hidden);
    const Tensor choices = SqueezeAxis(summary_->Forward(hidden), -1);
    inputs.Return(logits);
    inputs.Return(choices);
    if (labels.empty()) return logits;
    const Tensor shifted = Contiguous(Slice(logits, 1, 0, -1));
    return RowLoss(shifted, Contiguous(Slice(labels, 1, 1, kToTheEnd)));
  }

  Gpt2Config config_;
  Gpt2Head which_;
  Module root_;
  Module base_;
  Embedding wte_;
  Embedding wpe_;
  Dropout drop_;
  std::vector<Gpt2Block> blocks_;
  LayerNorm ln_f_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> head_;
  std::optional<Gpt2Summary> summary_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &Gpt2Class::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const Gpt2Head head = found->head;
  const Gpt2Config settings = ReadGpt2(
      config,
      {.labels = head == Gpt2Head::kSequence || head == Gpt2Head::kToken,
       .classifier_dropout = head == Gpt2Head::kToken,
       .summary = head == Gpt2Head::kDouble});
  auto model = std::make_unique<Gpt2>(root, settings, head);
  model->stacks.push_back({"decoder", settings.layers});
  const Gpt2BlockConfig& block = settings.block;
  for (int64_t index = 0; index < settings.layers; ++index) {
    LayerState state = {LayerState::Kind::kFull, block.heads, block.head_dim,
                        block.head_dim, 0};
    model->states.push_back(state);
    state.kind = LayerState::Kind::kCross;
    if (block.cross_attention) model->states.push_back(state);
  }
  model->context_length = {settings.positions, "n_positions"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gpt2"};

}  // namespace

extern const Family kGpt2Family = {
    .name = "gpt2",
    .title = "GPT-2",
    .doc =
        "A decoder with learned positions, LayerNorms before attention and "
        "feed-forward, and one projection for queries, keys and values.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
