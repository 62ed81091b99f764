#include "input/model_config_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ModelConfigSourceTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::string& target) const {
    try {
      return "read " + LoadModelConfig(target).source;
    } catch (const InputErrors& errors) {
      return dir_.Shown(errors.what());
    }
  }
  std::string ErrorIn(const std::string& name) const {
    return ErrorOf(dir_.Path(name));
  }

  ScratchFolder dir_;
};

TEST_F(ModelConfigSourceTest, ReadsAFileAndAFolder) {
  const std::string file =
      dir_.Write("My-Llama/config.json", "{\"hidden_size\":\n 8}");
  const ModelConfig config = LoadModelConfig(file);
  EXPECT_EQ(config.root.ToJson(), "{\"hidden_size\":8}");
  EXPECT_EQ(config.source, file);
  EXPECT_EQ(config.name, "My-Llama");
  EXPECT_FALSE(config.catalogue);
  const Place place =
      config.PlaceOf(*config.root.Find("hidden_size"), "hidden_size");
  EXPECT_EQ(ToString(place), file + ":2:2 (hidden_size)");
  const ModelConfig folder = LoadModelConfig(dir_.Path("My-Llama"));
  EXPECT_EQ(folder.source, file);
  EXPECT_EQ(folder.name, "My-Llama");
  EXPECT_EQ(LoadModelConfig(dir_.Path("My-Llama/")).name, "My-Llama");
  EXPECT_EQ(LoadModelConfig(dir_.Path("My-Llama/.")).name, "My-Llama");
}

TEST_F(ModelConfigSourceTest, NamesAFileByItsOwnName) {
  EXPECT_EQ(LoadModelConfig(dir_.Write("x/roberta-base.json", "{}")).name,
            "roberta-base");
  EXPECT_EQ(LoadModelConfig(dir_.Write("x/odd.txt", "{}")).name, "odd.txt");
}

TEST_F(ModelConfigSourceTest, ReadsTheCatalogue) {
  const ModelConfig config = LoadModelConfig("Qwen/Qwen3-8B");
  EXPECT_EQ(config.source, "catalogue:Qwen/Qwen3-8B");
  EXPECT_EQ(config.name, "Qwen/Qwen3-8B");
  EXPECT_EQ(config.root.Find("hidden_size")->spelling(), "4096");
  ASSERT_TRUE(config.catalogue);
  EXPECT_EQ(config.catalogue->id, "Qwen/Qwen3-8B");
  EXPECT_EQ(config.catalogue->asked, "");
  EXPECT_EQ(LoadModelConfig("qwen/qwen3-8b").name, "Qwen/Qwen3-8B");
  EXPECT_EQ(
      LoadModelConfig("https://huggingface.co/Qwen/Qwen3-8B/tree/main").name,
      "Qwen/Qwen3-8B");
}

TEST_F(ModelConfigSourceTest, OffersTheNearestIds) {
  EXPECT_EQ(ErrorOf("Qwen/Qwen3-9B"),
            "error: Qwen/Qwen3-9B: is not in the catalogue, and no file or "
            "folder has this name\ncure: pass the path of its config.json; "
            "the nearest that are known: Qwen/Qwen3-4B, Qwen/Qwen3-8B, "
            "Qwen/Qwen3.5-9B\n");
  EXPECT_THAT(ErrorOf("qwen3-8b"), HasSubstr("known: Qwen/Qwen3-8B"));
  EXPECT_EQ(ErrorOf("zzzzzzzz"),
            "error: zzzzzzzz: is not in the catalogue, and no file or folder "
            "has this name\ncure: pass the path of its config.json\n");
  EXPECT_THAT(ErrorOf(""), StartsWith("error: \"\": is not in the catalogue"));
  EXPECT_THROW(LoadModelConfig(std::string("a\0b", 3)), InputErrors);
}

TEST_F(ModelConfigSourceTest, TellsAMissingFile) {
  dir_.Write("config.json", "{}");
  EXPECT_EQ(ErrorIn("confg.json"),
            "error: DIR/confg.json: does not exist\n"
            "cure: check the path; in DIR there is config.json\n");
  EXPECT_EQ(ErrorOf("nowhere.json"),
            "error: nowhere.json: does not exist\ncure: check the path\n");
}

TEST_F(ModelConfigSourceTest, TellsWhatIsNoObject) {
  dir_.Write("a.json", " [1]");
  EXPECT_EQ(ErrorIn("a.json"),
            "error: DIR/a.json:1:2: holds an array, not an object of "
            "settings\n   [1]\n   ^\ncure: pass a model's config.json\n");
}

TEST_F(ModelConfigSourceTest, TellsWeightsByTheirBytes) {
  dir_.Write("m/model.safetensors", std::string("\x10\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(ErrorIn("m/model.safetensors"),
            "error: DIR/m/model.safetensors: holds weights (safetensors), not "
            "a configuration\ncure: pass the config.json of the model that it "
            "was made from\n");
  dir_.Write("m/config.json", "{}");
  dir_.Write("m/pytorch_model.bin", "PK\x03\x04");
  EXPECT_EQ(ErrorIn("m/pytorch_model.bin"),
            "error: DIR/m/pytorch_model.bin: holds weights (a zip file, as "
            "PyTorch saves), not a configuration\n"
            "cure: pass DIR/m/config.json, which lies beside it\n");
  // Under a configuration's name, and larger than any configuration.
  const std::string big = dir_.Write("big/config.json", "GGUF");
  std::filesystem::resize_file(big, uintmax_t{1} << 40);
  EXPECT_EQ(ErrorIn("big"),
            "error: DIR/big/config.json: holds weights (GGUF), not a "
            "configuration\ncure: pass DIR/big/config.json, which lies beside "
            "it\n");
}

TEST_F(ModelConfigSourceTest, TellsAnAdapter) {
  dir_.Write("lora/adapter_config.json",
             R"({"peft_type": "LORA", "base_model_name_or_path": "o/m"})");
  dir_.Write("lora/adapter_model.safetensors", "");
  EXPECT_EQ(ErrorIn("lora"),
            "error: DIR/lora: has no config.json: its adapter_config.json "
            "describes an adapter of o/m, not a model\n"
            "cure: pass its base model: o/m\n");
  EXPECT_EQ(ErrorIn("lora/adapter_config.json"),
            "error: DIR/lora/adapter_config.json: describes an adapter of "
            "o/m, not a model\ncure: pass its base model: o/m\n");
}

TEST_F(ModelConfigSourceTest, TellsAPipeline) {
  dir_.Write("p/model_index.json",
             R"({"_class_name": "FluxPipeline", "vae": ["diffusers", "A"]})");
  dir_.Write("p/vae/config.json", "{}");
  dir_.Write("p/scheduler/scheduler_config.json", "{}");
  EXPECT_EQ(ErrorIn("p"),
            "error: DIR/p: has no config.json: its model_index.json describes "
            "a pipeline of several models, not one\n"
            "cure: pass one of its parts: DIR/p/vae\n");
  EXPECT_EQ(ErrorIn("p/model_index.json"),
            "error: DIR/p/model_index.json: describes a pipeline of several "
            "models, not one\ncure: pass one of its parts' config.json "
            "(vae)\n");
}

TEST_F(ModelConfigSourceTest, TellsThePublishersOwnLayout) {
  dir_.Write("m/params.json",
             R"({"dim": 1, "n_layers": 2, "n_heads": 3, "vocab_size": 4})");
  dir_.Write("m/consolidated.safetensors", "");
  EXPECT_EQ(ErrorIn("m"),
            "error: DIR/m: has no config.json: its params.json is the "
            "params.json of a model in its publisher's own layout\n"
            "cure: pass the config.json of the same model in transformers' "
            "layout, or its id\n");
}

TEST_F(ModelConfigSourceTest, TellsWhatAFolderHolds) {
  dir_.Write("g/model-Q4_K_M.gguf", "GGUF");
  EXPECT_EQ(ErrorIn("g"),
            "error: DIR/g: has no config.json; it holds model-Q4_K_M.gguf\n"
            "cure: put the config.json of the model that the weights were "
            "made from beside them, or pass its path or the model's id\n");
  for (int i = 0; i < 9; ++i) dir_.Write("t/" + std::to_string(i), "");
  EXPECT_EQ(ErrorIn("t"),
            "error: DIR/t: has no config.json; it holds 0, 1, 2, 3, 4, 5 and "
            "3 more\ncure: pass a folder that holds config.json, or a model's "
            "id\n");
  dir_.Write("many/a/config.json", "{}");
  EXPECT_EQ(ErrorIn("many"),
            "error: DIR/many: has no config.json; it holds a/\n"
            "cure: pass a folder that has one: DIR/many/a\n");
  std::filesystem::create_directory(dir_.Path("empty"));
  EXPECT_EQ(ErrorIn("empty"),
            "error: DIR/empty: is an empty folder, or one that may not be "
            "read\ncure: pass a folder that holds config.json\n");
  dir_.Write("models--o--m/snapshots/abc/config.json", "{}");
  EXPECT_EQ(ErrorIn("models--o--m"),
            "error: DIR/models--o--m: is a model's folder in the hub's cache\n"
            "cure: pass a revision: DIR/models--o--m/snapshots/abc\n");
}

TEST_F(ModelConfigSourceTest, NeverWaitsForAPipe) {
  std::filesystem::create_directory(dir_.Path("m"));
  ASSERT_EQ(mkfifo(dir_.Path("m/config.json").c_str(), 0600), 0);
  EXPECT_THAT(ErrorIn("m"), HasSubstr("is a pipe, which may never end"));
  EXPECT_THAT(ErrorIn("m/config.json"), HasSubstr("is a pipe"));
}

TEST_F(ModelConfigSourceTest, AConfigurationIsNeverTakenForSomethingElse) {
  EXPECT_THAT(
      ErrorOf(dir_.Write("a.json", R"({"model_type": "distilbert", "dim": 1,
               "n_layers": 2, "n_heads": 3, "weight_map": {}})")),
      StartsWith("read "));
  // Named as weights are, and none.
  EXPECT_THAT(ErrorOf(dir_.Write("b.bin", "{}")), StartsWith("read "));
  EXPECT_THAT(ErrorOf(dir_.Write("c.safetensors",
                                 "version https://git-lfs.github.com/spec/v1\n"
                                 "oid sha256:1\n")),
              HasSubstr("is a Git LFS pointer"));
}

TEST_F(ModelConfigSourceTest, KeepsTheReadersNotes) {
  const ModelConfig config =
      ParseModelConfig("\xEF\xBB\xBF{\"a\": 1, \"a\": 2}", "s", "n");
  ASSERT_EQ(config.notes.size(), 2u);
  EXPECT_EQ(config.notes[0].rule, "config/byte-order-mark");
  EXPECT_EQ(config.notes[1].rule, "config/duplicate-key");
}

}  // namespace
}  // namespace foretell
