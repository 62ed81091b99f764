#include "input/kernel_coefficients.h"

#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"
#include "data/embedded.h"
#include "input/device_catalogue.h"
#include "input/kernel_trees.h"

namespace foretell {
namespace {

TEST(KernelCoefficients, EveryEmbeddedFileIsReadAndSmall) {
  ASSERT_FALSE(MeasuredCards().empty());
  for (const std::string& card : MeasuredCards()) {
    // The bar: 200 kB a system.
    EXPECT_LE(Embedded("kernels/" + card + ".jsonl.gz").size(), 200'000U)
        << card;
    const auto read = CoefficientsOf(card);
    ASSERT_NE(read, nullptr) << card;
    EXPECT_EQ(read->card, card);
    EXPECT_EQ(FindDevice(card).id, card);
    EXPECT_EQ(CardOfSystem(read->system), card);
    EXPECT_FALSE(read->source.empty());
    for (const auto& [kind, model] : read->models) {
      EXPECT_FALSE(model.series.empty()) << card << " " << kind;
      EXPECT_FALSE(model.centre.starts.empty()) << card << " " << kind;
      EXPECT_LT(model.low, 0) << card << " " << kind;
      EXPECT_GT(model.high, 0) << card << " " << kind;
      EXPECT_FALSE(model.ranges.empty()) << card << " " << kind;
    }
  }
  const auto any = CoefficientsOf("any");
  ASSERT_NE(any, nullptr);
  EXPECT_TRUE(any->models.contains("gemm"));
  EXPECT_EQ(CoefficientsOf("no-such-card"), nullptr);
  EXPECT_EQ(CardOfSystem("no_such_system"), "");
}

TEST(FromBase64, ReadsWhatIsPadded) {
  EXPECT_EQ(FromBase64("Zm9v"), "foo");
  EXPECT_EQ(FromBase64("Zm8="), "fo");
  EXPECT_EQ(FromBase64("Zg=="), "f");
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("Z!9v"), "");
}

constexpr char kHead[] =
    R"({"id":"x","system":"x","source":"s","date":"2026-08-21"})"
    "\n";

std::string ErrorOf(const std::string& row) {
  try {
    ParseKernelCoefficients(kHead + row, "x.jsonl");
  } catch (const InputErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(ParseKernelCoefficients, RefusesWhatIsMalformed) {
  EXPECT_NE(ErrorOf("{"), "");
  EXPECT_NE(ErrorOf(R"({"kind":"gemm"})"), "");
  // A feature over no variable.
  EXPECT_NE(ErrorOf(R"({"kind":"gemm","points":1,"features":["log nothing"]})")
                .find("is no feature"),
            std::string::npos);
  // More trees than leaves.
  EXPECT_NE(
      ErrorOf(R"({"kind":"gemm","points":1,"centre":{"trees":9,"leaves":1,)"
              R"("thresholds":[],"packed":""}})")
          .find("holds no whole trees"),
      std::string::npos);
  // A stream that is none.
  EXPECT_NE(
      ErrorOf(R"({"kind":"gemm","points":1,"centre":{"trees":1,"leaves":1,)"
              R"("thresholds":[],"packed":"AAAA"}})"),
      "");
}

}  // namespace
}  // namespace foretell
