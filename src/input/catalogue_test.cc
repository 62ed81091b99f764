#include "input/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <string>

namespace foretell {
namespace {

using testing::Contains;
using testing::IsEmpty;

TEST(Catalogue, FindsEveryIdThatItLists) {
  const auto entries = ListCatalogue();
  ASSERT_GT(entries.size(), 500u);
  for (const CatalogueEntry& entry : entries) {
    const auto config = FromCatalogue(entry.id);
    ASSERT_TRUE(config) << entry.id;
    EXPECT_EQ(config->catalogue->id, entry.id);
    EXPECT_EQ(config->catalogue->asked, "");
  }
}

TEST(Catalogue, FindsEveryAlias) {
  for (const CatalogueEntry& entry : ListCatalogue()) {
    for (const std::string& alias : entry.aliases) {
      const auto config = FromCatalogue(alias);
      ASSERT_TRUE(config) << alias;
      EXPECT_EQ(config->catalogue->id, entry.id) << alias;
      EXPECT_EQ(config->catalogue->asked, alias);
    }
  }
}

TEST(Catalogue, FindsIdsInAnyCase) {
  for (const CatalogueEntry& entry : ListCatalogue()) {
    std::string other = entry.id;
    for (char& c : other) {
      c = static_cast<char>(std::isupper(static_cast<unsigned char>(c)) != 0
                                ? std::tolower(c)
                                : std::toupper(c));
    }
    const auto config = FromCatalogue(other);
    ASSERT_TRUE(config) << other;
    EXPECT_EQ(config->catalogue->id, entry.id);
  }
}

TEST(Catalogue, KnowsWhereARowCameFrom) {
  const auto config = FromCatalogue("qwen/qwen3-8b-base");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->source, "catalogue:Qwen/Qwen3-8B");
  EXPECT_EQ(config->name, "Qwen/Qwen3-8B");
  EXPECT_EQ(config->catalogue->asked, "Qwen/Qwen3-8B-Base");
  EXPECT_EQ(config->catalogue->alias_note,
            "sizes and total as the hub records them");
  EXPECT_EQ(config->catalogue->published->parameters, 8190735360);
  EXPECT_FALSE(config->catalogue->kind.empty());
}

TEST(Catalogue, LacksWhatItLacks) {
  EXPECT_FALSE(FromCatalogue(""));
  EXPECT_FALSE(FromCatalogue("Qwen"));
  EXPECT_FALSE(FromCatalogue("Qwen/Qwen3-8B "));
  EXPECT_FALSE(FromCatalogue("\"},{\""));
  EXPECT_FALSE(FromCatalogue("zzz/zzz"));
  EXPECT_FALSE(FromCatalogue("!"));
}

TEST(Catalogue, SearchesByWords) {
  const auto all = ListCatalogue();
  EXPECT_EQ(SearchCatalogue({}).size(), all.size());
  const auto entries = SearchCatalogue({"qwen3", "8B"});
  ASSERT_FALSE(entries.empty());
  // Those whose own id has both words come first.
  EXPECT_EQ(entries.front().id, "Qwen/Qwen3-8B");
  EXPECT_THAT(SearchCatalogue({"qwen3", "no-such-word"}), IsEmpty());
  const auto by_class = SearchCatalogue({"BertForMaskedLM"});
  EXPECT_FALSE(by_class.empty());
}

TEST(Catalogue, CompletesIdsAndAliases) {
  const auto ids = CompleteIds("qwen/qwen3-8b");
  EXPECT_THAT(ids, Contains("Qwen/Qwen3-8B"));
  EXPECT_THAT(ids, Contains("Qwen/Qwen3-8B-Base"));
  EXPECT_THAT(CompleteIds("zzz"), IsEmpty());
  EXPECT_GT(CompleteIds("").size(), ListCatalogue().size());
}

TEST(Catalogue, OffersWhatIsNear) {
  EXPECT_EQ(NearestIds("qwen3-8b").front(), "Qwen/Qwen3-8B");
  EXPECT_EQ(NearestIds("Qwen/Qwen-3-8B").front(), "Qwen/Qwen3-8B");
  EXPECT_THAT(NearestIds("meta-llama/Llama-3-8B"),
              Contains("meta-llama/Meta-Llama-3-8B"));
  EXPECT_EQ(NearestIds("llama 3 8b").front(), "meta-llama/Meta-Llama-3-8B");
  EXPECT_EQ(NearestIds("mistral 7b").front(), "mistralai/Mistral-7B-v0.1");
  EXPECT_EQ(NearestIds("gpt-2").front(), "openai-community/gpt2");
  EXPECT_EQ(NearestIds("gpt2", 2).size(), 2u);
  EXPECT_THAT(NearestIds("zzzzzzzzzzzz"), IsEmpty());
  EXPECT_THAT(NearestIds(""), IsEmpty());
}

// One id reads one row. The bound is loose: machines are busy.
TEST(Catalogue, FindsOneIdWithoutReadingAll) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(FromCatalogue("Qwen/Qwen3-8B"));
  }
  const std::chrono::duration<double> one =
      std::chrono::steady_clock::now() - start;
  EXPECT_LT(one.count(), 0.5);  // 5 ms each; 0.03 ms when nothing else runs
}

}  // namespace
}  // namespace foretell
