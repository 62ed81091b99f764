// Tiny models that transformers saved and llama.cpp's converter converted:
// every derived tensor is found in the file, and the file holds no other.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <variant>

#include "answers/against.h"
#include "answers/model.h"
#include "answers/read_model.h"
#include "input/checkpoint.h"
#include "input/gguf_config.h"
#include "input/json.h"
#include "input/source_scratch_folder.h"
#include "spec/checkpoint.h"
#include "tests/truth/checkpoint_case.h"

namespace foretell {
namespace {

ReadModel Built(const ModelConfig& config) {
  auto read = ReadModelOf(config, {});
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    ADD_FAILURE() << ToString(refusal->errors.front());
    return {};
  }
  return std::move(std::get<ReadModel>(read));
}

std::string Shown(const AgainstAnswer& answer) {
  std::string out = answer.cannot_tell;
  for (const TensorDifference& item : answer.differences) {
    out += std::string(NameOf(item.kind)) + " " + item.name + " " +
           item.indices + ": " + item.derived + " / " + item.stored + "\n";
  }
  return out;
}

ModelConfig ConfigOf(const CheckpointCase& file) {
  ModelConfig config;
  config.root = file.config;
  config.source = file.name;
  config.name = file.name;
  return config;
}

TEST(CheckpointAgainst, FindsEveryTensorOfModelsThatTransformersSaved) {
  int compared = 0;
  for (const CheckpointCase& file : CheckpointCases()) {
    if (file.config.is_null()) continue;
    SCOPED_TRACE(file.name);
    const ScratchFolder folder;
    folder.Write(file.file, file.bytes);
    const ModelConfig config = ConfigOf(file);
    const ReadModel model = Built(config);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
    const AgainstAnswer answer =
        CompareWithCheckpoint(config, model, checkpoint);
    EXPECT_EQ(Shown(answer), "");
    EXPECT_EQ(answer.equal, static_cast<int64_t>(checkpoint.tensors.size()));
    ++compared;
  }
  EXPECT_GE(compared, 16);
}

TEST(CheckpointAgainst, ReadsGgufFilesAloneAndFindsEveryTensor) {
  std::set<std::string> classes;
  for (const CheckpointCase& file : CheckpointCases()) {
    constexpr std::string_view kConverted = ", converted";
    if (!file.name.ends_with(kConverted)) continue;
    SCOPED_TRACE(file.name);
    const ScratchFolder folder;
    folder.Write(file.file, file.bytes);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
    const auto config = ConfigOfGguf(checkpoint);
    if (!config) {
      // Its metadata is not mapped; GraniteMoe's alone among these.
      EXPECT_EQ(file.name, "GraniteMoeForCausalLM, converted");
      continue;
    }
    const ReadModel model = Built(*config);
    EXPECT_EQ(model.built.class_name + std::string(kConverted), file.name);
    const AgainstAnswer answer =
        CompareWithCheckpoint(*config, model, checkpoint);
    EXPECT_EQ(Shown(answer), "");
    EXPECT_EQ(answer.equal, static_cast<int64_t>(checkpoint.tensors.size()));
    classes.insert(model.built.class_name);
  }
  EXPECT_GE(classes.size(), 24u);
}

// What a comparison tells of one case after `change`.
template <class Change>
AgainstAnswer Changed(std::string_view name, const Change& change) {
  for (const CheckpointCase& file : CheckpointCases()) {
    if (file.name != name) continue;
    const ScratchFolder folder;
    folder.Write(file.file, file.bytes);
    ModelConfig config = ConfigOf(file);
    Checkpoint checkpoint = ReadCheckpointAt(folder.path());
    change(config, checkpoint);
    return CompareWithCheckpoint(config, Built(config), checkpoint);
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

void RenameAll(Checkpoint& checkpoint, std::string_view from,
               std::string_view to) {
  for (StoredTensor& tensor : checkpoint.tensors) {
    if (!tensor.name.starts_with(from)) continue;
    tensor.name = std::string(to) + tensor.name.substr(from.size());
  }
}

TEST(CheckpointAgainst, TellsWhatIsMissingSurplusAndOfAnotherShape) {
  const AgainstAnswer answer =
      Changed("Qwen3MoeForCausalLM", [](ModelConfig&, Checkpoint& checkpoint) {
        for (StoredTensor& tensor : checkpoint.tensors) {
          if (tensor.name == "model.norm.weight") tensor.name = "other";
          if (tensor.name.ends_with("q_proj.weight")) tensor.shape = {32, 31};
          if (tensor.name.ends_with("lm_head.weight")) tensor.dtype = "F32";
          if (tensor.name.find("experts.3.up_proj") != std::string::npos) {
            tensor.name += "_lost";
          }
        }
      });
  EXPECT_EQ(Shown(answer),
            "missing model.layers.#.mlp.experts.#.up_proj.weight 0-1 x 3: "
            "[16, 32] BF16 / \n"
            "missing model.norm.weight : [32] BF16 / \n"
            "surplus model.layers.#.mlp.experts.#.up_proj.weight_lost 0-1 x 3: "
            " / [16, 32] BF16\n"
            "surplus other :  / [32] BF16\n"
            "shape model.layers.#.self_attn.q_proj.weight 0-1: [32, 32] BF16 / "
            "[32, 31] BF16\n"
            "dtype lm_head.weight : [96, 32] BF16 / [96, 32] F32\n");
  EXPECT_EQ(answer.CountOf(DifferenceKind::kMissing), 3);
  EXPECT_TRUE(answer.Differs());
}

TEST(CheckpointAgainst, TellsAnotherNumberOfLayers) {
  const AgainstAnswer answer =
      Changed("LlamaForCausalLM", [](ModelConfig& config, Checkpoint&) {
        config.root.Set("num_hidden_layers", ConfigValue::Number("3"));
      });
  EXPECT_EQ(answer.CountOf(DifferenceKind::kMissing), 9);
  EXPECT_EQ(answer.CountOf(DifferenceKind::kSurplus), 0);
}

TEST(CheckpointAgainst, FollowsPrefixes) {
  for (const std::string_view prefix :
       {"", "language_model.model.", "model.language_model."}) {
    const AgainstAnswer answer =
        Changed("LlamaForCausalLM", [&](ModelConfig&, Checkpoint& checkpoint) {
          RenameAll(checkpoint, "model.", prefix);
        });
    EXPECT_EQ(Shown(answer), "") << prefix;
  }
}

TEST(CheckpointAgainst, FollowsOldNamesOfNorms) {
  const AgainstAnswer answer =
      Changed("BertForMaskedLM", [](ModelConfig&, Checkpoint& checkpoint) {
        for (StoredTensor& tensor : checkpoint.tensors) {
          const size_t at = tensor.name.find("LayerNorm.weight");
          if (at != std::string::npos)
            tensor.name.replace(at, 16, "LayerNorm.gamma");
        }
      });
  EXPECT_EQ(Shown(answer), "");
}

TEST(CheckpointAgainst, CountsPackedWeightsAsWhatTheyStandFor) {
  const AgainstAnswer answer =
      Changed("LlamaForCausalLM", [](ModelConfig&, Checkpoint& checkpoint) {
        std::vector<StoredTensor> out;
        for (StoredTensor& tensor : checkpoint.tensors) {
          if (!tensor.name.ends_with("_proj.weight")) {
            out.push_back(tensor);
            continue;
          }
          // As GPTQ stores four bits: eight rows to a word.
          const std::string module =
              tensor.name.substr(0, tensor.name.size() - 6);
          out.push_back({module + "qweight",
                         "I32",
                         {tensor.shape[1] / 8, tensor.shape[0]},
                         tensor.shape[0] * tensor.shape[1] / 2,
                         0,
                         0});
          out.push_back({module + "scales",
                         "F16",
                         {1, tensor.shape[0]},
                         tensor.shape[0] * 2,
                         0,
                         0});
        }
        checkpoint.tensors = std::move(out);
      });
  EXPECT_EQ(Shown(answer), "");
  EXPECT_EQ(answer.packed, 14);
  ASSERT_EQ(answer.explained.size(), 1u);
  EXPECT_EQ(answer.explained[0].count, 14);
}

}  // namespace
}  // namespace foretell
