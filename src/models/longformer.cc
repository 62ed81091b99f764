// Longformer: RoBERTa for long documents, whose tokens attend within windows,
// and some of them to all through projections of their own.
//
// Source: transformers 5.23, models/longformer/modeling_longformer.py and
// configuration_longformer.py.
// Does not model the forward, whose windows overlap in memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bert_layer.h"
#include "models/layers/check_fields.h"
#include "models/layers/read_bert.h"
#include "models/layers/roberta_layer.h"

namespace foretell {
namespace {

enum class LongformerHead {
  kNone,
  kMaskedLm,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct LongformerClass {
  std::string_view name;
  LongformerHead head;
};

// The first is what a file without architectures is loaded as.
constexpr std::array<LongformerClass, 6> kTable = {{
    {"LongformerForMaskedLM", LongformerHead::kMaskedLm},
    {"LongformerModel", LongformerHead::kNone},
    {"LongformerForSequenceClassification", LongformerHead::kSequence},
    {"LongformerForMultipleChoice", LongformerHead::kChoice},
    {"LongformerForTokenClassification", LongformerHead::kToken},
    {"LongformerForQuestionAnswering", LongformerHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

struct LongformerEmbeddings {
  LongformerEmbeddings(const Module& at, const BertConfig& config)
      : word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                        config.vocabulary, config.layer.hidden),
        token_type_embeddings(
            at.Child("token_type_embeddings", RegionKind::kEmbedding),
            config.types, config.layer.hidden),
        norm(at.Child("LayerNorm", RegionKind::kNorm), config.layer.hidden,
             config.layer.norm_epsilon),
        position_embeddings(
            at.Child("position_embeddings", RegionKind::kEmbedding),
            config.positions, config.layer.hidden) {
    word_embeddings.module.MarkInputEmbeddings();
  }

  Embedding word_embeddings;
  Embedding token_type_embeddings;
  LayerNorm norm;
  Embedding position_embeddings;
};

// Tokens that attend to all have queries, keys and values of their own.
struct LongformerAttention {
  LongformerAttention(const Module& at, const BertLayerConfig& config)
      : output(at.Child("output"), config, config.hidden) {
    const Module self = at.Child("self");
    for (const std::string_view name : {"query", "key", "value", "query_global",
                                        "key_global", "value_global"}) {
      projections.emplace_back(self.Child(name, RegionKind::kLinear),
                               config.hidden, config.hidden, true);
    }
  }

  std::vector<Linear> projections;
  BertOutput output;
};

struct LongformerLayer {
  LongformerLayer(const Module& at, const BertLayerConfig& config)
      : attention(at.Child("attention", RegionKind::kAttention), config),
        intermediate(at.Child("intermediate", RegionKind::kMlp), config),
        output(at.Child("output", RegionKind::kMlp), config,
               config.intermediate) {}

  LongformerAttention attention;
  BertIntermediate intermediate;
  BertOutput output;
};

class Longformer : public Model {
 public:
  Longformer(const Module& root, const BertConfig& config, LongformerHead head)
      : config_(config),
        root_(root),
        base_(head == LongformerHead::kNone ? root : root.Child("longformer")),
        embeddings_(base_.Child("embeddings"), config) {
    const Module list = base_.Child("encoder").Child("layer");
    for (int64_t index = 0; index < config.layers; ++index) {
      layers_.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    if (head == LongformerHead::kNone || head == LongformerHead::kChoice) {
      pooler_.emplace(base_.Child("pooler"), config.layer.hidden);
    }
    AddHead(head);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    root_.builder().Fail(
        "attention over windows that overlap in memory is not modelled");
    return inputs.input_ids;
  }

 private:
  void AddHead(LongformerHead head) {
    switch (head) {
      case LongformerHead::kNone:
        return;
      case LongformerHead::kMaskedLm:
        vocabulary_head_.emplace(root_.Child("lm_head", RegionKind::kHead),
                                 config_);
        if (config_.tie_embeddings) {
          vocabulary_head_->Tie(embeddings_.word_embeddings.weight, false);
        }
        return;
      case LongformerHead::kSequence:
        sequence_head_.emplace(root_.Child("classifier", RegionKind::kHead),
                               config_);
        return;
      case LongformerHead::kChoice:
        return AddClassifier("classifier", 1);
      case LongformerHead::kToken:
        return AddClassifier("classifier", config_.labels.count);
      case LongformerHead::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    classifier_.emplace(root_.Child(name, RegionKind::kHead),
                        config_.layer.hidden, out, true);
  }

  BertConfig config_;
  Module root_;
  Module base_;
  LongformerEmbeddings embeddings_;
  std::vector<LongformerLayer> layers_;
  std::optional<BertPooler> pooler_;
  std::optional<RobertaVocabularyHead> vocabulary_head_;
  std::optional<RobertaSequenceHead> sequence_head_;
  std::optional<Linear> classifier_;
};

void FindWindow(const ConfigView& config, std::string what, std::string fix) {
  config.Find("model/attention-window", Severity::kBlock, "attention_window",
              std::move(what), "the model refuses it as it is built",
              std::move(fix));
}

// One window of a layer each, or one for all.
void CheckWindows(const ConfigView& config, int64_t layers) {
  const ConfigValue* const stated = config.Raw("attention_window");
  std::vector<int64_t> windows = {512};
  if (stated != nullptr && stated->AsInteger()) {
    windows = {config.Whole({"attention_window"}, 512)};
  } else if (stated != nullptr) {
    const auto listed = config.IntegerList({"attention_window"});
    if (!listed) {
      config.Problem("attention_window", "a null where a window is wanted",
                     "\"attention_window\": 512");
      return;
    }
    windows = *listed;
    if (std::ssize(windows) != layers) {
      FindWindow(config,
                 fmt::format("attention_window has {} items, and there are {} "
                             "layers",
                             windows.size(), layers),
                 "give each layer one window");
    }
  }
  for (const int64_t window : windows) {
    if (window > 0 && window % 2 == 0) continue;
    FindWindow(
        config,
        fmt::format("a window of {} is not an even number above 0", window),
        "\"attention_window\": 512");
    return;
  }
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found =
      std::ranges::find(kTable, class_name, &LongformerClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const LongformerHead head = found->head;
  const BertConfig settings =
      ReadBert(config,
               {.activation = false,
                .labels = head == LongformerHead::kSequence ||
                          head == LongformerHead::kToken ||
                          head == LongformerHead::kAnswer,
                .classifier_dropout = false},
               {.padding = 1, .pads_positions = true, .decodes = false});
  CheckFields(config, {{"sep_token_id", FieldKind::kWhole, true},
                       {"onnx_export", FieldKind::kFlag}});
  CheckWindows(config, settings.layers);
  // What fairseq's files said; the class has one mode and one reach.
  config.Ignore({"attention_mode", "attention_dilation", "autoregressive",
                 "ignore_attention_mask", "is_decoder", "add_cross_attention"});
  auto model = std::make_unique<Longformer>(root, settings, head);
  StateBertLayers(settings, *model);
  model->context_length = {
      settings.padding && *settings.padding >= 0
          ? std::max<int64_t>(0, settings.positions - *settings.padding - 1)
          : settings.positions,
      "max_position_embeddings, without those up to pad_token_id"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"longformer"};

}  // namespace

extern const Family kLongformerFamily = {
    .name = "longformer",
    .title = "Longformer",
    .doc =
        "RoBERTa for long documents: tokens attend within a window, and some "
        "of them to all through projections of their own.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .has_operations = false,
};

}  // namespace foretell
