#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "analysis/checkpoint_surplus.h"
#include "rules/model_rules.h"

namespace foretell {

namespace {

// "lm_head.weight although it is tied (155,582,464)"
std::string Named(const SurplusItem& item) {
  return fmt::format("{} ({}{})", item.what, item.left_out ? "-" : "",
                     WithSeparators(std::llabs(item.Elements())));
}

// Figures that people write down end in zeros; a header's do not.
bool LooksRounded(int64_t published, int64_t derived) {
  constexpr int64_t kMillion = 1000000;
  constexpr int64_t kLeastShare = 100;  // within one part in a hundred
  return published % kMillion == 0 &&
         std::llabs(published - derived) < published / kLeastShare;
}

// What would be left after the items that the checkpoint should hold.
std::string Unexplained(int64_t published, int64_t derived,
                        const std::vector<SurplusItem>& items) {
  std::vector<std::string> named;
  int64_t expected = derived;
  for (const SurplusItem& item : items) {
    if (item.presence == SurplusPresence::kSometimes) continue;
    expected += item.Elements();
    named.push_back(Named(item));
  }
  if (named.empty()) return {};
  const int64_t rest = published - expected;
  return fmt::format("; a checkpoint should hold {} besides, which leaves {}{}",
                     fmt::join(named, " and "), rest < 0 ? "-" : "+",
                     WithSeparators(std::llabs(rest)));
}

}  // namespace

RuleOutcome RulePublishedTotal(const ModelRuleInput& input) {
  RuleOutcome out;
  const auto& catalogue = input.config->catalogue;
  if (!catalogue || !catalogue->published) {
    out.cannot_tell = "no published total is known for this configuration";
    return out;
  }
  if (!catalogue->asked.empty() && catalogue->asked != catalogue->id) {
    out.cannot_tell = "the published total is that of " + catalogue->id;
    return out;
  }
  if (!input.parameters->total.is_exact()) {
    out.cannot_tell = "the derived total is unknown";
    return out;
  }
  const int64_t derived = input.parameters->total.exact();
  const int64_t published = catalogue->published->parameters;
  if (derived == published) return out;
  Finding finding;
  finding.rule = "model/published-total";
  finding.severity = Severity::kWarn;
  finding.place.source = input.config->source;
  const double share =
      100.0 * (static_cast<double>(derived) - static_cast<double>(published)) /
      static_cast<double>(published);
  finding.what = fmt::format(
      "{} has {} parameters and the published total is {}: {}{} ({:+.3f} %)",
      input.class_name, WithSeparators(derived), WithSeparators(published),
      derived > published ? "+" : "", WithSeparators(derived - published),
      share);
  const std::vector<SurplusItem> items =
      CheckpointSurplus(*input.config, input.class_name, *input.parameters);
  if (const auto chosen = ExplainDifference(published - derived, items)) {
    std::vector<std::string> named;
    for (const size_t i : *chosen) named.push_back(Named(items[i]));
    finding.severity = Severity::kInfo;
    finding.why =
        fmt::format("that is what published checkpoints differ by, exactly: {}",
                    fmt::join(named, " and "));
  } else if (LooksRounded(published, derived)) {
    finding.severity = Severity::kInfo;
    finding.why = fmt::format("the published figure is a rounded one ({})",
                              catalogue->published->where);
  } else {
    finding.why = fmt::format(
        "the checkpoint holds other tensors than the class, or the figure is "
        "not a checkpoint's own ({}){}",
        catalogue->published->where, Unexplained(published, derived, items));
  }
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
