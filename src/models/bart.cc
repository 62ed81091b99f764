// BART: the encoder-decoder of facebook/bart and the summarizers and
// classifiers that were made from it.
//
// Source: transformers 5.23, models/bart/modeling_bart.py and
// configuration_bart.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bart_classes.h"

namespace foretell {
namespace {

constexpr std::array<BartClass, 5> kTable = {{
    {"BartForCausalLM", BartHead::kCausalLm},
    {"BartModel", BartHead::kNone},
    {"BartForConditionalGeneration", BartHead::kLm},
    {"BartForSequenceClassification", BartHead::kSequence},
    {"BartForQuestionAnswering", BartHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BartClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBartClass(config, root, *found, {}, {});
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bart"};

}  // namespace

extern const Family kBartFamily = {
    .name = "bart",
    .title = "BART",
    .doc =
        "An encoder and a decoder with cross attention, learned positions, "
        "biases, and a LayerNorm after each attention and feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
