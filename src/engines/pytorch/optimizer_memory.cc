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
constexpr std::array<Rule, 8> kRules = {{
    {"adamw_8bit", 2, kBlockwise8, false},
    {"paged_adamw", 2, {.plain = 4}, true},
    {"paged_adamw_8bit", 2, kBlockwise8, true},
    {"adamw_torchao_8bit", 2, {8, 256, 4096, true, 0}, false},
    {"adamw_torchao_4bit", 2, {4, 128, 4096, true, 0}, false},
    {"lion", 1, {}, false},
    {"lion_8bit", 1, kBlockwise8, false},
    {"sgd_momentum", 1, {}, false},
}};
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

OptimizerMemory MuonOf(std::span<const TrainedTensor> tensors) {
  OptimizerMemory out;
  constexpr int64_t kCopies = 4;
  constexpr int64_t kCopyBytes = 2;
  for (const TrainedTensor& tensor : tensors) {
    const int64_t bytes = tensor.elements * BytesOf(tensor.dtype);
    out.states += tensor.is_matrix ? bytes : 2 * bytes;
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
  const auto rule = std::ranges::find(kRules, name, &Rule::name);
  if (rule == kRules.end()) return std::nullopt;
  OptimizerMemory out;
  for (const TrainedTensor& tensor : tensors) {
    (rule->managed ? out.managed : out.states) +=
        rule->moments * BytesOfMoment(rule->moment, tensor);
  }
  return out;
}

std::vector<std::string_view> OptimizersByRule() {
  std::vector<std::string_view> out;
  for (const Rule& rule : kRules) out.push_back(rule.name);
  out.push_back(kMuon);
  return out;
}

}  // namespace foretell
