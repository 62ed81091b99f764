// BERT: the encoder of Google's BERT and of the many text embedders that share
// its class (BGE, GTE, E5, MiniLM, …).
//
// Source: transformers 5.23, models/bert/modeling_bert.py and
// configuration_bert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bert_classes.h"

namespace foretell {
namespace {

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

struct BertBody {
  BertBody(const Module& at, const BertConfig& config)
      : embeddings(at.Child("embeddings"), config.layer, config.vocabulary,
                   config.positions, config.types),
        encoder(at.Child("encoder"), config.layer, config.layers) {}

  BertResults Forward(const Tensor& input_ids, std::string_view attention,
                      const Tensor& padding) const {
    const Tensor embedded = embeddings.Forward(input_ids);
    return encoder.Forward(embedded, attention, padding);
  }

  BertEmbeddings embeddings;
  BertEncoder encoder;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBertClass<BertBody>(
      config, root, ReadBert(config, NeedsOf(found->head)), *found);
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
