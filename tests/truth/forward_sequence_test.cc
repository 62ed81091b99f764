// Every recorded forward of tests/truth/forward and every whole step of
// tests/truth/steps, operator by operator.
//
// The configurations are the catalogue's, those that lie beside the recordings,
// or those of ../shared/configs where that folder exists; without any a case is
// skipped and says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "answers/compare_trace.h"
#include "input/model_config_source.h"
#include "input/trace.h"
#include "models/family.h"

namespace foretell {
namespace {

std::vector<std::string> TraceFiles() {
  const std::filesystem::path root =
      std::filesystem::path(FORETELL_SOURCE_DIR) / "tests/truth";
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".jsonl.gz")) out.push_back(path);
  }
  std::ranges::sort(out);
  return out;
}

// "Qwen--Qwen3-8B" -> "Qwen/Qwen3-8B".
std::string IdOf(std::string label) {
  const size_t dashes = label.find("--");
  if (dashes != std::string::npos) label.replace(dashes, 2, "/");
  return label;
}

// Small configurations made for a recording lie beside it: "cfg/NAME".
constexpr std::string_view kOwn = "cfg/";

std::optional<ModelConfig> ConfigOf(const std::string& label,
                                    std::string& reason) {
  if (label.starts_with(kOwn)) {
    return LoadModelConfig(std::string(FORETELL_SOURCE_DIR) +
                           "/tests/truth/forward/own/" +
                           label.substr(kOwn.size()) + ".json");
  }
  try {
    return LoadModelConfig(IdOf(label));
  } catch (const InputErrors& errors) {
    reason = errors.what();
  }
  const std::filesystem::path file =
      std::filesystem::path(FORETELL_SOURCE_DIR) / "../shared/configs" /
      (label + ".json");
  if (!std::filesystem::exists(file)) return std::nullopt;
  return LoadModelConfig(file.string());
}

class ForwardSequence : public testing::TestWithParam<std::string> {};

TEST_P(ForwardSequence, EqualsTheRecording) {
  const Trace trace = LoadTrace(GetParam());
  if (FamilyOfClass(trace.class_name) == nullptr) {
    GTEST_SKIP() << "no family has " << trace.class_name;
  }
  std::string reason;
  const auto config = ConfigOf(trace.config, reason);
  if (!config) GTEST_SKIP() << "no configuration: " << reason;
  EXPECT_EQ(CompareTrace(trace, *config), "");
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  std::string name = path.filename().string();
  if (path.parent_path().filename() != "forward") {
    name = path.parent_path().filename().string() + "_" + name;
  }
  name.resize(name.size() - std::string(".jsonl.gz").size());
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Traces, ForwardSequence,
                         testing::ValuesIn(TraceFiles()), NameOf);

}  // namespace
}  // namespace foretell
