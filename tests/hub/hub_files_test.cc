// Headers of checkpoints that lie at a hub: which requests they take, and
// `foretell model --against` a repository.
#include "input/source_hub_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/input_error.h"
#include "front/cli/run_cli.h"
#include "front/command_table.h"
#include "input/checkpoint.h"
#include "tests/hub/hub_environment.h"
#include "tests/hub/hub_server.h"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kId[] = "acme/tiny";
const std::string kCommit(40, 'a');

constexpr char kConfig[] = R"({"architectures": ["LlamaForCausalLM"],
  "model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
  "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
  "vocab_size": 10, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
};

// The tensors of kConfig, as transformers names them.
std::vector<Tensor> Tensors() {
  const std::string layer = "model.layers.0.";
  return {{"lm_head.weight", {10, 8}},
          {"model.embed_tokens.weight", {10, 8}},
          {layer + "input_layernorm.weight", {8}},
          {layer + "mlp.down_proj.weight", {8, 16}},
          {layer + "mlp.gate_proj.weight", {16, 8}},
          {layer + "mlp.up_proj.weight", {16, 8}},
          {layer + "post_attention_layernorm.weight", {8}},
          {layer + "self_attn.k_proj.weight", {4, 8}},
          {layer + "self_attn.o_proj.weight", {8, 8}},
          {layer + "self_attn.q_proj.weight", {8, 8}},
          {layer + "self_attn.v_proj.weight", {4, 8}},
          {"model.norm.weight", {8}}};
}

// As the library lays a file out: eight bytes of length, the header, data.
std::string Safetensors(const std::vector<Tensor>& tensors) {
  std::string header;
  int64_t end = 0;
  for (const Tensor& tensor : tensors) {
    int64_t bytes = 2;
    std::string shape;
    for (const int64_t dim : tensor.shape) {
      bytes *= dim;
      shape += fmt::format("{}{}", shape.empty() ? "" : ",", dim);
    }
    header += fmt::format(
        R"({}"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})",
        header.empty() ? "" : ",", tensor.name, shape, end, end + bytes);
    end += bytes;
  }
  header = "{" + header + "}";
  std::string out;
  for (int i = 0; i < 8; ++i) {
    out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return out + header + std::string(static_cast<size_t>(end), '\0');
}

// Reports are wrapped: the same with single blanks.
std::string OneLine(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank || !out.ends_with(' ')) out += blank ? ' ' : c;
  }
  return out;
}

class HubFilesTest : public testing::Test {
 protected:
  HubFilesTest() {
    environment_.Set("HF_ENDPOINT", server_.address());
    Add("config.json", kConfig);
    server_.SetRevision(kId, "main", kCommit);
  }

  void Add(const std::string& file, const std::string& bytes) {
    const bool is_large = !file.ends_with(".json");
    server_.AddFile(kId, kCommit, file,
                    {bytes, fmt::format("e{}", ++etags_), is_large});
  }
  void AddSharded() {
    const std::vector<Tensor> all = Tensors();
    Add("model-00001-of-00002.safetensors",
        Safetensors({all.begin(), all.begin() + 5}));
    Add("model-00002-of-00002.safetensors",
        Safetensors({all.begin() + 5, all.end()}));
    std::string map;
    for (size_t i = 0; i < all.size(); ++i) {
      map += fmt::format(R"({}"{}":"model-0000{}-of-00002.safetensors")",
                         map.empty() ? "" : ",", all[i].name, i < 5 ? 1 : 2);
    }
    Add("model.safetensors.index.json",
        R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
  }

  std::string Run(std::vector<std::string> words) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = RunCli(Commands(), words, {}, out, err);
    return OneLine(std::to_string(status) + "\n" + out.str() + err.str());
  }
  // Bytes of files behind a redirect that were asked for.
  int64_t RangesOfLargeFiles() const {
    int64_t ranges = 0;
    for (const HubRequest& request : server_.requests()) {
      if (!request.path.starts_with("/large/")) continue;
      EXPECT_NE(request.Header("range"), "") << "a whole file of weights";
      ++ranges;
    }
    return ranges;
  }

  HubEnvironment environment_;
  HubServer server_;
  int etags_ = 0;
};

TEST_F(HubFilesTest, AHeaderIsReadByRange) {
  Add("model.safetensors", Safetensors(Tensors()));
  const auto folder = OpenHubFolder(*ReadHubCheckpointName(kId), {});
  const Checkpoint checkpoint = ReadCheckpoint(*folder);
  EXPECT_EQ(checkpoint.format, CheckpointFormat::kSafetensors);
  EXPECT_EQ(checkpoint.tensors.size(), 12u);
  EXPECT_LE(RangesOfLargeFiles(), 2);
}

TEST_F(HubFilesTest, OfShardsTheHeadersAlone) {
  AddSharded();
  const auto folder = OpenHubFolder(*ReadHubCheckpointName(kId), {});
  EXPECT_EQ(ReadCheckpoint(*folder).tensors.size(), 12u);
  EXPECT_LE(RangesOfLargeFiles(), 4);
}

TEST_F(HubFilesTest, TheCommandComparesWithARepository) {
  AddSharded();
  EXPECT_THAT(Run({"model", kId, "--against", kId}), StartsWith("0 "));
  // A tensor of another shape is a difference.
  auto tensors = Tensors();
  tensors[0].shape = {11, 8};
  server_.AddFile("acme/other", kCommit, "model.safetensors",
                  {Safetensors(tensors), "f1", true});
  server_.SetRevision("acme/other", "v1", kCommit);
  EXPECT_THAT(Run({"model", kId, "--against", "acme/other@v1"}),
              AllOf(StartsWith("1 "), HasSubstr("lm_head.weight")));
  EXPECT_THAT(Run({"model", kId, "--against", "acme/other"}),
              AllOf(StartsWith("2 "), HasSubstr("has no revision main")));
  EXPECT_THAT(Run({"model", kId, "--against", "acme/nothing"}),
              AllOf(StartsWith("2 "), HasSubstr("is no repository")));
}

TEST_F(HubFilesTest, WhatTheCacheHasIsReadThere) {
  const std::string snapshot =
      "hf/hub/models--acme--tiny/snapshots/" + kCommit + "/";
  environment_.folder().Write("hf/hub/models--acme--tiny/refs/main", kCommit);
  environment_.folder().Write(snapshot + "config.json", kConfig);
  environment_.folder().Write(snapshot + "model.safetensors",
                              Safetensors(Tensors()));
  EXPECT_THAT(Run({"model", kId, "--against", kId, "--offline"}),
              StartsWith("0 "));
  EXPECT_THAT(Run({"model", kId}), HasSubstr("Stored 12 Equal 12"));
  EXPECT_THAT(server_.requests(), testing::IsEmpty());
}

TEST_F(HubFilesTest, OfflineWhatIsNotHereIsTold) {
  Run({"model", kId});
  EXPECT_THAT(Run({"model", kId, "--against", kId, "--offline"}),
              AllOf(StartsWith("2 "),
                    HasSubstr("its weights of revision main are not in the "
                              "hub's cache, and --offline forbids")));
}

TEST(HubCheckpointName, TakesTheWaysToWriteOne) {
  const auto read = [](const char* text) {
    const auto name = ReadHubCheckpointName(text);
    return name ? name->id + " " + name->revision + " " + name->file : "none";
  };
  EXPECT_EQ(read("a/b"), "a/b  ");
  EXPECT_EQ(read("a/b@v1"), "a/b v1 ");
  EXPECT_EQ(read("a/b/x.gguf"), "a/b  x.gguf");
  EXPECT_EQ(read("https://huggingface.co/a/b/tree/v1"), "a/b v1 ");
  EXPECT_EQ(read("a"), "none");
  EXPECT_EQ(read("a/b@../x"), "none");
  EXPECT_EQ(read("a/b/../x"), "none");
  EXPECT_EQ(read("a/b/c/d"), "none");
}

}  // namespace
}  // namespace foretell
