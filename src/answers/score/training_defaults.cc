#include "answers/score/training_defaults.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace foretell {
namespace {

struct Release {
  std::string_view date;
  std::string_view version;
};

// First releases of each minor version.
constexpr std::array<Release, 31> kReleases = {{
    {"2023-03-15", "4.27"}, {"2023-04-13", "4.28"}, {"2023-05-10", "4.29"},
    {"2023-06-08", "4.30"}, {"2023-07-17", "4.31"}, {"2023-08-22", "4.32"},
    {"2023-09-04", "4.33"}, {"2023-10-03", "4.34"}, {"2023-11-02", "4.35"},
    {"2023-12-11", "4.36"}, {"2024-01-22", "4.37"}, {"2024-02-21", "4.38"},
    {"2024-03-21", "4.39"}, {"2024-04-18", "4.40"}, {"2024-05-17", "4.41"},
    {"2024-06-27", "4.42"}, {"2024-07-23", "4.43"}, {"2024-08-06", "4.44"},
    {"2024-09-25", "4.45"}, {"2024-10-24", "4.46"}, {"2024-12-05", "4.47"},
    {"2025-01-10", "4.48"}, {"2025-02-17", "4.49"}, {"2025-03-21", "4.50"},
    {"2025-04-05", "4.51"}, {"2025-05-20", "4.52"}, {"2025-06-26", "4.53"},
    {"2025-07-25", "4.54"}, {"2025-08-05", "4.55"}, {"2025-08-29", "4.56"},
    {"2025-10-03", "4.57"},
}};
// Of the fifth major version the newest is followed.
constexpr std::string_view kFirstOfFive = "2026-01-26";

// Days, by months of thirty and a half; a month alone is its end.
std::optional<int> DayOf(std::string_view date) {
  constexpr size_t kMonth = 7;  // "2024-07"
  constexpr size_t kDay = 10;   // "2024-07-24"
  if (date.size() < kMonth || date[4] != '-') return std::nullopt;
  const auto number = [&](size_t at, size_t size) {
    int out = -1;
    std::from_chars(date.data() + at, date.data() + at + size, out);
    return out;
  };
  const int year = number(0, 4);
  const int month = number(5, 2);
  const bool has_day = date.size() >= kDay && date[kMonth] == '-';
  const int day = has_day ? number(8, 2) : 30;
  if (year < 2000 || month < 1 || day < 1) return std::nullopt;
  return year * 366 + month * 61 / 2 + day;
}

}  // namespace

std::string TransformersAt(std::string_view date) {
  const auto day = DayOf(date);
  if (!day) return {};
  constexpr int kLag = 42;
  if (*day - kLag >= DayOf(kFirstOfFive).value_or(0)) return {};
  std::string_view newest = kReleases.front().version;
  for (const Release& one : kReleases) {
    if (DayOf(one.date).value_or(0) <= *day - kLag) newest = one.version;
  }
  return std::string(newest);
}

BatchSizes SizesOfTool(std::string_view framework, std::string_view date) {
  const auto is = [&](std::string_view name) {
    return framework.find(name) != std::string_view::npos;
  };
  if (is("swift") && date < "2024-12") return BatchSizes::kManyAndEvaluation;
  for (const std::string_view name :
       {"torchtitan", "Megatron", "fms-acceleration", "peft ", "axolotl",
        "universal-llm-trainer", "nanochat", "timm", "Colossal",
        "Qwen finetune.py"}) {
    if (is(name)) return BatchSizes::kOne;
  }
  return BatchSizes::kMany;
}

SizesByDefault DefaultSizesOf(std::string_view framework) {
  if (framework.starts_with("ms-swift")) return {1, 2048};
  if (framework.starts_with("torchtitan")) return {1, 8192};
  return {};
}

ShardingByDefault ShardingOfTool(std::string_view framework,
                                 std::string_view date) {
  const auto is = [&](std::string_view name) {
    return framework.find(name) != std::string_view::npos;
  };
  if (is("torchtitan")) return {true, true, date >= "2025-08", true};
  if (is("torchtune")) return {true, false, false, true};
  if (is("litgpt")) return {false, false, false, false};
  for (const std::string_view name :
       {"HF ", "TRL", "axolotl", "swift", "LLaMA-Factory", "ccelerate"}) {
    if (is(name)) return {false, false, false, true};
  }
  return {};
}

bool RecomputesByDefault(std::string_view framework) {
  for (const std::string_view name :
       {"torchtune", "swift", "LLaMA-Factory", "nsloth", "torchtitan"}) {
    if (framework.find(name) != std::string_view::npos) return true;
  }
  return false;
}

std::optional<NamedOptimizer> OptimizerOf(std::string_view name) {
  struct Known {
    std::string_view name;
    NamedOptimizer optimizer;
  };
  constexpr std::array<Known, 28> kKnown = {{
      {"adamw_torch", {"adamw_foreach", ""}},
      {"adamw", {"adamw_foreach", ""}},
      {"adam", {"adamw_foreach", ""}},
      {"lora-fa", {"adamw_foreach", ""}},
      {"adamw (bf16 moments)", {"adamw_foreach", ""}},
      {"adamw, step in backward", {"adamw_foreach", ""}},
      {"adamw (cpu offload)", {"adamw_foreach", ""}},
      {"adamw fused", {"adamw_fused", ""}},
      {"adamw torch fused", {"adamw_fused", ""}},
      {"adamw_torch_fused", {"adamw_fused", ""}},
      {"adamw (fused and unfused gave the same)", {"adamw_fused", ""}},
      {"adam (distributed optimizer)", {"adamw_fused", ""}},
      {"adafactor", {"adafactor", ""}},
      {"sgd", {"none", "sgd_momentum"}},
      {"muon", {"none", "muon"}},
      {"muon + adam", {"none", "muon"}},
      {"muon + adamw", {"none", "muon"}},
      {"paged adamw", {"none", "paged_adamw"}},
      {"paged adamw (bnb)", {"none", "paged_adamw"}},
      {"paged_adamw_32bit", {"none", "paged_adamw"}},
      {"paged_adamw_8bit", {"none", "paged_adamw_8bit"}},
      {"adamw_bnb_8bit", {"none", "adamw_8bit"}},
      {"adamw bnb 8-bit", {"none", "adamw_8bit"}},
      {"adam 8bit (bnb)", {"none", "adamw_8bit"}},
      {"adamw 8bit", {"none", "adamw_8bit"}},
      {"adamw 8bit, step in backward", {"none", "adamw_8bit"}},
      {"adamw_torch_8bit", {"none", "adamw_torchao_8bit"}},
      {"adamw_torch_4bit", {"none", "adamw_torchao_4bit"}},
  }};
  const auto* const known = std::ranges::find(kKnown, name, &Known::name);
  if (known == kKnown.end()) return std::nullopt;
  return known->optimizer;
}

std::vector<std::string_view> ModulesOf(std::string_view framework,
                                        std::string_view name) {
  if (framework.find("litgpt") == std::string_view::npos) return {name};
  if (name == "q") return {"q_proj", "query_key_value"};
  if (name == "k") return {"k_proj"};
  if (name == "v") return {"v_proj"};
  if (name == "proj") return {"o_proj", "dense"};
  if (name == "mlp") return {"gate_proj", "up_proj", "down_proj", "fc1", "fc2"};
  return {};
}

std::vector<std::string> DefaultTargets() {
  return {"q_proj", "v_proj", "query_key_value", "c_attn", "qkv_proj"};
}

}  // namespace foretell
