// ModernBERT: an encoder with rotary positions, of whose layers most look a
// short way, and the embedders that were made from it (GTE, …).
//
// Source: transformers 5.23, models/modernbert/modeling_modernbert.py and
// configuration_modernbert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/heads.h"
#include "models/layers/modernbert_layer.h"

namespace foretell {
namespace {

enum class ModernBertUse {
  kNone,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct ModernBertClass {
  std::string_view name;
  ModernBertUse use;
};

constexpr std::array<ModernBertClass, 6> kTable = {{
    {"ModernBertForMaskedLM", ModernBertUse::kMaskedLm},
    {"ModernBertModel", ModernBertUse::kNone},
    {"ModernBertForSequenceClassification", ModernBertUse::kSequence},
    {"ModernBertForMultipleChoice", ModernBertUse::kChoice},
    {"ModernBertForTokenClassification", ModernBertUse::kToken},
    {"ModernBertForQuestionAnswering", ModernBertUse::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

// How many marks each row has: [b, 1].
Tensor CountMarks(const Tensor& mask) {
  static constexpr OperationRow kRow = {
      .name = "aten.sum.dim_IntList",
      .doc = "Marks counted along the last axis, which stays as 1.",
      .infer = [](const OperationArguments& args,
                  std::vector<OperationOutput>& outputs) -> std::string {
        const Shape shape = {args.input(0).shape[0], 1};
        outputs.push_back({shape, {1, 1}, DType::kInt64, -1});
        return "";
      },
      .differentiable = Differentiable::kNo};
  return mask.builder().Emit(kRow, {mask});
}

class ModernBert : public Model {
 public:
  ModernBert(const Module& root, const ModernBertConfig& config,
             ModernBertUse use)
      : config_(config),
        use_(use),
        root_(root),
        body_(use == ModernBertUse::kNone ? root : root.Child("model"),
              config) {
    if (use == ModernBertUse::kNone) return;
    head_.emplace(root.Child("head", RegionKind::kHead), config);
    if (use == ModernBertUse::kMaskedLm) {
      out_.emplace(root.Child("decoder", RegionKind::kHead), config.width,
                   config.vocabulary, config.decoder_bias);
      out_->module.MarkOutputEmbeddings();
      if (config.tie_embeddings) {
        root.builder().Tie(out_->weight, body_.tok_embeddings.weight);
      }
      return;
    }
    const bool chooses = use == ModernBertUse::kChoice;
    drop_.emplace(root.Child("drop"), config.classifier_dropout);
    out_.emplace(root.Child("classifier", RegionKind::kHead), config.width,
                 chooses ? 1 : config.labels.count, true);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor& labels = inputs.labels;
    if (use_ == ModernBertUse::kChoice) {
      root_.builder().Fail("how a choice is pooled is not derived");
      return inputs.input_ids;
    }
    Tensor hidden = body_.Forward(inputs.input_ids, inputs.attention);
    switch (use_) {
      case ModernBertUse::kMaskedLm: {
        if (config_.sparse_prediction && !labels.empty()) {
          root_.builder().Fail(
              "which tokens are predicted depends on the data");
        }
        const Tensor logits = Score(hidden);
        return Scored(logits, inputs, MaskedLoss);
      }
      case ModernBertUse::kSequence: {
        Tensor mask;
        const Tensor pooled = Pool(hidden, mask);
        Tensor state = pooled;
        const Tensor logits = Classify(state);
        return Scored(logits, inputs, SequenceLoss, config_.labels);
      }
      case ModernBertUse::kToken: {
        Tensor state = hidden;
        const Tensor logits = Classify(state);
        return Scored(logits, inputs, RowLoss);
      }
      case ModernBertUse::kAnswer: {
        Tensor state = hidden;
        return StartLogits(Classify(state), inputs);
      }
      case ModernBertUse::kNone:
      case ModernBertUse::kChoice:
        break;
    }
    return hidden;
  }

 private:
  Tensor Score(const Tensor& hidden) const {
    const Tensor prepared = head_->Forward(hidden);
    return out_->Forward(prepared);
  }

  // The class gives each value the same name, which outlives the logits.
  Tensor Classify(Tensor& state) const {
    state = head_->Forward(state);
    state = drop_->Forward(state);
    return out_->Forward(state);
  }

  // `mask` is a name of the class, too: it stays.
  Tensor Pool(const Tensor& hidden, Tensor& mask) const {
    if (!config_.pools_mean) return Select(hidden, 1, 0);
    Builder& builder = root_.builder();
    mask = Ones(builder, {hidden.size(0), hidden.size(1)}, DType::kBool);
    const auto sum = [&] {
      const auto kept = [&] { return Mul(hidden, Unsqueeze(mask, -1)); };
      return SumOver(kept(), 1, /*keep=*/false);
    };
    const Tensor total = sum();
    return Div(total, CountMarks(mask));
  }

  static Tensor MaskedLoss(const Tensor& logits, const Tensor& labels) {
    const Tensor exact = To(logits, DType::kFloat32);
    const Tensor rows = View(exact, {-1, exact.size(-1)});
    return CrossEntropy(rows, View(labels, {-1}));
  }

  ModernBertConfig config_;
  ModernBertUse use_;
  Module root_;
  ModernBertBody body_;
  std::optional<ModernBertHead> head_;
  std::optional<Dropout> drop_;
  std::optional<Linear> out_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found =
      std::ranges::find(kTable, class_name, &ModernBertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const ModernBertUse use = found->use;
  const bool has_head = use != ModernBertUse::kNone;
  const bool classifies = has_head && use != ModernBertUse::kMaskedLm;
  const ModernBertConfig settings = ReadModernBert(
      config, {.head = has_head,
               .labels = classifies && use != ModernBertUse::kChoice,
               .classifier_dropout = classifies});
  auto model = std::make_unique<ModernBert>(root, settings, use);
  model->stacks.push_back({"encoder", settings.layers});
  model->states.resize(static_cast<size_t>(settings.layers));
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"modernbert"};

}  // namespace

extern const Family kModernBertFamily = {
    .name = "modernbert",
    .title = "ModernBERT",
    .doc =
        "An encoder with rotary positions, gated feed-forwards and norms that "
        "come first; most layers look a short way in both directions.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .reads_mask = true,
    .build = Build,
};

}  // namespace foretell
