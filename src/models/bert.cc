// BERT: the encoder of Google's BERT and of the many text embedders that share
// its class (BGE, GTE, E5, MiniLM, …).
//
// Source: transformers 5.23, models/bert/modeling_bert.py and
// configuration_bert.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/bert_layer.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"

namespace foretell {
namespace {

enum class BertHead {
  kNone,
  kPreTraining,
  kCausalLm,
  kMaskedLm,
  kNextSentence,
  kSequence,
  kChoice,
  kToken,
  kAnswer,
};

struct BertClass {
  std::string_view name;
  BertHead head;
  bool pooler;
};

constexpr std::array<BertClass, 9> kTable = {{
    {"BertLMHeadModel", BertHead::kCausalLm, false},
    {"BertModel", BertHead::kNone, true},
    {"BertForPreTraining", BertHead::kPreTraining, true},
    {"BertForMaskedLM", BertHead::kMaskedLm, false},
    {"BertForNextSentencePrediction", BertHead::kNextSentence, true},
    {"BertForSequenceClassification", BertHead::kSequence, true},
    {"BertForMultipleChoice", BertHead::kChoice, true},
    {"BertForTokenClassification", BertHead::kToken, false},
    {"BertForQuestionAnswering", BertHead::kAnswer, false},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

bool HasVocabularyHead(BertHead head) {
  return head == BertHead::kPreTraining || head == BertHead::kCausalLm ||
         head == BertHead::kMaskedLm;
}

struct BertConfig {
  BertLayerConfig layer;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t types = 0;
  int64_t layers = 0;
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

void CheckHeads(const ConfigView& config, const BertLayerConfig& layer) {
  // Another class's configuration has an embedding_size; with it, the rest of
  // the width goes unused.
  const bool tolerant = config.Raw("embedding_size") != nullptr;
  if (layer.hidden % layer.heads != 0 && !tolerant) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            layer.hidden, layer.heads),
                "BertSelfAttention refuses it as the model is built",
                "choose a number of heads that divides hidden_size");
  } else if (layer.hidden < layer.heads) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("num_attention_heads {} leaves nothing of "
                            "hidden_size {} for a head",
                            layer.heads, layer.hidden),
                "the class divides by a head's width of zero",
                "choose a number of heads that divides hidden_size");
  } else if (layer.hidden % layer.heads != 0) {
    config.Find("model/heads", Severity::kWarn, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            layer.hidden, layer.heads),
                "embedding_size lets the model be built, but its forward "
                "fails on the shapes",
                "choose a number of heads that divides hidden_size");
  }
}

BertLayerConfig ReadLayer(const ConfigView& config, int64_t layers,
                          BertHead head) {
  BertLayerConfig out;
  out.hidden = config.Size({"hidden_size"}, 768);
  out.heads = config.Size({"num_attention_heads"}, 12);
  out.head_dim = std::max<int64_t>(1, out.hidden / out.heads);
  out.intermediate = SizeOrEmpty(config, {"intermediate_size"}, 3072);
  const std::string activation = config.Text({"hidden_act"}, "gelu");
  if (layers > 0 || HasVocabularyHead(head)) {
    out.activation = ActivationNamed(config, "hidden_act", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_eps"}, 1e-12);
  out.hidden_dropout = ReadDropout(config, "hidden_dropout_prob", 0.1);
  out.attention_dropout =
      ReadDropout(config, "attention_probs_dropout_prob", 0.1);
  out.is_decoder = config.Flag({"is_decoder"}, false);
  out.cross_attention = config.Flag({"add_cross_attention"}, false);
  if (const ConfigValue* chunk = config.Raw("chunk_size_feed_forward")) {
    out.chunk = chunk->AsInteger().value_or(0);
  }
  if (layers == 0) return out;
  CheckHeads(config, out);
  if (out.cross_attention && !out.is_decoder) {
    config.Find(
        "model/cross-attention", Severity::kBlock, "add_cross_attention",
        "add_cross_attention is set, but is_decoder is not",
        "BertLayer refuses it as the model is built", "\"is_decoder\": true");
  }
  return out;
}

BertConfig ReadConfig(const ConfigView& config, BertHead head) {
  BertConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_eps", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"classifier_dropout", FieldKind::kNumber, true},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 30522);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 512);
  out.types = SizeOrEmpty(config, {"type_vocab_size"}, 2);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  out.layer = ReadLayer(config, out.layers, head);
  CheckPadding(config, out.vocabulary);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.classifier_dropout = out.layer.hidden_dropout;
  const bool drops = head == BertHead::kSequence || head == BertHead::kChoice ||
                     head == BertHead::kToken;
  if (drops && config.Has("classifier_dropout")) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0.1);
  }
  out.labels = ReadLabels(config, head == BertHead::kSequence ||
                                      head == BertHead::kToken ||
                                      head == BertHead::kAnswer);
  const bool reads_ahead = head == BertHead::kCausalLm && !out.layer.is_decoder;
  if (reads_ahead) {
    config.Find("model/is-decoder", Severity::kWarn, "is_decoder",
                "BertLMHeadModel predicts the next token, but is_decoder is "
                "not set",
                "its attention looks ahead, so that the loss means nothing; "
                "sizes are not affected",
                "\"is_decoder\": true");
  }
  // Positions are absolute whatever the file says since transformers 5; the
  // pooler and the directionality are those of Google's first files; the rest
  // is what embedders and their converters wrote.
  config.Ignore({"position_embedding_type", "directionality", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type", "embedding_size",
                 "model_max_length", "export_model_type", "classifier_dropout",
                 "pruned_heads", "add_pooling_layer"});
  return out;
}

class Bert : public Model {
 public:
  Bert(const Module& root, const BertConfig& config, const BertClass& which)
      : config_(config),
        head_(which.head),
        root_(root),
        base_(head_ == BertHead::kNone ? root : root.Child("bert")),
        embeddings_(base_.Child("embeddings"), config.layer, config.vocabulary,
                    config.positions, config.types),
        encoder_(base_.Child("encoder")) {
    const Module list = encoder_.Child("layer");
    for (int64_t index = 0; index < config.layers; ++index) {
      layers_.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    if (which.pooler) pooler_.emplace(base_.Child("pooler"), Hidden());
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor& labels = inputs.labels;
    if (head_ == BertHead::kChoice) return RunChoice(inputs);
    const auto [hidden, pooled] = RunBase(inputs.input_ids, inputs.attention);
    switch (head_) {
      case BertHead::kPreTraining: {
        // Without labels of the next sentence there is no loss.
        const Tensor logits = RunVocabularyHead(hidden);
        const Tensor relation = classifier_->Forward(pooled);
        return logits;
      }
      case BertHead::kCausalLm: {
        const Tensor logits = RunVocabularyHead(Alias(hidden));
        return labels.empty() ? logits : CausalLmLoss(logits, labels);
      }
      case BertHead::kMaskedLm: {
        const Tensor logits = RunVocabularyHead(hidden);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kNextSentence: {
        const Tensor logits = RunNextSentence(pooled);
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kSequence: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(pooled));
        return labels.empty() ? logits
                              : SequenceLoss(logits, labels, config_.labels);
      }
      case BertHead::kToken: {
        const Tensor logits = classifier_->Forward(dropout_->Forward(hidden));
        return labels.empty() ? logits : RowLoss(logits, labels);
      }
      case BertHead::kAnswer:
        return StartLogits(classifier_->Forward(hidden));
      case BertHead::kNone:
      case BertHead::kChoice:
        break;
    }
    return hidden;
  }

 private:
  int64_t Hidden() const { return config_.layer.hidden; }

  void AddHead() {
    if (HasVocabularyHead(head_)) AddVocabularyHead();
    switch (head_) {
      case BertHead::kPreTraining:
        classifier_.emplace(cls_->Child("seq_relationship"), Hidden(), 2, true);
        return;
      case BertHead::kNextSentence:
        cls_ = root_.Child("cls", RegionKind::kHead);
        classifier_.emplace(cls_->Child("seq_relationship"), Hidden(), 2, true);
        return;
      case BertHead::kSequence:
      case BertHead::kToken:
        return AddClassifier("classifier", config_.labels.count);
      case BertHead::kChoice:
        return AddClassifier("classifier", 1);
      case BertHead::kAnswer:
        return AddClassifier("qa_outputs", config_.labels.count);
      default:
        return;
    }
  }

  void AddClassifier(std::string_view name, int64_t out) {
    if (head_ != BertHead::kAnswer) {
      dropout_.emplace(root_.Child("dropout"), config_.classifier_dropout);
    }
    classifier_.emplace(root_.Child(name, RegionKind::kHead), Hidden(), out,
                        true);
  }

  // cls.predictions: a transform, a norm, and the decoder over the vocabulary,
  // whose weight and bias have two names each.
  void AddVocabularyHead() {
    cls_ = root_.Child("cls", RegionKind::kHead);
    const Module predictions = cls_->Child("predictions", RegionKind::kHead);
    const Module transform = predictions.Child("transform", RegionKind::kHead);
    transform_.emplace(transform, "transform_act_fn", Hidden(), Hidden(),
                       config_.layer.activation);
    transform_norm_.emplace(transform.Child("LayerNorm", RegionKind::kNorm),
                            Hidden(), config_.layer.norm_epsilon);
    decoder_.emplace(predictions.Child("decoder", RegionKind::kHead), Hidden(),
                     config_.vocabulary, true);
    const ParameterId bias =
        predictions.Parameter("bias", {config_.vocabulary});
    if (!config_.tie_embeddings) return;
    Builder& builder = root_.builder();
    builder.Tie(decoder_->weight, embeddings_.word_embeddings.weight);
    builder.Tie(*decoder_->bias, bias);
  }

  std::pair<Tensor, Tensor> RunBase(const Tensor& input_ids,
                                    std::string_view attention) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(input_ids);
    Tensor mask;
    if (config_.layer.is_decoder) {
      mask = CausalMask(embedded, Tensor(), attention, 0);
    }
    const Tensor hidden = RunEncoder(embedded, mask, attention);
    return {hidden, pooler_ ? pooler_->Forward(hidden) : Tensor()};
  }

  Tensor RunEncoder(Tensor hidden, const Tensor& mask,
                    std::string_view attention) const {
    const Scope scope = encoder_.Enter();
    for (const BertLayer& layer : layers_) {
      hidden = layer.Forward(hidden, mask, attention);
    }
    return hidden;
  }

  Tensor RunVocabularyHead(const Tensor& hidden) const {
    Tensor out = transform_->Forward(hidden);
    out = transform_norm_->Forward(out);
    return decoder_->Forward(out);
  }

  Tensor RunNextSentence(const Tensor& pooled) const {
    return classifier_->Forward(pooled);
  }

  // input_ids [b, choices, s]: each choice is a row.
  Tensor RunChoice(const ForwardInputs& inputs) const {
    const int64_t choices = inputs.input_ids.size(1);
    const Tensor rows = View(inputs.input_ids, {-1, inputs.input_ids.size(-1)});
    Tensor pooled = RunBase(rows, inputs.attention).second;
    pooled = dropout_->Forward(pooled);
    const Tensor logits = View(classifier_->Forward(pooled), {-1, choices});
    return inputs.labels.empty() ? logits : CrossEntropy(logits, inputs.labels);
  }

  BertConfig config_;
  BertHead head_;
  Module root_;
  Module base_;
  BertEmbeddings embeddings_;
  Module encoder_;
  std::vector<BertLayer> layers_;
  std::optional<BertPooler> pooler_;
  std::optional<Module> cls_;
  std::optional<BertDense> transform_;
  std::optional<LayerNorm> transform_norm_;
  std::optional<Linear> decoder_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> classifier_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BertClass::name);
  const BertConfig settings = ReadConfig(config, found->head);
  auto model = std::make_unique<Bert>(root, settings, *found);
  const BertLayerConfig& layer = settings.layer;
  model->stacks.push_back(
      {layer.is_decoder ? "decoder" : "encoder", settings.layers});
  for (int64_t index = 0; index < settings.layers; ++index) {
    LayerState state;
    if (layer.is_decoder) {
      state = {LayerState::Kind::kFull, layer.heads, layer.head_dim,
               layer.head_dim, 0};
    }
    model->states.push_back(state);
    state.kind = LayerState::Kind::kCross;
    if (layer.is_decoder && layer.cross_attention) {
      model->states.push_back(state);
    }
  }
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bert"};

}  // namespace

extern const Family kBertFamily = {
    .name = "bert",
    .title = "BERT",
    .doc =
        "An encoder with learned positions and segments and a LayerNorm after "
        "attention and feed-forward; a decoder where is_decoder is set.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
