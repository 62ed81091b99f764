// Marian: the translators of Helsinki-NLP, small BARTs with positions of sines.
//
// Source: transformers 5.23, models/marian/modeling_marian.py and
// configuration_marian.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bart_classes.h"

namespace foretell {
namespace {

constexpr std::array<BartClass, 3> kTable = {{
    {"MarianForCausalLM", BartHead::kCausalLm},
    {"MarianMTModel", BartHead::kLm},
    {"MarianModel", BartHead::kNone},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr BartDialect kDialect = {.form = {.places = BartPlaces::kFrozen,
                                           .scales_outside = true,
                                           .embedding_norm = false,
                                           .keeps_ones = true,
                                           .reuses_places = true},
                                  .vocabulary = 58101,
                                  .padding = 58100,
                                  .start = 58100,
                                  .labels = 2,
                                  .takes_null = false,
                                  .has_pairs = true};
constexpr BartRules kRules = {.shifts_inputs = false};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BartClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBartClass(config, root, *found, kDialect, kRules);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"marian"};

}  // namespace

extern const Family kMarianFamily = {
    .name = "marian",
    .title = "Marian",
    .doc =
        "BART's layers with positions of sines, for translation between two "
        "languages.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
