// GPT-2: the decoder of OpenAI's GPT-2 and of what was distilled or retrained
// from it.
//
// Source: transformers 5.23, models/gpt2/modeling_gpt2.py and
// configuration_gpt2.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/functional.h"
#include "models/layers/gpt2_block.h"
#include "models/layers/gpt2_summary.h"
#include "models/layers/heads.h"

namespace foretell {
namespace {

enum class Gpt2Class {
  kBase,
  kLmHead,
  kDoubleHeads,
  kSequenceClassification,
  kTokenClassification,
  kQuestionAnswering,
};

constexpr std::array<std::string_view, 6> kClasses = {
    "GPT2LMHeadModel",
    "GPT2Model",
    "GPT2DoubleHeadsModel",
    "GPT2ForSequenceClassification",
    "GPT2ForTokenClassification",
    "GPT2ForQuestionAnswering"};
constexpr std::array kKinds = {Gpt2Class::kLmHead,
                               Gpt2Class::kBase,
                               Gpt2Class::kDoubleHeads,
                               Gpt2Class::kSequenceClassification,
                               Gpt2Class::kTokenClassification,
                               Gpt2Class::kQuestionAnswering};

struct Gpt2Config {
  Gpt2BlockConfig block;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  double embedding_dropout = 0;
  double classifier_dropout = 0.1;
  bool tie_embeddings = true;
  LabelConfig labels;
  std::optional<int64_t> padding;
  Gpt2SummaryConfig summary;
};

void ReadBlock(const ConfigView& config, int64_t layers, Gpt2BlockConfig& out) {
  out.hidden = config.Size({"hidden_size", "n_embd"}, 768);
  out.heads = config.Size({"num_attention_heads", "n_head"}, 12);
  out.head_dim = std::max<int64_t>(1, out.hidden / out.heads);
  if (layers > 0 && out.hidden % out.heads != 0) {
    config.Find("model/heads", Severity::kBlock, "n_head",
                fmt::format("n_embd {} is not a multiple of n_head {}",
                            out.hidden, out.heads),
                "GPT2Attention refuses it as the model is built",
                "choose a number of heads that divides n_embd");
  }
  // Null or absent: four times the width; zero stays zero.
  out.inner = config.Has("n_inner") ? config.SizeOrZero({"n_inner"}, 0)
                                    : 4 * out.hidden;
  const std::string activation =
      config.Text({"activation_function"}, "gelu_new");
  if (layers > 0) {
    out.activation = ActivationNamed(config, "activation_function", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.attention_dropout = ReadDropout(config, "attn_pdrop", 0.1);
  out.residual_dropout = ReadDropout(config, "resid_pdrop", 0.1);
  out.cross_attention = config.Flag({"add_cross_attention"}, false);
  out.scale_weights = config.Flag({"scale_attn_weights"}, true);
  out.scale_by_layer = config.Flag({"scale_attn_by_inverse_layer_idx"}, false);
  out.reorder_and_upcast = config.Flag({"reorder_and_upcast_attn"}, false);
}

Gpt2Config ReadConfig(const ConfigView& config, Gpt2Class kind) {
  Gpt2Config out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50257);
  out.positions =
      SizeOrEmpty(config, {"max_position_embeddings", "n_positions"}, 1024);
  out.layers = config.Layers({"num_hidden_layers", "n_layer"}, 12);
  ReadBlock(config, out.layers, out.block);
  out.embedding_dropout = ReadDropout(config, "embd_pdrop", 0.1);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.padding = config.OptionalInteger({"pad_token_id"});
  out.labels = ReadLabels(config, kind == Gpt2Class::kSequenceClassification ||
                                      kind == Gpt2Class::kTokenClassification);
  if (kind == Gpt2Class::kTokenClassification) {
    for (const std::string_view key :
         {"hidden_dropout", "classifier_dropout"}) {
      if (config.Has(key)) {
        out.classifier_dropout = ReadDropout(config, key, 0.1);
      }
    }
  }
  out.summary = ReadGpt2Summary(config, kind == Gpt2Class::kDoubleHeads);
  // n_ctx was the length of a mask that is no longer kept; the rest belongs to
  // GPT-1, to pruning, or to other classes' heads.
  config.Ignore({"n_ctx", "n_special", "predict_special_tokens", "pruned_heads",
                 "hidden_dropout", "classifier_dropout", "is_decoder"});
  return out;
}

class Gpt2 : public Model {
 public:
  Gpt2(const Module& root, const Gpt2Config& config, Gpt2Class kind)
      : config_(config),
        kind_(kind),
        root_(root),
        base_(kind == Gpt2Class::kBase ? root : root.Child("transformer")),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.block.hidden),
        wpe_(base_.Child("wpe", RegionKind::kEmbedding), config.positions,
             config.block.hidden),
        drop_(base_.Child("drop"), config.embedding_dropout),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.block.hidden,
              config.block.norm_epsilon) {
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor hidden = RunBase(inputs);
    const Tensor& labels = inputs.labels;
    switch (kind_) {
      case Gpt2Class::kBase:
        return hidden;
      case Gpt2Class::kLmHead: {
        const Tensor logits = head_->Forward(Alias(hidden));
        return labels.empty() ? logits : CausalLmLoss(logits, labels);
      }
      case Gpt2Class::kDoubleHeads:
        return RunDoubleHeads(hidden, labels);
      case Gpt2Class::kSequenceClassification: {
        const Tensor logits = head_->Forward(hidden);
        const Tensor last = LastOfRow(logits, inputs.input_ids);
        return labels.empty() ? last
                              : SequenceLoss(last, labels, config_.labels);
      }
      case Gpt2Class::kTokenClassification: {
        const Tensor logits = head_->Forward(dropout_->Forward(hidden));
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case Gpt2Class::kQuestionAnswering:
        return StartLogits(head_->Forward(hidden));
    }
    return hidden;
  }

 private:
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
    switch (kind_) {
      case Gpt2Class::kBase:
        return;
      case Gpt2Class::kLmHead:
      case Gpt2Class::kDoubleHeads:
        AddLinear("lm_head", config_.vocabulary, false);
        if (config_.tie_embeddings) {
          root_.builder().Tie(head_->weight, wte_.weight);
        }
        if (kind_ == Gpt2Class::kDoubleHeads) {
          summary_.emplace(
              root_.Child("multiple_choice_head", RegionKind::kHead),
              config_.summary, config_.block.hidden);
        }
        return;
      case Gpt2Class::kSequenceClassification:
        AddLinear("score", labels, false);
        return;
      case Gpt2Class::kTokenClassification:
        dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
        AddLinear("classifier", labels, true);
        return;
      case Gpt2Class::kQuestionAnswering:
        AddLinear("qa_outputs", 2, true);
        return;
    }
  }

  void AddLinear(std::string_view name, int64_t out, bool bias) {
    head_.emplace(root_.Child(name, RegionKind::kHead), config_.block.hidden,
                  out, bias);
  }

  Tensor RunBase(const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    const int64_t length = inputs.input_ids.size(1);
    const Tensor input_ids = View(inputs.input_ids, {-1, length});
    const Tensor embedded = wte_.Forward(input_ids);
    Tensor position_ids = AddScalar(Arange(base_.builder(), length), 0);
    position_ids = Unsqueeze(position_ids, 0);
    const Tensor positions = wpe_.Forward(position_ids);
    Tensor hidden = Add(embedded, positions);
    const Tensor mask = CausalMask(embedded, position_ids, inputs.attention, 0);
    hidden = drop_.Forward(hidden);
    for (const Gpt2Block& block : blocks_) {
      hidden = block.Forward(hidden, mask, inputs.attention);
    }
    hidden = ln_f_.Forward(hidden);
    return View(hidden, {-1, length, hidden.size(-1)});
  }

  Tensor RunDoubleHeads(const Tensor& hidden, const Tensor& labels) const {
    const Tensor logits = head_->Forward(hidden);
    const Tensor choices = SqueezeAxis(summary_->Forward(hidden), -1);
    if (labels.empty()) return logits;
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor shifted = Contiguous(Slice(logits, 1, 0, -1));
    return RowLoss(shifted, Contiguous(Slice(labels, 1, 1, kToTheEnd)));
  }

  // The logits [b, s, labels] of each row's last token that is no padding.
  Tensor LastOfRow(const Tensor& logits, const Tensor& input_ids) const {
    Builder& builder = logits.builder();
    const int64_t batch = input_ids.size(0);
    if (!config_.padding) {
      if (batch != 1) {
        builder.Fail("several sequences need pad_token_id, which is not set");
      }
      const Tensor rows[] = {Arange(builder, batch)};
      return Index(Select(logits, 1, -1), rows);
    }
    const Tensor kept =
        To(NeScalar(input_ids, static_cast<double>(*config_.padding)),
           DType::kInt32);
    const Tensor indices = Arange(builder, input_ids.size(-1), DType::kInt32);
    const Tensor last = Argmax(Mul(indices, kept), -1);
    const Tensor places[] = {Arange(builder, batch), last};
    return Index(logits, places);
  }

  Gpt2Config config_;
  Gpt2Class kind_;
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
  const auto found = std::ranges::find(kClasses, class_name);
  const Gpt2Class kind = kKinds[static_cast<size_t>(found - kClasses.begin())];
  const Gpt2Config settings = ReadConfig(config, kind);
  auto model = std::make_unique<Gpt2>(root, settings, kind);
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
    .build = Build,
};

}  // namespace foretell
