// M2M-100: the translators of M2M-100, NLLB and SMaLL-100, with mBART's order
// of norms and positions counted from the tokens.
//
// Source: transformers 5.23, models/m2m_100/modeling_m2m_100.py and
// configuration_m2m_100.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bart_classes.h"

namespace foretell {
namespace {

constexpr std::array<BartClass, 2> kTable = {{
    {"M2M100ForConditionalGeneration", BartHead::kLm},
    {"M2M100Model", BartHead::kNone},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr BartDialect kDialect = {.form = {.places = BartPlaces::kCounted,
                                           .embedding_norm = false,
                                           .last_norm = true},
                                  .norm_first = true,
                                  .clamps_half = true,
                                  .vocabulary = 128112,
                                  .activation = "relu",
                                  .attention_dropout = 0.1,
                                  .layer_drop = 0.05,
                                  .scales = true,
                                  .labels = 2,
                                  .takes_null = false};
constexpr BartRules kRules = {.logits_bias = false, .shifts_inputs = false};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BartClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBartClass(config, root, *found, kDialect, kRules);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"m2m_100"};

}  // namespace

extern const Family kM2m100Family = {
    .name = "m2m_100",
    .title = "M2M-100",
    .doc =
        "An encoder and a decoder whose norms come first, with positions of "
        "sines counted from the tokens, for translation between many "
        "languages.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
