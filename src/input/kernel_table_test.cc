#include "input/kernel_table.h"

#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"

namespace foretell {
namespace {

constexpr char kText[] =
    "framework,version,kernel,dtype,n,k,m,time_us\n"
    "vllm,0.24.0,x,bfloat16,32,64,1 2 4,3.5 3.6 3.7\n"
    "vllm,0.24.0,,fp8,32,64,1,3.5\n";

TEST(ParseKernelTable, ReadsCurvesAsTexts) {
  const MeasuredRows rows = ParseKernelTable(kText, "a/h100_sxm/gemm.csv.gz");
  ASSERT_EQ(rows.rows.size(), 2U);
  const ConfigValue& first = rows.rows[0].fields;
  EXPECT_EQ(first.Find("system")->AsString(), "h100_sxm");
  EXPECT_EQ(first.Find("kind")->AsString(), "gemm");
  EXPECT_EQ(first.Find("m")->AsString(), "1 2 4");
  EXPECT_EQ(rows.rows[0].line, 2);
  ASSERT_NE(rows.rows[0].device, nullptr);
  EXPECT_EQ(rows.rows[0].device->id, "h100-sxm");
  EXPECT_EQ(rows.rows[1].fields.Find("kernel"), nullptr);
}

TEST(ParseKernelTable, TellsKindAndSystemByThePath) {
  const auto kind = [](const char* path) {
    const MeasuredRows rows = ParseKernelTable(kText, path);
    return std::string(*rows.rows[0].fields.Find("kind")->AsString());
  };
  EXPECT_EQ(kind("h200_sxm/mla_module_decode.csv"), "mla_module_decode");
  EXPECT_EQ(kind("h200_sxm/mla_decode.csv.gz"), "mla_decode");
  // A card that was not measured, by its folder.
  const MeasuredRows rows = ParseKernelTable(kText, "l4/gemm.csv.gz");
  ASSERT_NE(rows.rows[0].device, nullptr);
  EXPECT_EQ(rows.rows[0].device->id, "l4");
}

TEST(ParseKernelTable, RefusesOtherPathsAndBrokenLines) {
  EXPECT_THROW(ParseKernelTable(kText, "h100_sxm/other.csv"), InputErrors);
  try {
    ParseKernelTable("n,k,m,time_us\n1,2\n", "h100_sxm/gemm.csv");
    FAIL() << "two cells of four were taken";
  } catch (const InputErrors& errors) {
    EXPECT_EQ(errors.errors().front().place.line, 2);
  }
}

}  // namespace
}  // namespace foretell
