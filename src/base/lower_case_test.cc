#include "base/lower_case.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(LowerCase, ChangesTheLettersOfAsciiAlone) {
  EXPECT_EQ(Lower("AZ az @[ 09_-."), "az az @[ 09_-.");
  EXPECT_EQ(Lower("\xC3\x84RGER"), "\xC3\x84rger");
  EXPECT_EQ(Lower(""), "");
}

}  // namespace
}  // namespace foretell
