#include "answers/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace foretell {
namespace {

// tools/fit/run_shares.py, of published serving runs: 0.35 for the same model
// (94 cards with an engine), 0.06 to 0.15 for another (67).
constexpr double kSharedByModel = 0.35;
constexpr double kSharedByCard = 0.1;
// What two runs of the very same case differ by: deviation of the logarithm.
constexpr double kRepeat = 0.03;
// Half a 90 % interval, in deviations of a normal distribution.
constexpr double kHalf90 = 1.6448536269514722;
constexpr double kScale = 4;
// The nearest runs say it all; the system that is solved stays small.
constexpr size_t kMostUsed = 16;

constexpr std::array<RunFigureKind, 7> kKinds = {{
    {"ttft_ms", "First token", "ms", Unit::kSeconds, 1e-3},
    {"tpot_ms", "Further token", "ms", Unit::kSeconds, 1e-3},
    {"output_tok_s", "Output tokens/s", "tokens/s", Unit::kTokens, 1},
    {"step_ms", "Training step", "ms", Unit::kSeconds, 1e-3},
    {"allocated_gib", "Allocated", "GiB", Unit::kBytes, 1073741824.0},
    {"reserved_gib", "Reserved", "GiB", Unit::kBytes, 1073741824.0},
    {"device_gib", "On the device", "GiB", Unit::kBytes, 1073741824.0},
}};

// One run's word on a figure.
struct Evidence {
  double error = 0;  // logarithm of measured over predicted
  const MeasuredRun* run = nullptr;
  double measured = 0;   // as written
  double predicted = 0;  // the same unit
};

// `a` and `b` are what is predicted for each. Where it is the same for one
// model, it is one case, and all of the error is shared but what a repeat
// changes.
double SharedBy(const RunFacts& one, double a, const RunFacts& other,
                double b) {
  if (one.model != other.model) return kSharedByCard;
  constexpr double kSame = 1e-9;
  return std::abs(a - b) <= kSame * b ? 1 : kSharedByModel;
}

bool IsWithin(double a, double b) {
  return a > 0 && b > 0 && a / b <= kScale && b / a <= kScale;
}

// `prediction` is the wanted figure, as written.
std::vector<Evidence> EvidenceOn(const RunFigureKind& kind,
                                 const std::vector<KnownRun>& runs,
                                 const RunFacts& wanted, double prediction) {
  std::vector<Evidence> out;
  for (const KnownRun& known : runs) {
    if (!IsComparable(known.run.facts, wanted)) continue;
    const auto measured =
        std::ranges::find(known.run.figures, kind.name, &RunFigure::name);
    const auto predicted =
        std::ranges::find(known.predicted, kind.name, &PredictedFigure::name);
    if (measured == known.run.figures.end() ||
        predicted == known.predicted.end()) {
      continue;
    }
    const auto value = predicted->value.value();
    if (!value || *value <= 0) continue;
    const double written = *value / kind.scale;
    out.push_back({std::log(measured->value / written), &known.run,
                   measured->value, written});
  }
  // What is nearest first, the newest among them first.
  std::ranges::reverse(out);
  std::ranges::stable_sort(
      out, std::ranges::greater{}, [&](const Evidence& evidence) {
        return SharedBy(evidence.run->facts, evidence.predicted, wanted,
                        prediction);
      });
  if (out.size() > kMostUsed) out.resize(kMostUsed);
  return out;
}

// Solves a x = b for a positive definite `a`, which is used up.
std::vector<double> Solved(std::vector<std::vector<double>> a,
                           std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (size_t column = i; column < n; ++column) {
        a[row][column] -= factor * a[i][column];
      }
      b[row] -= factor * b[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t column = i + 1; column < n; ++column) {
      b[i] -= a[i][column] * b[column];
    }
    b[i] /= a[i][i];
  }
  return b;
}

struct Correction {
  double mean = 0;       // of the logarithm
  double deviation = 0;  // what is left of it
};

// `deviation` is the prediction's own.
Correction CorrectionBy(const std::vector<Evidence>& evidence,
                        const RunFacts& wanted, double prediction,
                        double deviation) {
  const double variance = deviation * deviation;
  std::vector<std::vector<double>> between(evidence.size());
  std::vector<double> to_wanted;
  std::vector<double> errors;
  for (size_t i = 0; i < evidence.size(); ++i) {
    const Evidence& one = evidence[i];
    to_wanted.push_back(
        SharedBy(one.run->facts, one.predicted, wanted, prediction) * variance);
    errors.push_back(one.error);
    for (size_t j = 0; j < evidence.size(); ++j) {
      const Evidence& other = evidence[j];
      between[i].push_back(i == j
                               ? variance + kRepeat * kRepeat
                               : SharedBy(one.run->facts, one.predicted,
                                          other.run->facts, other.predicted) *
                                     variance);
    }
  }
  const std::vector<double> weights = Solved(between, to_wanted);
  Correction out;
  double explained = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    out.mean += weights[i] * errors[i];
    explained += weights[i] * to_wanted[i];
  }
  out.deviation = std::sqrt(std::max(variance - explained, kRepeat * kRepeat));
  return out;
}

CalibratedFigure Calibrated(const PredictedFigure& figure,
                            const RunFigureKind& kind,
                            const std::vector<Evidence>& evidence,
                            const RunFacts& wanted) {
  const AnyFigure& any = figure.value;
  const double value = *any.value();
  const double deviation = std::log(*any.high() / *any.low()) / (2 * kHalf90);
  const Correction correction =
      CorrectionBy(evidence, wanted, value / kind.scale, deviation);
  const double best = value * std::exp(correction.mean);
  const double half = std::exp(kHalf90 * correction.deviation);
  const auto runs = static_cast<int64_t>(evidence.size());
  CalibratedFigure out;
  out.name = figure.name;
  out.at = figure.at;
  out.predicted = any;
  out.calibrated = AnyFigure::Estimated(
      any.unit(), best, best / half, best * half,
      runs == 1 ? "one run of yours" : fmt::format("{} runs of yours", runs));
  out.runs = runs;
  const Evidence& nearest = evidence.front();
  out.nearest = fmt::format("run {}, {}: {:.4g} {}, predicted {:.4g}",
                            nearest.run->id, nearest.run->facts.model,
                            nearest.measured, kind.unit, nearest.predicted);
  return out;
}

// Only what is uncertain and above zero can be corrected by a factor.
bool CanBeCorrected(const AnyFigure& any) {
  return !any.is_exact() && !any.is_unknown() && any.low() && any.high() &&
         *any.low() > 0 && *any.high() > *any.low();
}

}  // namespace

std::span<const RunFigureKind> RunFigureKinds() { return kKinds; }

const RunFigureKind* FindRunFigureKind(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &RunFigureKind::name);
  return found == kKinds.end() ? nullptr : &*found;
}

bool IsComparable(const RunFacts& run, const RunFacts& wanted) {
  return run.command == wanted.command && run.card == wanted.card &&
         run.manner == wanted.manner &&
         (run.model == wanted.model ||
          IsWithin(run.parameters, wanted.parameters)) &&
         IsWithin(static_cast<double>(run.cards),
                  static_cast<double>(wanted.cards));
}

std::vector<CalibratedFigure> CalibratedBy(const std::vector<KnownRun>& runs,
                                           const RunPrediction& prediction) {
  std::vector<CalibratedFigure> out;
  for (const PredictedFigure& figure : prediction.figures) {
    const RunFigureKind* kind = FindRunFigureKind(figure.name);
    if (kind == nullptr || !CanBeCorrected(figure.value)) continue;
    const std::vector<Evidence> evidence = EvidenceOn(
        *kind, runs, prediction.facts, *figure.value.value() / kind->scale);
    if (evidence.empty()) continue;
    out.push_back(Calibrated(figure, *kind, evidence, prediction.facts));
  }
  return out;
}

}  // namespace foretell
