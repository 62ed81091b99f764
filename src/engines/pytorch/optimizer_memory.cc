#include "engines/pytorch/optimizer_memory.h"

#include <algorithm>
#include <array>

namespace foretell {
namespace {

// A moment of a tensor: codes of `bits` with a float32 scale for every `block`
// elements; of tensors below `least`, or whose size does not divide where it
// must, elements of `plain` bytes (0: of the tensor's dtype).
struct Moment {
  int bits = 0;  // 0: not coded
  int64_t block = 1;
  int64_t least = 0;
  bool must_divide = false;
  int64_t plain = 0;
};

struct Rule {
  std::string_view name;
  int moments = 2;
  Moment moment;
  bool managed = false;
};

constexpr Moment kBlockwise8 = {8, 256, 4096, false, 4};
constexpr std::array<Rule, 13> kRules = {{
    {"adamw_bnb", 2, {.plain = 4}, false},
    {"adamw_8bit", 2, kBlockwise8, false},
    {"paged_adamw", 2, {.plain = 4}, true},
    {"paged_adamw_8bit", 2, kBlockwise8, true},
    {"ademamix_8bit", 3, kBlockwise8, false},
    {"adamw_torchao_8bit", 2, {8, 256, 4096, true, 0}, false},
    {"adamw_torchao_4bit", 2, {4, 128, 4096, true, 0}, false},
    {"adamw_torchao_fp8", 2, {8, 256, 4096, true, 0}, false},
    {"lion", 1, {}, false},
    {"lion_8bit", 1, kBlockwise8, false},
    {"paged_lion_8bit", 1, kBlockwise8, true},
    {"sgd_momentum", 1, {}, false},
    {"sgd_momentum_8bit", 1, kBlockwise8, false},
}};
constexpr std::string_view kGalore = "galore_adamw";
constexpr std::string_view kMuon = "muon";

int64_t BytesOfMoment(const Moment& moment, const TrainedTensor& tensor) {
  const int64_t plain =
      tensor.elements *
      (moment.plain != 0 ? moment.plain : BytesOf(tensor.dtype));
  if (moment.bits == 0 || tensor.elements < moment.least) return plain;
  const bool divides = tensor.elements % moment.block == 0;
  if (moment.must_divide && !divides) return plain;
  const int64_t scales = tensor.elements / moment.block + (divides ? 0 : 1);
  return (tensor.elements * moment.bits + 7) / 8 + scales * 4;
}

// Of a moment in managed memory what stays on the card: scales, and all of a
// tensor of fewer elements than this.
constexpr int64_t kLeastPaged = 100'000;

int64_t UnmanagedOf(const Moment& moment, const TrainedTensor& tensor) {
  const int64_t all = BytesOfMoment(moment, tensor);
  if (tensor.elements < kLeastPaged) return all;
  return moment.bits == 0 ? 0 : all - (tensor.elements * moment.bits + 7) / 8;
}

// Moments of a matrix live in a space of this rank, beside its basis; every
// 200 steps the basis comes from a decomposition of the whole float32 gradient.
OptimizerMemory GaloreOf(std::span<const TrainedTensor> tensors) {
  constexpr int64_t kRank = 128;
  constexpr int64_t kWide = 4;
  OptimizerMemory out;
  for (const TrainedTensor& tensor : tensors) {
    const int64_t size = BytesOf(tensor.dtype);
    if (!tensor.is_matrix || tensor.columns == 0) {
      out.states += 2 * tensor.elements * size * tensor.count;
      continue;
    }
    const int64_t rows = tensor.elements / tensor.columns;
    const int64_t small = std::min(rows, tensor.columns);
    const int64_t large = std::max(rows, tensor.columns);
    const int64_t rank = std::min(kRank, small);
    out.states += (2 * large + small) * rank * size * tensor.count;
    // The gradient in float32, and its thin factors.
    const int64_t factors = large * small + small * small + small;
    out.temporaries =
        std::max(out.temporaries, (tensor.elements + factors) * kWide);
  }
  return out;
}

OptimizerMemory MuonOf(std::span<const TrainedTensor> tensors) {
  OptimizerMemory out;
  constexpr int64_t kCopies = 4;
  constexpr int64_t kCopyBytes = 2;
  for (const TrainedTensor& tensor : tensors) {
    const int64_t bytes = tensor.elements * BytesOf(tensor.dtype);
    out.states += (tensor.is_matrix ? bytes : 2 * bytes) * tensor.count;
    if (!tensor.is_matrix) continue;
    out.temporaries =
        std::max(out.temporaries, tensor.elements * kCopyBytes * kCopies);
  }
  return out;
}

}  // namespace

std::optional<OptimizerMemory> OptimizerMemoryOf(
    std::string_view name, std::span<const TrainedTensor> tensors) {
  if (name == kMuon) return MuonOf(tensors);
  if (name == kGalore) return GaloreOf(tensors);
  const auto rule = std::ranges::find(kRules, name, &Rule::name);
  if (rule == kRules.end()) return std::nullopt;
  OptimizerMemory out;
  for (const TrainedTensor& tensor : tensors) {
    const int64_t times = rule->moments * tensor.count;
    const int64_t all = BytesOfMoment(rule->moment, tensor);
    const int64_t here =
        rule->managed ? UnmanagedOf(rule->moment, tensor) : all;
    out.states += here * times;
    out.managed += (all - here) * times;
  }
  return out;
}

std::vector<std::string_view> OptimizersByRule() {
  std::vector<std::string_view> out;
  for (const Rule& rule : kRules) out.push_back(rule.name);
  out.push_back(kMuon);
  out.push_back(kGalore);
  return out;
}

}  // namespace foretell
