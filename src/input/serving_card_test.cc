#include "input/serving_card.h"

#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"

namespace foretell {
namespace {

double Gib(int64_t bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
}

TEST(ServingCard, SlicesHoldTheListedMemory) {
  // `nvidia-smi mig -lgip`, of NVIDIA's user guide.
  struct Case {
    const char* name;
    double gib;
  };
  for (const Case& one :
       {Case{"h100:1g.10gb", 9.75}, Case{"h100:2g.20gb", 19.62},
        Case{"h100:3g.40gb", 39.5}, Case{"a100-sxm-80gb:1g.10gb", 9.5},
        Case{"A100-SXM4-40GB MIG 1g.5gb", 4.75},
        Case{"a100-40gb-1g.5gb+me", 4.75}, Case{"h200:1g.18gb", 16.0}}) {
    const ServingCard card = FindServingCards(one.name, {}).card;
    EXPECT_LE(Gib(card.runtime_low), one.gib) << one.name;
    EXPECT_GE(Gib(card.runtime_high), one.gib) << one.name;
    EXPECT_TRUE(card.is_estimated);
    ASSERT_TRUE(PartOfCard(one.name).has_value()) << one.name;
    EXPECT_EQ(PartOfCard(one.name)->runtime_bytes, card.runtime_bytes);
  }
}

TEST(ServingCard, SeveralKindsTakeThePoorest) {
  const ServingCards got = FindServingCards("a10g, 2xt4", {});
  EXPECT_EQ(got.count, 3);
  EXPECT_EQ(got.card.capability, 75);
  EXPECT_LT(Gib(got.card.runtime_bytes), 16);
  EXPECT_EQ(got.assumed.size(), 1U);
  EXPECT_EQ(FindServingCards("l4", {}).count, 0);
  EXPECT_EQ(FindServingCards("4xl4", {}).count, 4);
}

TEST(ServingCard, WslSeesWhatIsSold) {
  const ServingCard card = FindServingCards("rtx 4090 wsl2", {}).card;
  EXPECT_EQ(Gib(card.runtime_bytes), 24);
  EXPECT_FALSE(PartOfCard("rtx 4090").has_value());
}

TEST(ServingCard, WhatIsNoCardIsAnError) {
  for (const char* name : {"1g.10gb", "h100:1g.500gb", "nosuch:1g.10gb", "l4,",
                           ",", "999999999999xl4", "mig", " wsl"}) {
    EXPECT_THROW(FindServingCards(name, {}), InputErrors) << name;
  }
  EXPECT_FALSE(PartOfCard("h100:1g.500gb").has_value());
}

}  // namespace
}  // namespace foretell
