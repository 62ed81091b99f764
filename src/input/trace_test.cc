#include "input/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/input_error.h"
#include "input/gzip.h"

namespace foretell {
namespace {

std::string Corpus(const std::string& name) {
  std::ifstream file(
      std::string(FORETELL_SOURCE_DIR) + "/tests/fuzz/corpus/trace/" + name,
      std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ErrorOf(const std::string& bytes) {
  try {
    ParseTrace(bytes, "trace.gz");
  } catch (const InputErrors& errors) {
    EXPECT_FALSE(errors.errors().front().cure.empty());
    return errors.errors().front().what;
  }
  return "";
}

TEST(ParseTrace, ReadsWhatTheRecorderPacks) {
  const Trace trace = ParseTrace(Corpus("packed"), "trace.gz");
  EXPECT_FALSE(trace.class_name.empty());
  EXPECT_GT(trace.operations.size(), 5u);
}

TEST(ParseTrace, RefusesWhatIsCutOrNotPacked) {
  EXPECT_NE(ErrorOf(Corpus("cut")), "");
  EXPECT_NE(ErrorOf(Corpus("rows")), "");
  EXPECT_NE(ErrorOf(""), "");
}

TEST(UnpackGzip, StopsAtTheLimit) {
  EXPECT_THROW(UnpackGzip(Corpus("packed"), 100, "trace.gz"), InputErrors);
}

}  // namespace
}  // namespace foretell
