#include "input/lora_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace foretell {
namespace {

TEST(ReadLora, ReadsEverySetting) {
  const LoraText read = ReadLora(
      "r=16,targets=q_proj+v_proj,alpha=32,dropout=0.05,adapter=model,"
      "task=CAUSAL_LM");
  ASSERT_TRUE(read.settings) << read.what;
  EXPECT_EQ(read.settings->rank, 16);
  EXPECT_EQ(read.settings->targets,
            (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_EQ(read.settings->alpha, 32);
  EXPECT_EQ(read.settings->dropout, 0.05);
  EXPECT_FALSE(read.settings->float32);
  EXPECT_EQ(read.what, "");
}

TEST(ReadLora, HasDefaults) {
  const LoraText read = ReadLora("targets=all-linear");
  ASSERT_TRUE(read.settings) << read.what;
  EXPECT_EQ(read.settings->rank, 8);
  EXPECT_TRUE(read.settings->float32);
}

TEST(ReadLora, PointsAtWhatIsWrong) {
  const struct {
    std::string text;
    size_t at;
    std::string what;
  } cases[] = {
      {"", 0, "\"\" is no key=value"},
      {"r=16,targets", 5, "\"targets\" is no key=value"},
      {"r=16", 4, "names no targets"},
      {"r=0,targets=a", 2, "\"0\" is no rank"},
      {"r=1x,targets=a", 2, "\"1x\" is no rank"},
      {"r=70000,targets=a", 2, "\"70000\" is no rank"},
      {"targets=a,rank=8", 10, "\"rank\" is no setting of LoRA"},
      {"targets=a++b", 10, "a module has no name"},
      {"targets=", 8, "a module has no name"},
      {"targets=a,dropout=1.5", 18, "\"1.5\" is no share"},
      {"targets=a,dropout=nan", 18, "\"nan\" is no share"},
      {"targets=a,alpha=inf", 16, "\"inf\" is no number"},
      {"targets=a,adapter=int8", 18, "\"int8\" is no precision of adapters"},
      {"targets=a,targets=b", 10, "states targets twice"},
      {"targets=a,", 10, "\"\" is no key=value"},
  };
  for (const auto& [text, at, what] : cases) {
    const LoraText read = ReadLora(text);
    EXPECT_FALSE(read.settings) << text;
    EXPECT_EQ(read.what, what) << text;
    EXPECT_EQ(read.at, at) << text;
    EXPECT_NE(read.cure, "") << text;
  }
}

}  // namespace
}  // namespace foretell
