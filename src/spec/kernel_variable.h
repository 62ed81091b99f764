// The numbers that kernel times are functions of, by the names that
// data/kernels and the measured tables have for them.
//
// Counts, bytes, or microseconds that the card's specification allows at
// least. tools/fit/kernels/tables.py has the same list.
#ifndef FORETELL_SPEC_KERNEL_VARIABLE_H_
#define FORETELL_SPEC_KERNEL_VARIABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace foretell {

enum class KernelVariable : uint8_t {
  kM,
  kN,
  kK,
  kWeights,  // bytes of them
  kL2,       // bytes of the card's cache
  kSm,       // the card's multiprocessors
  kBatch,
  kQHeads,
  kKvHeads,
  kHeadDim,
  kSeqLen,
  kSeen,  // keys that a query sees, on average
  kPastTokens,
  kWindow,
  kTokens,
  kHidden,
  kInter,
  kInner,  // of one rank
  kExperts,
  kTopk,
  kMoeTp,
  kMoeEp,
  kLocal,   // experts of one rank
  kRouted,  // pairs of token and expert on one rank
  kChosen,  // experts of the rank that any token chose
  kEach,    // tokens of one expert
  kSkew,
  kGpus,
  kMessageBytes,
  kArithmeticUs,
  kMemoryUs,
  kLinkUs,
  kTp,
  kRows,   // tokens of the step
  kPairs,  // of a token with one that it sees
  kCompressRatio,
  kDModel,
  kNumVHeads,
  kNumKHeads,
  kDState,
  kNheads,
  kNGroups,
  kChunkSize,
  kRank0NumTokens,
  kNumSlots,
  kNodes,
  kDispatchSms,
  kCombineSms,
  kCount,
};

inline constexpr size_t kKernelVariables =
    static_cast<size_t>(KernelVariable::kCount);

// "arithmetic_us"
std::string_view NameOf(KernelVariable variable);
std::optional<KernelVariable> KernelVariableNamed(std::string_view name);

// One value each; 0 where a kind has no such variable.
class KernelVariables {
 public:
  double& operator[](KernelVariable v) {
    return values_[static_cast<size_t>(v)];
  }
  double operator[](KernelVariable v) const {
    return values_[static_cast<size_t>(v)];
  }

 private:
  std::array<double, kKernelVariables> values_ = {};
};

}  // namespace foretell

#endif  // FORETELL_SPEC_KERNEL_VARIABLE_H_
