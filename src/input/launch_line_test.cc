#include "input/launch_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/input_error.h"

namespace foretell {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> out;
  for (const LaunchWord& word : SplitShellWords(text, "launch")) {
    out.push_back(word.text);
  }
  return out;
}

std::string Error(const std::string& text) {
  try {
    ReadLaunchText(text, "launch");
  } catch (const InputErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(SplitShellWords, QuotesAsAShellDoes) {
  EXPECT_EQ(Words("a 'b c' \"d e\" f\\ g"),
            (std::vector<std::string>{"a", "b c", "d e", "f g"}));
  EXPECT_EQ(Words("--x='{\"a\": 1}'"),
            (std::vector<std::string>{"--x={\"a\": 1}"}));
  EXPECT_EQ(Words("a \\\n  b # rest"), (std::vector<std::string>{"a", "b"}));
}

TEST(SplitShellWords, NamesTheQuoteThatStaysOpen) {
  const std::string error = Error("vllm serve m --x 'abc");
  EXPECT_NE(error.find("launch:1:18"), std::string::npos) << error;
  EXPECT_NE(error.find("never closed"), std::string::npos) << error;
  EXPECT_NE(error.find("cure: add '"), std::string::npos) << error;
}

TEST(SplitShellWords, RefusesWhatTheShellWouldDo) {
  EXPECT_NE(Error("vllm serve $MODEL").find("variable"), std::string::npos);
  EXPECT_NE(Error("vllm serve m | tee log").find("another command"),
            std::string::npos);
  EXPECT_NE(Error("vllm serve m\nvllm serve n").find("second command"),
            std::string::npos);
  EXPECT_NE(Error("vllm serve m \\").find("backslash"), std::string::npos);
}

TEST(ReadLaunchText, ReadsEachForm) {
  const LaunchLine serve = ReadLaunchText(
      "CUDA_VISIBLE_DEVICES=0,1 VLLM_USE_V1=1 vllm serve m -tp 2", "launch");
  EXPECT_EQ(serve.form, "vllm serve");
  EXPECT_EQ(serve.cards, 2);
  ASSERT_EQ(serve.words.size(), 3U);
  EXPECT_EQ(serve.words[0].text, "m");
  EXPECT_EQ(serve.environment.size(), 2U);

  const LaunchLine module = ReadLaunchText(
      "python3 -m vllm.entrypoints.openai.api_server --model m", "launch");
  ASSERT_EQ(module.words.size(), 2U);
  EXPECT_EQ(module.words[1].text, "m");

  const LaunchLine docker = ReadLaunchText(
      "docker run --gpus '\"device=0,1,2\"' -v /a:/b --ipc=host -e "
      "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 -p 8000:8000 "
      "vllm/vllm-openai:v0.19.1 --model m --max-model-len 32k",
      "launch");
  EXPECT_EQ(docker.form, "docker run");
  EXPECT_EQ(docker.version, "v0.19.1");
  EXPECT_EQ(docker.cards, 3);
  ASSERT_EQ(docker.environment.size(), 1U);
  EXPECT_EQ(docker.environment[0].second.text, "1");
  ASSERT_EQ(docker.words.size(), 4U);
  EXPECT_EQ(docker.words[3].text, "32k");
}

TEST(ReadLaunchText, SaysWhereNothingIsStarted) {
  EXPECT_NE(Error("echo hello").find("no serving engine"), std::string::npos);
  EXPECT_NE(Error("").find("no serving engine"), std::string::npos);
  EXPECT_NE(Error("docker ps").find("docker run"), std::string::npos);
  EXPECT_NE(Error("docker run -e").find("no value"), std::string::npos);
  EXPECT_NE(Error("docker run redis").find("redis"), std::string::npos);
  EXPECT_NE(Error("vllm bench").find("vllm serve"), std::string::npos);
}

}  // namespace
}  // namespace foretell
