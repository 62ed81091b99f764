#include "front/value_check.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(CheckOptionValue, WholeNumbersOnly) {
  const OptionRow row = {.name = "batch",
                         .value = "N",
                         .kind = ValueKind::kInteger,
                         .least = 0,
                         .most = 10};
  for (const char* good : {"0", "7", "10"}) {
    EXPECT_FALSE(CheckOptionValue(row, good)) << good;
  }
  for (const char* bad : {"-1", "11", "1.0", "1e3", " 1", "1 ", "+1", "0x1",
                          "ten", "1,000", "99999999999999999999"}) {
    EXPECT_TRUE(CheckOptionValue(row, bad)) << bad;
  }
}

TEST(CheckOptionValue, SuggestedValuesAreNotTheOnlyOnes) {
  const OptionRow row = {
      .name = "dtype", .value = "NAME", .suggested = {"bfloat16"}};
  EXPECT_FALSE(CheckOptionValue(row, "half"));
}

TEST(CheckArgumentValue, NamesWhatIsAllowed) {
  const ArgumentRow row = {.name = "SHELL", .allowed = {"bash", "zsh"}};
  EXPECT_FALSE(CheckArgumentValue(row, "zsh"));
  const auto mistake = CheckArgumentValue(row, "bosh");
  ASSERT_TRUE(mistake.has_value());
  EXPECT_EQ(mistake->what, "SHELL cannot be bosh");
  EXPECT_EQ(mistake->cure, "did you mean bash? SHELL is one of bash, zsh");
}

}  // namespace
}  // namespace foretell
