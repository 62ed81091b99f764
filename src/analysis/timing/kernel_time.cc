#include "analysis/timing/kernel_time.h"

#include <algorithm>
#include <optional>
#include <variant>

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

KernelTime TimeOf(const TimedDevice& timed, const Runtime& /*runtime*/,
                  const KernelShape& shape) {
  const Device& device = timed.device;
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

}  // namespace foretell
