#include "models/layers/sdpa_choice.h"

#include <gtest/gtest.h>

#include <string_view>

namespace foretell {
namespace {

using Kind = SdpaKernelKind;

constexpr DType kHalf = DType::kBFloat16;
constexpr DType kHalf16 = DType::kFloat16;
constexpr DType kFull = DType::kFloat32;

// One recorded choice: what torch 2.15 picked on a pretended card.
struct Case {
  std::string_view says;
  Kind picks;
  SdpaCall call;
};

// 32 queries and keys with a backward, unless said.
SdpaCall On(int capability, DType dtype, int64_t dim) {
  SdpaCall call;
  call.capability = capability;
  call.dtype = dtype;
  call.head_dim = dim;
  call.value_dim = dim;
  call.queries = 32;
  call.keys = 32;
  call.keeps = true;
  return call;
}

SdpaCall Values(SdpaCall call, int64_t dim) {
  call.value_dim = dim;
  return call;
}

SdpaCall Dropping(SdpaCall call, double probability) {
  call.dropout = probability;
  return call;
}

SdpaCall Causal(SdpaCall call, int64_t queries, int64_t keys) {
  call.causal = true;
  call.queries = queries;
  call.keys = keys;
  return call;
}

SdpaCall Masked(SdpaCall call, bool learns = false) {
  call.has_mask = true;
  call.learns_mask = learns;
  return call;
}

SdpaCall NoBackward(SdpaCall call) {
  call.keeps = false;
  return call;
}

const Case kCases[] = {
    {"no fused kernel takes bfloat16", Kind::kMath, On(75, kHalf, 64)},
    {"float16 does", Kind::kEfficient, On(75, kHalf16, 64)},
    {"but in whole 16 bytes", Kind::kMath, On(75, kHalf16, 66)},
    {"float32 of any width", Kind::kEfficient, On(75, kFull, 257)},
    {"flash from sm80 on", Kind::kFlash, On(80, kHalf, 64)},
    {"flash pads", Kind::kFlash, On(80, kHalf, 66)},
    {"flash has no mask", Kind::kEfficient, Masked(On(80, kHalf, 64))},
    {"nor has float32 flash", Kind::kEfficient, On(80, kFull, 64)},
    {"float32 fills 16 bytes", Kind::kMath, On(80, kFull, 66)},
    {"flash ends at 256", Kind::kEfficient, On(80, kHalf, 264)},
    {"flash wants one width", Kind::kEfficient,
     Values(On(80, kHalf, 192), 128)},
    {"causal flash is square", Kind::kEfficient,
     Causal(On(80, kHalf, 64), 1, 32)},
    {"wide backward on sm80", Kind::kFlash, On(80, kHalf, 224)},
    {"no wide backward on sm86", Kind::kEfficient, On(86, kHalf, 200)},
    {"nor on sm89", Kind::kEfficient, On(89, kHalf, 224)},
    {"nor on sm120", Kind::kEfficient, On(120, kHalf, 224)},
    {"256 on sm89", Kind::kFlash, On(89, kHalf, 256)},
    {"256 with dropout on sm89", Kind::kEfficient,
     Dropping(On(89, kHalf, 256), 0.1)},
    {"wide forward on sm89", Kind::kFlash, NoBackward(On(89, kHalf, 224))},
    {"cuDNN first on sm90", Kind::kCudnn, On(90, kHalf, 64)},
    {"cuDNN takes a mask", Kind::kCudnn, Masked(On(90, kHalf, 64))},
    {"but none that learns", Kind::kEfficient, Masked(On(90, kHalf, 64), true)},
    {"cuDNN drops sixteenths only", Kind::kFlash,
     Dropping(On(90, kHalf, 64), 0.1)},
    {"a quarter is four", Kind::kCudnn, Dropping(On(90, kHalf, 64), 0.25)},
    {"but not of one query", Kind::kEfficient,
     Dropping(Causal(On(90, kHalf, 64), 1, 32), 0.25)},
    {"cuDNN wants two keys", Kind::kFlash, Causal(On(90, kHalf, 64), 1, 1)},
    {"cuDNN in multiples of 8", Kind::kFlash, On(90, kHalf, 66)},
    {"cuDNN has few wide backwards", Kind::kFlash, On(90, kHalf, 136)},
    {"one of 192 and 128", Kind::kCudnn, Values(On(90, kHalf, 192), 128)},
    {"and one of 256", Kind::kCudnn, On(90, kHalf, 256)},
    {"any forward to 256", Kind::kCudnn, NoBackward(On(90, kHalf, 136))},
    {"cuDNN first on sm100", Kind::kCudnn, On(100, kHalf16, 128)},
    {"cuDNN last on sm120", Kind::kFlash, On(120, kHalf, 128)},
};

TEST(SdpaChoice, AsRecorded) {
  for (const Case& one : kCases) {
    EXPECT_EQ(ChooseSdpaKernel(one.call), one.picks) << one.says;
  }
}

TEST(SdpaChoice, TellsWhatTheKernelsBeforeItRefuse) {
  EXPECT_EQ(WhySdpaKernel(Kind::kCudnn, On(90, kHalf, 64)),
            "the first that it asks");
  EXPECT_EQ(WhySdpaKernel(Kind::kFlash, On(80, kHalf, 64)),
            "cuDNN's goes first on sm90 and sm100 to sm106 only");
  EXPECT_EQ(WhySdpaKernel(Kind::kEfficient, On(90, kFull, 64)),
            "cuDNN's takes bfloat16 and float16 only; flash's takes bfloat16 "
            "and float16 only");
  EXPECT_EQ(WhyOnlyMath(On(75, kHalf, 64)),
            "cuDNN's goes first on sm90 and sm100 to sm106 only; flash's runs "
            "from sm80 on; memory-efficient's takes bfloat16 from sm80 on");
  EXPECT_EQ(WhyOnlyMath(On(75, kHalf16, 64)), "");
}

}  // namespace
}  // namespace foretell
