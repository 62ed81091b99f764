// Megatron's BERT: BERT's classes over layers whose norms come first, as NVIDIA
// trained them and Erlangshen continued.
//
// Source: transformers 5.23, models/megatron_bert/modeling_megatron_bert.py and
// configuration_megatron_bert.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bert_classes.h"
#include "models/layers/megatron_bert_layer.h"

namespace foretell {
namespace {

constexpr std::array<BertClass, 9> kTable = {{
    {"MegatronBertForCausalLM", BertHead::kCausalLm, false},
    {"MegatronBertModel", BertHead::kNone, true},
    {"MegatronBertForPreTraining", BertHead::kPreTraining, true},
    {"MegatronBertForMaskedLM", BertHead::kMaskedLm, false},
    {"MegatronBertForNextSentencePrediction", BertHead::kNextSentence, true},
    {"MegatronBertForSequenceClassification", BertHead::kSequence, true},
    {"MegatronBertForMultipleChoice", BertHead::kChoice, true},
    {"MegatronBertForTokenClassification", BertHead::kToken, false},
    {"MegatronBertForQuestionAnswering", BertHead::kAnswer, false},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BertClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  const BertConfig settings = ReadBert(config, NeedsOf(found->head),
                                       {.vocabulary = 29056,
                                        .hidden = 1024,
                                        .layers = 24,
                                        .heads = 16,
                                        .intermediate = 4096,
                                        .classifier_dropout = ""});
  return BuildBertClass<MegatronBertBody>(config, root, settings, *found);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"megatron-bert"};

}  // namespace

extern const Family kMegatronBertFamily = {
    .name = "megatron_bert",
    .title = "Megatron BERT",
    .doc =
        "BERT's classes over layers whose norms come before attention and "
        "feed-forward; a decoder where is_decoder is set.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
