// Headers of small models that quantization libraries packed, as
// tools/quantized/record_models.py recorded them: every packed weight is found
// tensor by tensor, and what is wrong with one is told.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "answers/against.h"
#include "answers/read_model.h"
#include "input/measured_rows.h"
#include "spec/checkpoint.h"

namespace foretell {
namespace {

struct PackedModel {
  std::string name;  // "hqq 0.2.8: 4 bits in 64"
  ModelConfig config;
  Checkpoint checkpoint;
};

std::vector<PackedModel> PackedModels() {
  const MeasuredRows rows = LoadMeasuredRows(
      {.path = std::string(FORETELL_SOURCE_DIR) +
               "/tests/truth/packed_models.jsonl",
       .model_field = "",
       .configs_dir = std::string(FORETELL_SOURCE_DIR) + "/tests",
       .aliases_file = std::nullopt});
  std::vector<PackedModel> out;
  for (const MeasuredRow& row : rows.rows) {
    PackedModel next;
    next.name = std::string(*row.fields.Find("library")->AsString()) + ": " +
                std::string(*row.fields.Find("case")->AsString());
    next.config.root = *row.fields.Find("config");
    next.config.source = next.config.name = next.name;
    next.checkpoint.format = CheckpointFormat::kSafetensors;
    next.checkpoint.source = next.name;
    for (const ConfigValue& tensor : row.fields.Find("tensors")->items()) {
      StoredTensor stored;
      stored.name = std::string(*tensor.items()[0].AsString());
      stored.dtype = std::string(*tensor.items()[1].AsString());
      for (const ConfigValue& dim : tensor.items()[2].items()) {
        stored.shape.push_back(*dim.AsInteger());
      }
      next.checkpoint.tensors.push_back(std::move(stored));
    }
    out.push_back(std::move(next));
  }
  return out;
}

AgainstAnswer Compared(const PackedModel& file) {
  auto read = ReadModelOf(file.config, {});
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    ADD_FAILURE() << ToString(refusal->errors.front());
    return {};
  }
  return CompareWithCheckpoint(file.config, std::get<ReadModel>(read),
                               file.checkpoint);
}

std::string Shown(const AgainstAnswer& answer) {
  std::string out = answer.cannot_tell;
  for (const TensorDifference& item : answer.differences) {
    out += std::string(NameOf(item.kind)) + " " + item.name + ": " +
           item.derived + " / " + item.stored + "\n";
  }
  return out;
}

TEST(PackedModels, EveryPackedWeightIsFoundTensorByTensor) {
  std::set<std::string> libraries;
  for (const PackedModel& file : PackedModels()) {
    SCOPED_TRACE(file.name);
    const AgainstAnswer answer = Compared(file);
    EXPECT_EQ(Shown(answer), "");
    EXPECT_EQ(answer.packed, 7);
    EXPECT_NE(answer.names.find("tensor by tensor"), std::string::npos);
    libraries.insert(file.name.substr(0, file.name.find(' ')));
  }
  EXPECT_GE(libraries.size(), 7u);
}

// Each tensor of a packed weight that a loader needs: without it, with another
// shape, with another type.
TEST(PackedModels, WhatIsWrongWithOneIsTold) {
  for (const PackedModel& file : PackedModels()) {
    SCOPED_TRACE(file.name);
    int64_t told_missing = 0;
    for (size_t i = 0; i < file.checkpoint.tensors.size(); ++i) {
      const std::string& name = file.checkpoint.tensors[i].name;
      if (name.find("layers.0.mlp.down_proj") == std::string::npos) continue;
      PackedModel lost = file;
      lost.checkpoint.tensors.erase(lost.checkpoint.tensors.begin() +
                                    static_cast<std::ptrdiff_t>(i));
      const AgainstAnswer missing = Compared(lost);
      told_missing += missing.CountOf(DifferenceKind::kMissing);
      if (missing.CountOf(DifferenceKind::kMissing) == 0) continue;
      EXPECT_EQ(missing.packed, 6);
      PackedModel other = file;
      other.checkpoint.tensors[i].shape.push_back(3);
      EXPECT_EQ(Compared(other).CountOf(DifferenceKind::kShape), 1) << name;
      other = file;
      other.checkpoint.tensors[i].dtype = "F64";
      EXPECT_EQ(Compared(other).CountOf(DifferenceKind::kDtype), 1) << name;
    }
    EXPECT_GE(told_missing, 2);
  }
}

// openai/gpt-oss-20b's header, of one layer.
PackedModel GptOss() {
  PackedModel out;
  out.name = "gpt-oss";
  ConfigValue& root = out.config.root;
  root = ConfigValue::Object();
  out.config.source = out.config.name = out.name;
  root.Set("model_type", ConfigValue::String("gpt_oss"));
  root.Set("architectures",
           ConfigValue::Array({ConfigValue::String("GptOssForCausalLM")}));
  root.Set("num_hidden_layers", ConfigValue::Number("1"));
  root.Set("num_local_experts", ConfigValue::Number("32"));
  ConfigValue quantization = ConfigValue::Object();
  quantization.Set("quant_method", ConfigValue::String("mxfp4"));
  quantization.Set(
      "modules_to_not_convert",
      ConfigValue::Array({ConfigValue::String("model.layers.*.self_attn"),
                          ConfigValue::String("model.layers.*.mlp.router"),
                          ConfigValue::String("model.embed_tokens"),
                          ConfigValue::String("lm_head")}));
  root.Set("quantization_config", std::move(quantization));
  out.checkpoint.format = CheckpointFormat::kSafetensors;
  const auto add = [&](std::string_view name, std::string_view dtype,
                       std::vector<int64_t> shape) {
    StoredTensor tensor;
    tensor.name = "model.layers.0.mlp.experts." + std::string(name);
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    out.checkpoint.tensors.push_back(std::move(tensor));
  };
  add("gate_up_proj_blocks", "U8", {32, 5760, 90, 16});
  add("gate_up_proj_scales", "U8", {32, 5760, 90});
  add("down_proj_blocks", "U8", {32, 2880, 90, 16});
  add("down_proj_scales", "U8", {32, 2880, 90});
  return out;
}

TEST(PackedModels, GptOssHoldsBlocksAndScales) {
  PackedModel file = GptOss();
  const AgainstAnswer answer = Compared(file);
  EXPECT_EQ(answer.packed, 2);
  EXPECT_EQ(answer.CountOf(DifferenceKind::kSurplus), 0);
  EXPECT_EQ(Shown(answer).find("experts.gate_up_proj:"), std::string::npos);
  file.checkpoint.tensors[1].shape[2] = 91;
  EXPECT_EQ(Compared(file).packed, 1);
  EXPECT_EQ(Compared(file).CountOf(DifferenceKind::kShape), 1);
}

TEST(PackedModels, ALayerThatIsNotConvertedMustBePlain) {
  for (PackedModel& file : PackedModels()) {
    if (!file.name.starts_with("autoawq")) continue;
    ConfigValue quantization = *file.config.root.Find("quantization_config");
    quantization.Set("modules_to_not_convert",
                     ConfigValue::Array({ConfigValue::String("q_proj")}));
    file.config.root.Set("quantization_config", quantization);
    const AgainstAnswer answer = Compared(file);
    EXPECT_EQ(answer.CountOf(DifferenceKind::kDtype), 1) << Shown(answer);
    EXPECT_EQ(answer.packed, 6);
  }
}

}  // namespace
}  // namespace foretell
