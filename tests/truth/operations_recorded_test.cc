// Every row of the table of operations has a doc and a recorded case: it
// appears in a trace of tests/truth/forward or tests/truth/steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "graph/operation_row.h"
#include "input/trace.h"

namespace foretell {
namespace {

std::set<std::string> RecordedNames() {
  const std::filesystem::path root =
      std::filesystem::path(FORETELL_SOURCE_DIR) / "tests/truth";
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".jsonl.gz")) continue;
    for (const TraceOperation& operation : LoadTrace(path).operations) {
      names.insert(operation.name);
    }
  }
  return names;
}

TEST(Operations, EachHasADoc) {
  std::string last;
  for (const OperationRow* row : AllOperations()) {
    EXPECT_FALSE(row->doc.empty()) << row->name;
    EXPECT_TRUE(row->doc.ends_with('.')) << row->name;
    EXPECT_NE(row->infer, nullptr) << row->name;
    EXPECT_TRUE(row->name.starts_with("aten.") ||
                row->name.starts_with("transformers."))
        << row->name;
    EXPECT_NE(last, row->name) << "two rows of one name";
    EXPECT_EQ(FindOperation(row->name), row);
    last = row->name;
  }
}

TEST(Operations, EachIsRecorded) {
  const std::set<std::string> recorded = RecordedNames();
  for (const OperationRow* row : AllOperations()) {
    EXPECT_TRUE(recorded.contains(std::string(row->name)))
        << row->name << " is in no trace of tests/truth";
  }
}

}  // namespace
}  // namespace foretell
