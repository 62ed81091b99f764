#include <fmt/format.h>

#include "base/figure.h"
#include "rules/serve_rules.h"

namespace foretell {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// What is left reaches over what is needed, or comes near enough to it.
std::string DoubtOf(const ServeCacheFit& fit) {
  const std::string left = fmt::format(
      "{:.2f} to {:.2f} GiB", static_cast<double>(fit.left_low) / kGib,
      static_cast<double>(fit.left_high) / kGib);
  if (fit.needed_bytes <= 0) {
    return fmt::format("whether anything is left for the KV cache: {}", left);
  }
  return fmt::format(
      "whether one request of {} tokens finds its {:.2f} GiB of KV cache: {} "
      "are left{}",
      WithSeparators(fit.length), static_cast<double>(fit.needed_bytes) / kGib,
      left,
      fit.estimated_length > 0
          ? fmt::format("; {} tokens would fit in the likely amount",
                        WithSeparators(fit.estimated_length))
          : "");
}

}  // namespace

RuleOutcome RuleCacheFit(const ServeRule& rule, const ServeRuleInput& input) {
  RuleOutcome out;
  if (!input.cache) {
    out.cannot_tell = "how much memory is left for the KV cache";
    return out;
  }
  const ServeCacheFit& fit = *input.cache;
  const std::string left = fmt::format(
      "{:.2f} to {:.2f} GiB", static_cast<double>(fit.left_low) / kGib,
      static_cast<double>(fit.left_high) / kGib);
  if (!fit.missing.empty()) {
    out.cannot_tell = fit.missing;
    if (fit.has_left) out.cannot_tell += fmt::format("; {} are left", left);
    return out;
  }
  if (fit.fits) return out;
  if (!fit.fails) {
    out.cannot_tell = DoubtOf(fit);
    return out;
  }
  Finding finding;
  finding.rule = rule.id;
  finding.severity = Severity::kBlock;
  if (!fit.reason.empty()) {
    finding.what = "the layers cannot share a KV cache: " + fit.reason;
    finding.why = "the engine finds no layout of its cache for them";
  } else if (fit.left_high <= 0) {
    finding.what = "nothing is left for the KV cache";
    finding.why = "it ends with \"No available memory for the cache blocks\"";
    finding.fix = "a smaller model, more ranks, or fewer --max-num-seqs";
  } else if (fit.needed_bytes <= 0) {
    finding.what = fmt::format(
        "not one token finds its place in the KV cache: {} are left", left);
    finding.why = "it ends with \"No available memory for the cache blocks\"";
    finding.fix = "a smaller model, more ranks, or fewer --max-num-seqs";
  } else {
    finding.what = fmt::format(
        "one request of {} tokens takes {:.2f} GiB of KV cache, and {} are "
        "left",
        WithSeparators(fit.length),
        static_cast<double>(fit.needed_bytes) / kGib, left);
    finding.why = "it ends with \"larger than the available KV cache memory\"";
    if (fit.estimated_length > 0) {
      finding.fix = fmt::format("--max-model-len {}", fit.estimated_length);
    }
  }
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
