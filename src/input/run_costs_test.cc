#include "input/run_costs.h"

#include <gtest/gtest.h>

#include <set>

namespace foretell {
namespace {

TEST(ListPrices, NameACloudOnceFromTheLeast) {
  const auto prices = ListPricesOf("h100-sxm");
  ASSERT_GE(prices.size(), 3U);
  std::set<std::string> clouds;
  double before = 0;
  for (const ListPrice& price : prices) {
    EXPECT_TRUE(clouds.insert(price.provider).second) << price.provider;
    EXPECT_GE(price.usd_an_hour, before);
    before = price.usd_an_hour;
  }
}

TEST(ListPrices, AreOfOneCardAndTheNewestRecord) {
  for (const ListPrice& price : ListPricesOf("h100-sxm")) {
    if (price.provider != "aws") continue;
    EXPECT_EQ(price.date, "2026-07-20");
    EXPECT_NEAR(price.usd_an_hour, 6.88, 0.01);
  }
}

TEST(ListPrices, AreNoneForACardThatNoCloudHas) {
  EXPECT_TRUE(ListPricesOf("h100").empty());
  EXPECT_TRUE(ListPricesOf("no such card").empty());
}

TEST(Grids, AreFoundByIdLettersAndName) {
  for (const char* name : {"fr", "FR", "fra", "France"}) {
    const auto grid = GridNamed(name);
    ASSERT_TRUE(grid) << name;
    EXPECT_EQ(grid->id, "FR");
    EXPECT_NEAR(grid->grams_a_kwh, 56, 1);
  }
  EXPECT_TRUE(GridNamed("gcp:us-central1"));
  EXPECT_FALSE(GridNamed("atlantis"));
  EXPECT_FALSE(GridNamed(""));
}

}  // namespace
}  // namespace foretell
