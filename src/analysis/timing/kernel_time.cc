#include "analysis/timing/kernel_time.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "analysis/timing/kernel_surface.h"
#include "analysis/timing/kernel_work.h"

namespace foretell {
namespace {

// Of the peak, of the bandwidth, and a kernel's fixed part, where nothing was
// measured: medians over the matrix products of ten systems lie near them
// (aiconfigurator's tables, commit 095f58a5; 0.55 to 0.85, 0.5 to 0.9, 2 to
// 10 us).
constexpr double kOfPeak = 0.7;
constexpr double kOfBandwidth = 0.8;
constexpr double kFixedUs = 4;
// The 90 % interval about such a time.
constexpr double kWide = 2;

constexpr double kMicro = 1e6;

// Cards that links join directly.
int64_t NodeOf(const Device& device, const Collective& shape) {
  if (shape.ranks_per_node > 0) return shape.ranks_per_node;
  return device.per_node.value_or(8);
}

// One direction, 1e9 bytes a second; nothing where it is not known.
std::optional<double> LinkOf(const Device& device, const Collective& shape) {
  if (shape.ranks > NodeOf(device, shape)) {
    if (shape.network_gbs <= 0) return std::nullopt;
    return shape.network_gbs;
  }
  if (device.link_gbs) return *device.link_gbs / 2;
  return device.pcie_gbs;
}

}  // namespace

std::string_view NameOf(Reach reach) {
  switch (reach) {
    case Reach::kInside:
      return "inside";
    case Reach::kNear:
      return "near the edge";
    case Reach::kOutside:
      break;
  }
  return "outside";
}

std::string_view NameOf(Limit limit) {
  switch (limit) {
    case Limit::kArithmetic:
      return "arithmetic";
    case Limit::kMemory:
      return "memory";
    case Limit::kCommunication:
      return "communication";
    case Limit::kLaunch:
      break;
  }
  return "launch";
}

namespace {

// What the specification allows at least, and a guess from it.
KernelTime SpecificationTime(const Device& device, const KernelShape& shape) {
  const KernelWork work = WorkOf(shape);
  KernelTime out;
  out.basis = "the card's specification";
  double links_us = 0;
  if (const auto* collective = std::get_if<Collective>(&shape)) {
    if (collective->ranks <= 1) return out;
    const auto link = LinkOf(device, *collective);
    if (!link) {
      out.missing = "the bandwidth between cards";
      return out;
    }
    links_us = work.link_bytes / (*link * 1e9) * kMicro;
  }
  if (work.flops > 0) {
    const double peak = PeakTflopsOf(device, work.dtype);
    if (peak <= 0) {
      out.missing = "the card's peak";
      return out;
    }
    out.arithmetic_us = work.flops / (peak * 1e12) * kMicro;
  }
  if (work.bytes > 0) {
    if (!device.bandwidth_gbs) {
      out.missing = "the card's memory bandwidth";
      return out;
    }
    out.memory_us = work.bytes / (*device.bandwidth_gbs * 1e9) * kMicro;
  }
  const double arithmetic = out.arithmetic_us / kOfPeak;
  const double memory = out.memory_us / kOfBandwidth;
  const double links = links_us / kOfBandwidth;
  const double longest = std::max({arithmetic, memory, links});
  out.us = kFixedUs + longest;
  out.low = std::max(out.us / kWide, std::max(out.arithmetic_us, links_us));
  out.high = out.us * kWide;
  if (longest > kFixedUs) {
    out.limit = longest == arithmetic ? Limit::kArithmetic
                : longest == memory   ? Limit::kMemory
                                      : Limit::kCommunication;
  }
  return out;
}

Limit LimitOf(const KernelModel& model, int part) {
  if (part < 0) return Limit::kLaunch;
  const KernelProduct& product = model.basis[static_cast<size_t>(part)];
  switch (product.multiplied.front()) {
    case KernelVariable::kMemoryUs:
    case KernelVariable::kM:
      return Limit::kMemory;
    case KernelVariable::kLinkUs:
    case KernelVariable::kMessageBytes:
      return Limit::kCommunication;
    default:
      return Limit::kArithmetic;
  }
}

Reach ReachOf(const SurfaceTime& time) {
  if (time.other_dtype || time.octaves_outside > 1) return Reach::kOutside;
  return time.octaves_outside > 0 ? Reach::kNear : Reach::kInside;
}

// Null where no table holds such kernels of the card.
const KernelModel* ModelOf(const KernelCoefficients* coefficients,
                           std::string_view kind) {
  if (coefficients == nullptr || kind.empty()) return nullptr;
  const auto at = coefficients->models.find(std::string(kind));
  return at == coefficients->models.end() ? nullptr : &at->second;
}

// The tables hold one machine's links.
bool LeavesTheMachine(const Device& device, const KernelShape& shape) {
  const auto* collective = std::get_if<Collective>(&shape);
  return collective != nullptr &&
         collective->ranks > NodeOf(device, *collective);
}

int64_t RepeatsOf(const KernelShape& shape) {
  const auto* pass = std::get_if<MemoryPass>(&shape);
  return pass == nullptr ? 1 : std::max<int64_t>(pass->kernels, 1);
}

}  // namespace

KernelTime TimeOf(const TimedDevice& timed, const Runtime& runtime,
                  const KernelShape& shape) {
  KernelTime out = SpecificationTime(timed.device, shape);
  if (!out.is_known() || LeavesTheMachine(timed.device, shape)) return out;
  if (const auto* collective = std::get_if<Collective>(&shape)) {
    if (collective->ranks <= 1) return out;
  }
  KernelPoint point = PointOf(shape, runtime.framework);
  const KernelModel* model = ModelOf(timed.own.get(), point.kind);
  const bool is_own = model != nullptr;
  if (!is_own) model = ModelOf(timed.any.get(), point.kind);
  if (model == nullptr || !Complete(timed, point)) return out;
  const SurfaceTime time =
      Evaluate(*model, runtime.framework, runtime.version, point);
  const auto repeats = static_cast<double>(RepeatsOf(shape));
  out.us = time.us * repeats;
  out.low = time.low * repeats;
  out.high = time.high * repeats;
  out.limit = LimitOf(*model, time.largest_part);
  out.reach = is_own ? ReachOf(time) : Reach::kOutside;
  out.basis = "other cards' measurements, by the specification";
  if (is_own) out.basis = time.series->basis;
  return out;
}

KernelTime TimeOfPoint(const TimedDevice& timed, const Runtime& runtime,
                       KernelPoint point) {
  KernelTime out;
  const KernelModel* model = ModelOf(timed.own.get(), point.kind);
  const bool is_own = model != nullptr;
  if (!is_own) model = ModelOf(timed.any.get(), point.kind);
  if (model == nullptr) {
    out.missing = "no such kernels were measured";
    return out;
  }
  if (!Complete(timed, point)) {
    out.missing = "the card's peak or bandwidth";
    return out;
  }
  const SurfaceTime time =
      Evaluate(*model, runtime.framework, runtime.version, point);
  out.us = time.us;
  out.low = time.low;
  out.high = time.high;
  out.limit = LimitOf(*model, time.largest_part);
  out.reach = is_own ? ReachOf(time) : Reach::kOutside;
  out.basis = time.series->basis;
  out.arithmetic_us = point.numbers[KernelVariable::kArithmeticUs];
  out.memory_us = point.numbers[KernelVariable::kMemoryUs];
  return out;
}

}  // namespace foretell
