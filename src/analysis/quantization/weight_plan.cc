#include "analysis/quantization/weight_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/quantization/gguf_layout.h"
#include "analysis/quantization/gguf_names.h"
#include "base/checked.h"

namespace foretell {
namespace {

// A tensor's entry in safetensors' header beside its name:
// {"dtype":"BF16","shape":[4096,4096],"data_offsets":[0,33554432]} and what
// separates it; offsets of large files have twelve digits.
constexpr double kEntryBytes = 85;
constexpr double kEntryLeast = 60;
constexpr double kEntryMost = 110;

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

std::string_view WithoutWeight(std::string_view name) {
  constexpr std::string_view kWeight = ".weight";
  if (name.ends_with(kWeight)) name.remove_suffix(kWeight.size());
  return name;
}

// Matrices that no linear module holds, by their names.
bool IsTable(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kTables = {
      "embed",    "wte",   "wpe",  "relative_attention_bias",
      "position", "A_log", "norm", "conv1d",
      "codebook"};
  return std::ranges::any_of(
      kTables, [name](std::string_view part) { return Has(name, part); });
}

// Of a layer that predicts further tokens: published quantized checkpoints
// keep its own projection and head (deepseek-ai/DeepSeek-V3 has no scale for
// model.layers.61.eh_proj and shared_head.head).
bool IsOfFurtherPrediction(std::string_view name) {
  return Has(name, "eh_proj") || Has(name, "shared_head");
}

// One linear weight as the checkpoint has it.
struct Linear {
  std::string name;  // the module's, with its indices
  int64_t out = 0;
  int64_t in = 0;
  int64_t count = 1;
};

class Planner {
 public:
  explicit Planner(const WeightPlan& plan) : plan_(plan) {
    for (const NamePattern& pattern : plan.skipped) {
      by_block_ = by_block_ || pattern.SeesIndices();
    }
    for (const PackingRule& rule : plan.rules) {
      for (const NamePattern& pattern : rule.targets) {
        by_block_ = by_block_ || pattern.SeesIndices();
      }
    }
  }

  void Add(const TensorGroup& group) {
    const auto elements = group.Elements();
    if (!elements) {
      bytes_ = Bytes::Unknown("elements past 2^63 - 1");
      return;
    }
    out_.elements += *elements;
    if (plan_.cache_scales > 0 && group.name.ends_with("k_proj.weight")) {
      AddScalars(group.count * plan_.cache_scales);
    }
    if (AddFusedExperts(group)) return;
    if (!MayBePacked(group)) {
      Keep(group, group.count, true);
      return;
    }
    const auto& dims = group.shape.dims();
    const bool conv1d = plan_.class_name.starts_with("GPT2") ||
                        plan_.class_name.starts_with("OpenAIGPT");
    const bool turned = conv1d && Has(group.name, ".h.#.");
    const int64_t rows = turned ? dims[1] : dims[0];
    const int64_t columns = turned ? dims[0] : dims[1];
    ForEachBlock(group, [&](const std::string& name, int64_t count) {
      AddLinear(group, {name, rows, columns, count});
    });
  }

  PlannedWeight Of(const TensorGroup& weight, const std::string& module) const {
    PlannedWeight out;
    out.is_skipped = Fits(plan_.skipped, Spellings(module));
    if (!out.is_skipped && MayBePacked(weight)) out.packing = PackingOf(module);
    return out;
  }

  QuantizedWeights Take() && {
    out_.name = plan_.name;
    out_.assumed = plan_.assumed;
    for (const std::string& name : refused_) {
      out_.assumed.push_back(name + " stays: its sizes do not divide");
    }
    out_.tensors = bytes_;
    out_.stored = stored_;
    out_.memory = memory_;
    const double names = header_names_;
    const double entries = entries_;
    out_.file = bytes_ + Bytes::Estimated(
                             names + entries * kEntryBytes,
                             names + entries * kEntryLeast,
                             names + entries * kEntryMost,
                             "safetensors' header, by the number of tensors");
    out_.types = SortedTypes(std::move(types_));
    out_.kept.assign(kept_.begin(), kept_.end());
    return std::move(out_);
  }

 private:
  bool MayBePacked(const TensorGroup& group) const {
    if (group.shape.dims().size() != 2 || !group.name.ends_with(".weight")) {
      return false;
    }
    if (group.part == RegionKind::kEmbedding ||
        group.part == RegionKind::kNorm || IsTable(group.name) ||
        IsOfFurtherPrediction(group.name)) {
      return false;
    }
    const bool head = group.part == RegionKind::kHead ||
                      WithoutWeight(group.name).ends_with("lm_head");
    if (head) return plan_.packs_head;
    const bool router = group.part == RegionKind::kRouter ||
                        group.name.ends_with("mlp.gate.weight");
    if (router && !plan_.packs_routers) return false;
    if (IsTowerName(group.name) && !plan_.packs_towers) return false;
    return !plan_.only_blocks || Has(group.name, ".#.");
  }

  // Names with other prefixes that a configuration may use for the same.
  std::vector<std::string> Spellings(const std::string& name) const {
    constexpr std::string_view kNew = "model.language_model.";
    constexpr std::string_view kOld = "language_model.model.";
    std::vector<std::string> out = {name};
    if (name.starts_with(kNew)) {
      out.push_back(std::string(kOld) + name.substr(kNew.size()));
    } else if (name.starts_with("model.") &&
               plan_.class_name.starts_with("NemotronH")) {
      out.push_back("backbone." + name.substr(6));
    } else if (name.starts_with("model.")) {
      out.push_back("language_model." + name);
      out.push_back("model.language_model." + name.substr(6));
    } else if (name.starts_with("lm_head")) {
      out.push_back("language_model." + name);
    }
    return out;
  }

  static bool Fits(const std::vector<NamePattern>& patterns,
                   const std::vector<std::string>& names) {
    return std::ranges::any_of(patterns, [&](const NamePattern& pattern) {
      return std::ranges::any_of(names, [&](const std::string& name) {
        return pattern.Matches(name);
      });
    });
  }

  // Null where it stays.
  const Packing* PackingOf(const std::string& name) const {
    const std::vector<std::string> names = Spellings(name);
    if (Fits(plan_.skipped, names)) return nullptr;
    for (const PackingRule& rule : plan_.rules) {
      if (rule.targets.empty() || Fits(rule.targets, names)) {
        return &rule.packing;
      }
    }
    return nullptr;
  }

  // Calls `each` with the module's name and how many of it there are: once for
  // every block where patterns tell blocks apart, else once.
  template <typename Each>
  void ForEachBlock(const TensorGroup& group, const Each& each) const {
    const std::string name(WithoutWeight(group.name));
    const size_t at = name.find('#');
    if (at == std::string::npos) {
      each(name, group.count);
      return;
    }
    const auto named = [&](int64_t block) {
      std::string one =
          name.substr(0, at) + std::to_string(block) + name.substr(at + 1);
      for (size_t more = one.find('#'); more != std::string::npos;
           more = one.find('#')) {
        one[more] = '0';
      }
      return one;
    };
    const auto blocks = FirstIndices(group.indices, group.count);
    if (!by_block_ || blocks.empty()) {
      each(named(0), group.count);
      return;
    }
    for (const auto& [block, copies] : blocks) each(named(block), copies);
  }

  // [experts, a, b] -> every expert's linear weights.
  bool AddFusedExperts(const TensorGroup& group) {
    const auto& dims = group.shape.dims();
    if (dims.size() != 3 || !Has(group.name, "experts")) return false;
    if (plan_.experts == ExpertWeights::kKept) {
      Keep(group, group.count, true);
      return true;
    }
    const bool turned = plan_.class_name.starts_with("GptOss") ||
                        plan_.class_name.starts_with("Llama4");
    const int64_t out = turned ? dims[2] : dims[1];
    const int64_t in = turned ? dims[1] : dims[2];
    ForEachBlock(group, [&](const std::string& name, int64_t count) {
      const size_t dot = name.rfind('.');
      const std::string last = name.substr(dot + 1);
      const std::string expert = name.substr(0, dot) + ".0.";
      const bool apart = plan_.experts == ExpertWeights::kApart;
      if (!apart) {
        AddLinear(group, {name, out, in, count * dims[0]});
      } else if (last == "gate_up_proj") {
        for (const char* half : {"gate_proj", "up_proj"}) {
          AddLinear(group, {expert + half, out / 2, in, count * dims[0]});
        }
      } else {
        AddLinear(group, {expert + last, out, in, count * dims[0]});
      }
    });
    return true;
  }

  void AddLinear(const TensorGroup& group, const Linear& linear) {
    const Packing* packing = PackingOf(linear.name);
    if (packing == nullptr) {
      KeepElements(group, linear.out * linear.in, linear.count,
                   WithoutWeight(group.name).size());
      kept_.insert(group.name);
      return;
    }
    const auto tensors = PackLinear(linear.out, linear.in, *packing);
    if (tensors.empty()) {
      refused_.insert(group.name);
      KeepElements(group, linear.out * linear.in, linear.count,
                   group.name.size());
      kept_.insert(group.name);
      return;
    }
    for (const PackedTensor& tensor : tensors) {
      const Bytes all = tensor.bytes * linear.count;
      if (tensor.in_memory) memory_ += all;
      if (!tensor.in_file) continue;
      bytes_ += all;
      types_.push_back({tensor.dtype, all});
      const auto elements = tensor.counted > 0
                                ? std::optional<int64_t>(tensor.counted)
                                : tensor.shape.Elements();
      stored_ += Count::Exact(elements ? CheckedMul(*elements, linear.count)
                                       : std::nullopt);
      entries_ += static_cast<double>(linear.count);
      header_names_ +=
          static_cast<double>(linear.count) *
          static_cast<double>(linear.name.size() + 1 + tensor.suffix.size());
    }
  }

  void Keep(const TensorGroup& group, int64_t count, bool named) {
    const auto elements = group.shape.Elements();
    if (named && group.shape.dims().size() > 1) kept_.insert(group.name);
    KeepElements(group, elements.value_or(0), count, group.name.size());
  }

  void KeepElements(const TensorGroup& group, int64_t elements, int64_t count,
                    size_t name) {
    const auto all = CheckedMul(elements, count);
    // What the class itself holds in another dtype keeps it: a float32 bias
    // that corrects scores, a buffer of integers.
    const DType dtype =
        group.dtype == DType::kFloat32 || group.dtype == DType::kInt64
            ? group.dtype
            : plan_.dtype;
    const Bytes bytes =
        Bytes::Exact(all ? CheckedMul(*all, BytesOf(dtype)) : std::nullopt);
    bytes_ += bytes;
    memory_ += bytes;
    stored_ += Count::Exact(all);
    types_.push_back({std::string(SafetensorsName(dtype)), bytes});
    entries_ += static_cast<double>(count);
    header_names_ += static_cast<double>(count) * static_cast<double>(name);
  }

  void AddScalars(int64_t count) {
    const Bytes bytes = Bytes::Exact(count * BytesOf(DType::kFloat32));
    bytes_ += bytes;
    memory_ += bytes;
    stored_ += Count::Exact(count);
    types_.push_back({"F32", bytes});
    entries_ += static_cast<double>(count);
  }

  const WeightPlan& plan_;
  bool by_block_ = false;
  QuantizedWeights out_;
  Bytes bytes_;
  Bytes memory_;
  Count stored_;
  std::vector<TypeBytes> types_;
  std::set<std::string> kept_;
  std::set<std::string> refused_;
  double entries_ = 0;
  double header_names_ = 0;
};

}  // namespace

PlannedWeight PlanOfWeight(const WeightPlan& plan, const TensorGroup& weight,
                           const std::string& module) {
  return Planner(plan).Of(weight, module);
}

QuantizedWeights QuantizeByPlan(const std::vector<TensorGroup>& tensors,
                                const WeightPlan& plan) {
  Planner planner(plan);
  for (const TensorGroup& group : tensors) planner.Add(group);
  return std::move(planner).Take();
}

}  // namespace foretell
