#include "analysis/flops_conventions.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "graph/builder.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// A table that is looked up, a matrix, attention and two experts of which a
// token meets one; four tokens.
struct Model {
  Model() : builder(graph, DType::kFloat32) {
    builder.set_execution({.gradients = false});
    const auto add = [this](std::string_view name, RegionKind kind) {
      return builder.AddRegion(builder.root(), name, kind);
    };
    const RegionId embedding = add("embed", RegionKind::kEmbedding);
    attention = add("attn", RegionKind::kAttention);
    const RegionId experts_region = add("experts", RegionKind::kExperts);
    table = builder.AddParameter(embedding, "weight", {10, 8});
    matrix = builder.AddParameter(attention, "weight", {8, 8});
    builder.AddParameter(attention, "bias", {8});
    experts = builder.AddParameter(experts_region, "weight", {2, 8, 8});
    builder.MarkExperts(experts, 2, 1);
  }

  // [4, 8] products with a matrix, 512 FLOPs each; [1, 4, 4] scores of 256.
  void Forward() {
    const Tensor ids = builder.Input({4}, DType::kInt64);
    const Tensor offsets = builder.Input({2}, DType::kInt32);
    const Tensor rows = EmbeddingOp(builder.Read(table), ids);
    const Scope scope(builder, attention);
    const Tensor projected = Mm(rows, builder.Read(matrix));
    const Tensor heads = Unsqueeze(projected, 0);
    Bmm(heads, Transpose(heads, 1, 2));
    MulScalar(projected, 2);
    GroupedMm(projected, builder.Read(experts), offsets);
  }

  // Twice the matrix product and the scores.
  void Backward() {
    builder.StartPhase(Phase::kBackward);
    const Scope scope(builder, attention);
    const Tensor rows = builder.Input({4, 8}, DType::kFloat32);
    for (int i = 0; i < 2; ++i) {
      Mm(rows, builder.Read(matrix));
      const Tensor heads = Unsqueeze(rows, 0);
      Bmm(heads, Transpose(heads, 1, 2));
    }
  }

  Graph graph;
  Builder builder;
  RegionId attention;
  ParameterId table;
  ParameterId matrix;
  ParameterId experts;
};

std::map<std::string, int64_t> ByName(
    const std::vector<FlopsConvention>& conventions) {
  std::map<std::string, int64_t> out;
  for (const FlopsConvention& one : conventions) {
    out[std::string(one.name)] = one.flops.exact();
  }
  return out;
}

TEST(FlopsConventions, AForwardAlone) {
  Model model;
  model.Forward();
  const auto products = MeasureProducts(model.graph, {});
  ASSERT_TRUE(products);
  EXPECT_EQ(products->forward, 512 + 256 + 512);
  EXPECT_EQ(products->grouped, 512);
  EXPECT_EQ(products->attention_forward, 256);
  const std::map<std::string, int64_t> expected = {
      {"torch", 768}, {"executed", 1280}, {"causal", 1152}, {"macs", 640}};
  EXPECT_EQ(
      ByName(FlopsConventions(*products, AnalyzeParameters(model.graph), 4)),
      expected);
}

TEST(FlopsConventions, AStepThatRunsItsForwardAgain) {
  Model model;
  model.Forward();
  model.Backward();
  const auto first = static_cast<uint32_t>(model.graph.operations.size());
  model.Forward();
  const auto end = static_cast<uint32_t>(model.graph.operations.size());
  const std::array<OperationRange, 1> again = {{{first, end}}};
  const auto products = MeasureProducts(model.graph, again);
  ASSERT_TRUE(products);
  EXPECT_EQ(products->recomputed, 1280);
  EXPECT_EQ(products->backward, 2 * 768);
  // 80 in the table, 64 in the matrix, 8 in the bias, 64 for each expert.
  const std::map<std::string, int64_t> expected = {
      {"torch", 768 + 1536 + 768},
      {"executed", 1280 + 1536 + 1280},
      {"model", 1280 + 1536},
      {"causal", 1280 + 1536 - 384},
      {"macs", 640},
      {"6ND", 6 * 280 * 4},
      {"6ND-tables", 6 * 200 * 4},
      {"6ND-active", 6 * 216 * 4},
      {"PaLM", 6 * 216 * 4 + 3 * 256}};
  const ParameterAnalysis parameters = AnalyzeParameters(model.graph);
  EXPECT_EQ(ByName(FlopsConventions(*products, parameters, 4)), expected);

  int64_t sum = 0;
  std::map<std::string, int64_t> terms;
  for (const FlopsTerm& term : ReconcileFlops(*products, parameters, 4)) {
    sum += term.flops;
    terms[std::string(term.what)] = term.flops;
  }
  EXPECT_EQ(sum, products->Executed());
  EXPECT_EQ(terms["tables that are looked up"], -6 * 80 * 4);
  EXPECT_EQ(terms["experts that a token does not meet"], -6 * 64 * 4);
  EXPECT_EQ(terms["a forward again (checkpointing)"], 1280);
  // The experts' backward was not written.
  EXPECT_EQ(terms["other"], -1024);
}

TEST(FlopsConventions, SumsPastWhatFitsAreUnknown) {
  Model model;
  model.Forward();
  model.Backward();
  const auto products = MeasureProducts(model.graph, {});
  ASSERT_TRUE(products);
  const ParameterAnalysis parameters = AnalyzeParameters(model.graph);
  const int64_t many = int64_t{1} << 58;
  for (const auto& one : FlopsConventions(*products, parameters, many)) {
    const bool is_closed = one.name.starts_with("6ND") || one.name == "PaLM";
    EXPECT_EQ(one.flops.is_unknown(), is_closed) << one.name;
  }
  EXPECT_TRUE(ReconcileFlops(*products, parameters, many).empty());
}

TEST(UncountedOperations, GroupedProductsComeFirst) {
  Model model;
  model.Forward();
  const auto uncounted = UncountedOperations(model.graph);
  ASSERT_GE(uncounted.size(), 3u);
  EXPECT_EQ(uncounted[0].name, "aten._grouped_mm.default");
  EXPECT_EQ(uncounted[0].flops, 512);
  for (const UncountedOperation& one : uncounted) {
    EXPECT_NE(one.name, "aten.mm.default");
    EXPECT_NE(one.name, "aten.bmm.default");
  }
}

}  // namespace
}  // namespace foretell
