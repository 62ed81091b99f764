#include "answers/scorecard.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace foretell {
namespace {

// Sets whose truth is arithmetic of an engine or the size of a file.
constexpr std::array<std::string_view, 5> kFormulas = {
    "weights_bytes", "gguf_bytes", "engine_kv", "engine_launches",
    "launch_failures"};

}  // namespace

bool IsFormula(std::string_view set) {
  return std::ranges::find(kFormulas, set) != kFormulas.end();
}

void AddScore(const ScoreAnswer& score, ScorecardAnswer& card) {
  for (const auto& [group, figures] : score.groups) {
    if (group.find('.') != std::string::npos) continue;
    card.lines.push_back({IsFormula(score.set) ? "formula" : "device",
                          score.set, group, score.rows, score.scored, figures});
  }
}

void AddVerify(const std::string& name, const VerifyAnswer& verified,
               ScorecardAnswer& card) {
  for (const auto& [field, tally] : verified.fields) {
    const auto share = [n = tally.n](int64_t count) {
      return n == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(n);
    };
    card.lines.push_back({"formula",
                          name,
                          field,
                          verified.rows,
                          verified.compared,
                          {{"n", static_cast<double>(tally.n)},
                           {"share_equal", share(tally.equal)},
                           {"share_0_5pct", share(tally.within_0_5pct)},
                           {"share_1pct", share(tally.within_1pct)}}});
  }
}

}  // namespace foretell
