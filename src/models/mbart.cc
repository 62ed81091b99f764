// mBART: BART of many languages, for translation, with a norm before each
// attention and feed-forward and one behind the last layer.
//
// Source: transformers 5.23, models/mbart/modeling_mbart.py and
// configuration_mbart.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bart_classes.h"

namespace foretell {
namespace {

constexpr std::array<BartClass, 5> kTable = {{
    {"MBartForCausalLM", BartHead::kCausalLm},
    {"MBartModel", BartHead::kNone},
    {"MBartForConditionalGeneration", BartHead::kLm},
    {"MBartForSequenceClassification", BartHead::kSequence},
    {"MBartForQuestionAnswering", BartHead::kAnswer},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr BartDialect kDialect = {
    .form = {.last_norm = true, .keeps_ones = true, .reuses_places = true},
    .norm_first = true,
    .clamps_half = true,
    .start = std::nullopt,
    .labels = 2,
    .takes_null = false};
constexpr BartRules kRules = {.shifts_around = true};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BartClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBartClass(config, root, *found, kDialect, kRules);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mbart"};

}  // namespace

extern const Family kMbartFamily = {
    .name = "mbart",
    .title = "mBART",
    .doc =
        "BART of many languages: norms come before attention and feed-forward, "
        "and one behind the last layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
