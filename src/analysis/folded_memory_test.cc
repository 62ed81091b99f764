// Equal blocks folded, on steps that are small enough to count by hand.
#include "analysis/folded_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "graph/builder.h"
#include "graph/ops/elementwise.h"

namespace foretell {
namespace {

constexpr int64_t kBytes = int64_t{64} * 4;

// A list of `blocks` blocks; each makes a tensor of 64 floats, which stays
// where `keeps`, and a second one that goes.
struct Chain {
  Chain(int blocks, bool keeps) : builder(graph, DType::kFloat32) {
    const RegionId layers =
        builder.AddRegion(builder.root(), "layers", RegionKind::kOther);
    list = layers;
    builder.StartPhase(Phase::kForward);
    Tensor x = builder.Input({64}, DType::kFloat32);
    for (int i = 0; i < blocks; ++i) {
      const RegionId block =
          builder.AddRegion(layers, std::to_string(i), RegionKind::kBlock);
      const Scope scope(builder, block);
      Tensor made = Neg(x);
      const Tensor gone = Neg(made);
      if (keeps) kept.push_back(made);
      x = std::move(made);
    }
    builder.Output(x);
  }

  int64_t Peak(std::span<const RepeatedBlocks> repeats) {
    const auto memory = AnalyzeMemory(graph);
    if (!memory) return -1;
    const std::vector<uint8_t> categories(graph.storages.size());
    const auto phases = FoldMemory(graph, {.memory = &*memory,
                                           .categories = categories,
                                           .beside = {},
                                           .resident = {memory->resident()},
                                           .repeats = repeats});
    return phases ? phases->front().peak : -1;
  }

  Graph graph;
  Builder builder;
  std::vector<Tensor> kept;
  RegionId list;
};

TEST(FoldedMemory, FewBlocksAreAsMany) {
  for (const bool keeps : {false, true}) {
    Chain many(20, keeps);
    Chain few(4, keeps);
    const RepeatedBlocks repeat = {few.list, 1, 1, 17};
    EXPECT_EQ(few.Peak({&repeat, 1}), many.Peak({})) << keeps;
    EXPECT_EQ(many.Peak({}), AnalyzeMemory(many.graph)->phases[0].peak);
  }
  Chain kept(20, true);
  EXPECT_EQ(kept.Peak({}), (1 + 20 + 1) * kBytes);
}

TEST(FoldedMemory, ARunWithoutItsWitnessIsNotFolded) {
  Chain few(2, true);
  const RepeatedBlocks repeat = {few.list, 1, 1, 17};
  EXPECT_EQ(few.Peak({&repeat, 1}), -1);
}

TEST(FoldedMemory, CountsHowOftenARegionHappens) {
  Chain few(4, true);
  const RepeatedBlocks repeat = {few.list, 1, 1, 17};
  const auto copies = CopiesOfRegions(few.graph, {&repeat, 1});
  int64_t blocks = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (few.graph.regions[i].kind == RegionKind::kBlock) blocks += copies[i];
  }
  EXPECT_EQ(blocks, 20);
}

}  // namespace
}  // namespace foretell
