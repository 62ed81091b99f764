// The rows of data/models.jsonl themselves: their form, and, where the
// configurations that they were made from are at hand, that nothing which
// matters was lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lower_case.h"
#include "data/embedded.h"
#include "input/catalogue_row.h"
#include "input/json.h"
#include "input/source_disk.h"
#include "spec/ignorable_keys.h"

namespace foretell {
namespace {

constexpr char kConfigs[] = "../shared/configs";

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> out;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

TEST(CatalogueData, EveryRowHasItsForm) {
  const std::string_view file = Embedded("models.jsonl");
  EXPECT_LT(file.size(), 1'500'000u);
  ASSERT_TRUE(file.ends_with('\n'));
  std::set<std::string> names;
  std::string last;
  for (const std::string& line : Lines(file)) {
    const CatalogueRow row = ParseCatalogueRow(line, "data/models.jsonl");
    SCOPED_TRACE(row.id);
    EXPECT_EQ(ToLine(row), line);
    EXPECT_TRUE(last.empty() || CatalogueIdLess(last, row.id));
    last = row.id;
    // An index over the bytes reads ids without undoing escapes.
    EXPECT_TRUE(line.starts_with("{\"id\":\"" + row.id + "\","));
    EXPECT_TRUE(names.insert(Lower(row.id)).second);
    for (const CatalogueAlias& alias : row.aliases) {
      EXPECT_TRUE(names.insert(Lower(alias.id)).second) << alias.id;
    }
    EXPECT_FALSE(row.class_name.empty() && row.model_type.empty());
    // The date is the commit's, which is not known for all.
    EXPECT_TRUE(row.date.empty() || !row.source.empty());
    EXPECT_FALSE(row.source.empty() && row.limits.empty());
    EXPECT_FALSE(row.hyper.members().empty());
    EXPECT_TRUE(!row.published || row.published->parameters > 0);
  }
  EXPECT_GT(names.size(), 1000u);
}

// Of an array of objects, whose own ignorable keys are gone, the length.
bool Differ(const ConfigValue& value, const ConfigValue& ours) {
  if (!std::ranges::any_of(value.items(), &ConfigValue::is_object)) {
    return !(value == ours);
  }
  return value.items().size() != ours.items().size();
}

// The keys of `config` that could matter and that `kept` lacks or changes.
std::vector<std::string> Lost(const ConfigValue& config,
                              const ConfigValue& kept,
                              const std::string& prefix) {
  std::vector<std::string> lost;
  for (const auto& [key, value] : config.members()) {
    const std::string path = prefix + key;
    const ConfigValue* ours = kept.Find(key);
    if (IsIgnorableKey(key)) continue;
    const bool steps_in =
        ours != nullptr && value.is_object() && key != "quantization_config";
    if (steps_in) {
      const auto below = Lost(value, *ours, path + ".");
      lost.insert(lost.end(), below.begin(), below.end());
    } else if (ours == nullptr || Differ(value, *ours)) {
      lost.push_back(path);
    }
  }
  return lost;
}

// The files of the index that hold whole models, by id.
std::map<std::string, std::string> FilesOfModels() {
  std::map<std::string, std::string> files;
  const std::string index = JoinPath(kConfigs, "INDEX.jsonl");
  for (const std::string& line : Lines(ReadWholeFile(index, 1 << 25))) {
    const ConfigValue row = ParseJson(line, index);
    if (!row.Find("component")->is_null()) continue;
    files[row.Find("id")->spelling()] = row.Find("file")->spelling();
  }
  return files;
}

TEST(CatalogueData, LosesNoKeyThatMatters) {
  if (KindOfPath(kConfigs) != PathKind::kFolder) {
    GTEST_SKIP() << "there is no folder " << kConfigs;
  }
  const auto files = FilesOfModels();
  size_t seen = 0;
  for (const std::string& line : Lines(Embedded("models.jsonl"))) {
    const CatalogueRow row = ParseCatalogueRow(line, "data/models.jsonl");
    SCOPED_TRACE(row.id);
    if (!files.contains(row.id)) {
      // Written from a description: no file to hold it against.
      EXPECT_EQ(row.kind, "reconstructed");
      continue;
    }
    const std::string path = JoinPath("../shared", files.at(row.id));
    const ConfigValue config =
        ParseJson(ReadWholeFile(path, kConfigFileBytes), path);
    EXPECT_EQ(Lost(config, row.hyper, ""), std::vector<std::string>());
    ++seen;
    // transformers takes the number of labels from the table of their names.
    const ConfigValue* labels = config.Find("id2label");
    if (labels == nullptr || labels->members().size() == 2) continue;
    ASSERT_NE(row.hyper.Find("num_labels"), nullptr);
    EXPECT_EQ(row.hyper.Find("num_labels")->spelling(),
              std::to_string(labels->members().size()));
  }
  // Every model of the index but those that tell no class.
  EXPECT_GE(seen + 3, files.size());
}

}  // namespace
}  // namespace foretell
