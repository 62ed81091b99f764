// PEGASUS: Google's summarizer, with mBART's order of norms and positions of
// sines.
//
// Source: transformers 5.23, models/pegasus/modeling_pegasus.py and
// configuration_pegasus.py.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "models/family.h"
#include "models/layers/bart_classes.h"

namespace foretell {
namespace {

constexpr std::array<BartClass, 3> kTable = {{
    {"PegasusForCausalLM", BartHead::kCausalLm},
    {"PegasusForConditionalGeneration", BartHead::kLm},
    {"PegasusModel", BartHead::kNone},
}};

constexpr auto kClasses = [] {
  std::array<std::string_view, kTable.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kTable[i].name;
  return names;
}();

constexpr BartDialect kDialect = {.form = {.places = BartPlaces::kFrozen,
                                           .scales_outside = true,
                                           .embedding_norm = false,
                                           .last_norm = true,
                                           .keeps_ones = true},
                                  .norm_first = true,
                                  .clamps_half = true,
                                  .padding = 0,
                                  .start = 0,
                                  .labels = 2,
                                  .takes_null = false};
constexpr BartRules kRules = {.shifts_inputs = false};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const auto found = std::ranges::find(kTable, class_name, &BartClass::name);
  FORETELL_CHECK(found != kTable.end(), "a class of another family");
  return BuildBartClass(config, root, *found, kDialect, kRules);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"pegasus"};

}  // namespace

extern const Family kPegasusFamily = {
    .name = "pegasus",
    .title = "PEGASUS",
    .doc =
        "An encoder and a decoder whose norms come first, with positions of "
        "sines, for summaries.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
