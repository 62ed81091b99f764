// The set `kernels`: measured kernel times, a curve a row.
//
// Quantities: one for each size of the curve's swept column, by its text
// ("4096"), and before it which of several times a table has ("combine@4096").
// The kernel's own name is a setting: it tells which of several ran.
//
// Points that tell nothing of the device are not compared: vLLM's fp8_block
// products from 0.22 on were timed without a graph, and below a millisecond
// the host's time is what was measured (the tables' README, 5.1); zeros are
// differences of two timings, or calls that did nothing.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/timing/kernel_time.h"
#include "answers/score/score_sets.h"

namespace foretell {
namespace {

// The column that a kind's curves sweep.
std::string_view SweptOf(std::string_view kind) {
  if (kind == "gemm" || kind == "quantize") return "m";
  if (kind == "collective" || kind == "allreduce_custom") {
    return "message_bytes";
  }
  if (kind.starts_with("linear_attention") || kind == "mamba2" ||
      kind == "sparse_part" || kind == "mla_wideep_sglang") {
    return "batch";
  }
  if (kind.ends_with("_decode") || kind == "dsv4_module_prefill") {
    return "past_tokens";
  }
  if (kind.ends_with("_prefill") || kind == "attention_encoder") {
    return "seq_len";
  }
  return "tokens";
}

// The times that a kind's points have: their names, and what precedes "_us"
// in the column's.
std::vector<std::string_view> TimesOf(std::string_view kind) {
  if (kind.starts_with("alltoall_deepep")) return {"dispatch", "combine"};
  return {"time"};
}

std::string QuantityOf(std::string_view time, std::string_view size) {
  if (time == "time") return std::string(size);
  return std::string(time) + "@" + std::string(size);
}

std::string_view GroupOf(std::string_view kind) {
  if (kind == "gemm") return "gemm";
  if (kind.starts_with("attention_") || kind == "mla_prefill" ||
      kind == "mla_decode") {
    return "attention";
  }
  if (kind.starts_with("moe")) return "moe";
  if (kind == "collective" || kind == "allreduce_custom" ||
      kind.starts_with("alltoall")) {
    return "communication";
  }
  return "other";
}

std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (end > 0) out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

std::optional<double> NumberOf(std::string_view text) {
  double out = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return out;
}

std::string TextOf(const ConfigValue& fields, std::string_view key) {
  const ConfigValue* value = fields.Find(key);
  if (value == nullptr) return "";
  return std::string(value->AsString().value_or(""));
}

// The first "0.22": a version's two numbers.
bool IsFrom(std::string_view version, int major, int minor) {
  const size_t dot = version.find('.');
  if (dot == version.npos) return false;
  const auto first = NumberOf(version.substr(0, dot));
  version.remove_prefix(dot + 1);
  const auto second = NumberOf(version.substr(0, version.find('.')));
  return first && second &&
         std::pair(*first, *second) >= std::pair<double, double>(major, minor);
}

bool IsHostTimed(const ConfigValue& fields) {
  return TextOf(fields, "kind") == "gemm" &&
         TextOf(fields, "framework") == "vllm" &&
         TextOf(fields, "dtype") == "fp8_block" &&
         IsFrom(TextOf(fields, "version"), 0, 22);
}

constexpr double kHostUs = 1000;

std::string Source(const KernelTime& time) {
  return std::string(NameOf(time.reach)) + ", " + std::string(time.basis);
}

}  // namespace

std::vector<Measured> MeasureKernels(const ConfigValue& row) {
  const std::string kind = TextOf(row, "kind");
  const std::string sizes = TextOf(row, SweptOf(kind));
  const std::vector<std::string_view> at = Items(sizes);
  const std::string group(GroupOf(kind));
  const bool host = IsHostTimed(row);
  std::vector<Measured> out;
  for (const std::string_view name : TimesOf(kind)) {
    const std::string times = TextOf(row, std::string(name) + "_us");
    const std::vector<std::string_view> us = Items(times);
    if (at.size() != us.size()) continue;
    for (size_t i = 0; i < at.size(); ++i) {
      const auto time = NumberOf(us[i]);
      if (!time || *time <= 0 || (host && *time < kHostUs)) continue;
      out.push_back(
          MeasuredNumber(QuantityOf(name, at[i]), *time * 1e-6, {group}));
    }
  }
  return out;
}

Prediction PredictKernels(const ScoreInput& input) {
  const ConfigValue& fields = input.settings.fields();
  const std::string kind = TextOf(fields, "kind");
  if (input.serving == nullptr) return LeftOut{"no card is known"};
  // Some rows of one system were measured on another.
  const std::string device = TextOf(fields, "device");
  std::shared_ptr<const TimedDevice> timed;
  if (!device.empty()) timed = input.serving->Timed(device);
  if (timed == nullptr && input.device != nullptr) {
    timed = input.serving->Timed(input.device->id);
  }
  if (timed == nullptr) return LeftOut{"the system is no known card"};
  KernelPoint point;
  point.kind = kind;
  const std::string_view swept = SweptOf(kind);
  // Words and numbers by the columns' names; columns of texts are words.
  for (const auto& [name, value] : fields.members()) {
    const std::string_view text = value.AsString().value_or("");
    const auto variable = KernelVariableNamed(name);
    if (name == swept) continue;
    if (!variable) {
      point.words.emplace_back(name, std::string(text));
      continue;
    }
    const auto number = NumberOf(text);
    if (number) point.numbers[*variable] = *number;
  }
  const Runtime runtime = {.framework = TextOf(fields, "framework"),
                           .version = TextOf(fields, "version")};
  const auto variable = KernelVariableNamed(swept);
  const std::string sizes = TextOf(fields, swept);
  const std::string ranks = TextOf(fields, "rank0_num_tokens");
  const std::vector<std::string_view> computed = Items(ranks);
  const std::vector<std::string_view> at = Items(sizes);
  std::vector<Predicted> out;
  for (const std::string_view name : TimesOf(kind)) {
    for (size_t i = 0; i < at.size(); ++i) {
      const auto size = NumberOf(at[i]);
      if (!size || !variable) continue;
      KernelPoint here = point;
      if (name != "time") here.words.emplace_back("op", std::string(name));
      here.numbers[*variable] = *size;
      if (i < computed.size()) {
        here.numbers[KernelVariable::kRank0NumTokens] =
            NumberOf(computed[i]).value_or(0);
      }
      const KernelTime time = TimeOfPoint(*timed, runtime, std::move(here));
      if (!time.is_known()) return LeftOut{std::string(time.missing)};
      out.push_back({.quantity = QuantityOf(name, at[i]),
                     .value = AnyFigure::Estimated(
                         Unit::kSeconds, time.us * 1e-6, time.low * 1e-6,
                         time.high * 1e-6, Source(time))});
    }
  }
  return out;
}

}  // namespace foretell
