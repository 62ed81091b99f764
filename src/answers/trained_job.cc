#include "answers/trained_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "answers/served_job.h"
#include "base/lower_case.h"

namespace foretell {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TrainedCards CardsOf(const Device& device) {
  constexpr std::array<std::pair<std::string_view, TrainedCards>, 9> kArchs = {{
      {"Volta", TrainedCards::kVolta},
      {"Turing", TrainedCards::kTuring},
      {"Ampere", TrainedCards::kAmpere},
      {"Ada", TrainedCards::kAda},
      {"Hopper", TrainedCards::kHopper},
      {"Blackwell", TrainedCards::kBlackwell},
      {"CDNA", TrainedCards::kCdna},
      {"TPU", TrainedCards::kTpu},
      {"Neuron", TrainedCards::kNeuron},
  }};
  for (const auto& [part, cards] : kArchs) {
    if (Has(device.arch, part)) return cards;
  }
  if (device.id.starts_with("tpu")) return TrainedCards::kTpu;
  if (device.id.starts_with("trainium")) return TrainedCards::kNeuron;
  return TrainedCards::kOther;
}

std::optional<double> PeakOf(const Device& device, TrainedFormat format) {
  const auto find = [&](std::string_view name) -> std::optional<double> {
    const auto at = device.dense_tflops.find(std::string(name));
    if (at == device.dense_tflops.end()) return std::nullopt;
    return at->second * 1e12;
  };
  const auto half = find("bf16") ? find("bf16") : find("fp16");
  switch (format) {
    case TrainedFormat::kHalf:
      return half;
    case TrainedFormat::kFp32:
      return find("fp32");
    case TrainedFormat::kTf32:
      return find("tf32") ? find("tf32") : find("fp32");
    case TrainedFormat::kFp8:
    case TrainedFormat::kFp8Scaled:
      return find("fp8");
    case TrainedFormat::kFp4:
      return find("fp4");
  }
  return half;
}

// Of one card beyond its machine, bytes a second: one 400 Gbit/s port each
// from Hopper on, 200 with Ampere, 100 before.
// Source: NVIDIA DGX-1, DGX A100, DGX H100 and DGX B200 user guides.
double UsualNetwork(TrainedCards cards) {
  constexpr double kGbit = 1e9 / 8;
  switch (cards) {
    case TrainedCards::kVolta:
    case TrainedCards::kTuring:
      return 100 * kGbit;
    case TrainedCards::kAmpere:
      return 200 * kGbit;
    default:
      return 400 * kGbit;
  }
}

}  // namespace

TrainedFormat TrainedFormatOf(std::string_view words) {
  const std::string name = Lower(words);
  if (Has(name, "nf4")) return TrainedFormat::kHalf;
  if (Has(name, "fp4")) return TrainedFormat::kFp4;
  const bool is_eight = Has(name, "fp8") || Has(name, "float8");
  if (Has(name, "mx") || Has(name, "rowwise") || Has(name, "fine-grained")) {
    return TrainedFormat::kFp8Scaled;
  }
  if (is_eight || Has(name, "tensorwise")) return TrainedFormat::kFp8;
  const bool is_half = Has(name, "16");
  if (!is_half && Has(name, "32")) return TrainedFormat::kTf32;
  return TrainedFormat::kHalf;
}

std::variant<TrainedSetting, std::string> TrainedSettingOf(
    const TrainedRequest& in) {
  const Device& device = *in.device;
  TrainedSetting out;
  TrainedJob& job = out.job;
  job.shape = in.shape;
  job.format = in.format;
  job.loop = in.loop;
  job.cards = CardsOf(device);
  job.is_small_ampere = job.cards == TrainedCards::kAmpere &&
                        !device.memory_type.starts_with("HBM");
  const auto half = PeakOf(device, TrainedFormat::kHalf);
  if (!half) return std::string("the card's peak");
  job.peak_half = *half;
  const auto peak = PeakOf(device, in.format);
  if (!peak) return std::string("the card's peak in that format");
  job.peak = *peak;
  job.has_tf32 = device.dense_tflops.contains("tf32");
  if (!device.bandwidth_gbs) return std::string("the card's bandwidth");
  job.bandwidth = *device.bandwidth_gbs * 1e9;

  constexpr double kUnknownLink = 25e9;
  job.link = LinkOf(device).value_or(device.pcie_gbs.value_or(0) * 1e9);
  if (job.link <= 0) {
    job.link = kUnknownLink;
    out.assumed.emplace_back("cards of one machine reach 25 GB/s");
  }
  job.in_domain = static_cast<double>(device.per_node.value_or(8));
  // Rack-scale NVLink, and pods of TPUs, which have no other network.
  constexpr double kRack = 72;
  constexpr double kPod = 256;
  if (Has(device.link, "72-GPU")) job.in_domain = kRack;
  if (job.cards == TrainedCards::kTpu) job.in_domain = kPod;
  job.network =
      in.network_gbs > 0 ? in.network_gbs * 1e9 : UsualNetwork(job.cards);
  if (in.network_gbs <= 0) {
    out.assumed.push_back(
        fmt::format("beyond its machine a card reaches {:.0f} Gbit/s",
                    job.network * 8 / 1e9));
  }
  // Encoders keep nothing for later tokens: their attention is by width.
  if (job.shape.attention_width <= 0 && job.shape.kept_in_windows <= 0 &&
      !job.shape.is_recurrent) {
    job.shape.attention_width = 2 * job.shape.hidden * job.shape.layers;
    job.is_causal = false;
  }
  return out;
}

AnyFigure TrainedFigure(Unit unit, double value, const TrainedJob& job) {
  const TrainingSpread& spread = FittedTrainingSpread();
  double half = job.recomputed_stated ? spread.stated : spread.unstated;
  if (job.shape.expert_count > 1) half = std::max(half, spread.experts);
  std::string why = "constants fitted to measured runs";
  // No run on such cards was fitted.
  constexpr double kUnfitted = 2;
  if (job.cards == TrainedCards::kOther) {
    half *= kUnfitted;
    why += ", none on such a card";
  }
  return AnyFigure::Estimated(unit, value, value * std::exp(-half),
                              value * std::exp(half), why);
}

}  // namespace foretell
