// What a step of training costs beside its FLOPs and bytes: few constants, of
// families of cards, of kinds of loops and of all, fitted to measured runs.
//
// The values in training_constants.cc are written by tools/fit/
// training_speed.py, which holds the priors and prints how far off runs are
// whose source, framework, model or card was left out. Each constant is
// positive; shares are of what a maker states.
#ifndef FORETELL_ANALYSIS_TIMING_TRAINING_CONSTANTS_H_
#define FORETELL_ANALYSIS_TIMING_TRAINING_CONSTANTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace foretell {

enum class TrainingConstant : uint8_t {
  // Share of the half-precision peak in large products, by cards.
  kVolta,
  kTuring,
  kAmpere,
  kSmallAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kCdna,
  kTpu,
  kNeuron,
  kOther,
  // Times those, by loop.
  kEagerLoop,
  kCompiledLoop,
  kFusedLoop,
  kXlaLoop,
  kMegatron,
  // Share of the narrower format's peak beside half's.
  kFp32,  // cards without TF32
  kTf32,
  kFp8Hopper,
  kFp8Blackwell,
  kFp8Other,
  kFp8Scaled,  // times the above
  kFp4,
  kQuantize,    // bytes a token, layer and width forward, eight bits or fewer
  kHalfWidth,   // hidden size (of a rank) at which products are half as fast
  kHalfTokens,  // and tokens
  kAttention,   // share of the peak, times the card's
  kAttentionHalf,   // tokens of a sequence at which it is half as fast
  kAttentionNewer,  // FlashAttention 3 and 4
  kScores,          // bytes a score forward, where attention writes them out
  kAttentionOlder,  // the second FlashAttention on cards after Ampere
  kExperts,         // grouped products beside dense ones
  kExpertWidth,     // width of an expert's product at which it is half as fast
  kPasses,          // bytes a token, layer and width forward, eager
  kFusedPasses,     // a fused or compiled loop's beside it
  kRouted,          // bytes a token, layer and width of each expert chosen
  kLayerLaunch,     // seconds a layer forward, eager
  kExpertLaunch,    // a layer of experts besides
  kFusedLaunch,     // a fused or compiled loop's beside it
  kStep,            // seconds a step
  kLink,            // share of the links' bandwidth
  kNetwork,         // and of the network's
  kTensorShown,     // share of tensor collectives that nothing hides
  kExpertShown,
  kDataShown,
  kContextShown,
  kBubble,    // beside the formula's
  kScale,     // lost with each doubling of cards beyond eight
  kUnstated,  // share of the forward recomputed where nothing is said
  kUnstatedMegatron,
  kDrift,        // gained a year by Megatron's releases, dense models
  kExpertDrift,  // and models of experts
  kRack,         // cards of a rack-scale domain beside others of their kind
  kRackLaunch,   // and their hosts' launches
  kLaunchDrift,  // a year's gain of launches
  kRecurrent,    // share of the peak of recurrent mixers' layers
  kOffload,      // seconds a parameter of an optimizer on the host
  kLimited,      // of the clock under a power limit
  kDequantize,   // bytes moved a frozen weight of few bits, each use
  kCount,
};

inline constexpr size_t kTrainingConstants =
    static_cast<size_t>(TrainingConstant::kCount);

struct TrainingConstants {
  std::array<double, kTrainingConstants> values = {};

  double operator[](TrainingConstant which) const {
    return values[static_cast<size_t>(which)];
  }
};

// Names in the order of the enumeration, as the fit has them: "hopper".
std::string_view NameOf(TrainingConstant which);

const TrainingConstants& FittedTraining();

// Half width of the 90 % interval as a logarithm of a ratio, over runs whose
// source the fit had not seen.
struct TrainingSpread {
  double stated = 0;    // whether blocks are recomputed is known
  double unstated = 0;  // it is not: either
  double experts = 0;   // models of experts
};
const TrainingSpread& FittedTrainingSpread();

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_TRAINING_CONSTANTS_H_
