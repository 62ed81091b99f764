// What libraries themselves stored for one linear weight, as
// tools/quantized/record_linear.py recorded it, tensor by tensor.
#include "analysis/quantization/packed_linear.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "input/measured_rows.h"

namespace foretell {
namespace {

std::string TextOf(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.Find(key);
  return value == nullptr ? "" : std::string(value->AsString().value_or(""));
}

int64_t NumberOf(const ConfigValue& object, std::string_view key,
                 int64_t otherwise) {
  const ConfigValue* value = object.Find(key);
  return value == nullptr ? otherwise : value->AsInteger().value_or(otherwise);
}

bool FlagOf(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.Find(key);
  return value != nullptr && value->AsBool() == true;
}

Packing PackingOf(const ConfigValue& words) {
  static const auto& formats = *new std::map<std::string, PackedFormat>{
      {"bnb4", PackedFormat::kBnb4},
      {"bnb8", PackedFormat::kBnb8},
      {"pack-quantized", PackedFormat::kPackQuantized},
      {"int-quantized", PackedFormat::kInt8},
      {"float-quantized", PackedFormat::kFp8},
      {"nvfp4", PackedFormat::kNvfp4},
      {"marlin-24", PackedFormat::kMarlin24},
      {"mxfp4", PackedFormat::kMxfp4},
      {"hqq", PackedFormat::kHqq},
      {"torchao-int8", PackedFormat::kTorchaoInt8},
      {"gptq", PackedFormat::kGptq},
      {"awq", PackedFormat::kAwq}};
  Packing out;
  const std::string format = TextOf(words, "format");
  out.format = formats.at(format);
  out.bits = static_cast<int>(NumberOf(words, "bits", 4));
  out.group_size = NumberOf(words, "group_size", 128);
  out.symmetric = FlagOf(words, "symmetric");
  out.double_quantized = FlagOf(words, "double_quantized");
  out.has_input_scale = FlagOf(words, "has_input_scale");
  const std::string scales = TextOf(words, "scales");
  out.scales = scales == "channel" ? ScaleOf::kChannel
               : scales == "block" ? ScaleOf::kBlock
                                   : ScaleOf::kTensor;
  out.scale_dtype = DType::kBFloat16;
  if (format == "hqq") out.compute_dtype = DType::kFloat16;
  return out;
}

TEST(PackedLinear, IsWhatTheLibrariesStored) {
  const MeasuredRows rows = LoadMeasuredRows(
      {.path = std::string(FORETELL_SOURCE_DIR) +
               "/tests/truth/packed_linear.jsonl",
       .model_field = "",
       .configs_dir = std::string(FORETELL_SOURCE_DIR) + "/tests",
       .aliases_file = std::nullopt});
  EXPECT_GE(rows.rows.size(), 20u);
  for (const MeasuredRow& row : rows.rows) {
    const ConfigValue& fields = row.fields;
    const ConfigValue* words = fields.Find("packing");
    ASSERT_NE(words, nullptr);
    std::map<std::string, std::string> recorded;
    for (const auto& [name, tensor] : fields.Find("tensors")->members()) {
      std::string shape;
      for (const ConfigValue& dim : tensor.items()[1].items()) {
        shape += (shape.empty() ? "" : ", ") + dim.spelling();
      }
      recorded[name] =
          std::string(*tensor.items()[0].AsString()) + " [" + shape + "]";
    }
    std::map<std::string, std::string> ours;
    for (const PackedTensor& tensor :
         PackLinear(NumberOf(fields, "out", 0), NumberOf(fields, "in", 0),
                    PackingOf(*words))) {
      if (!tensor.in_file) continue;
      ours[tensor.suffix] = tensor.dtype + " " + tensor.shape.ToString();
    }
    // The state's name has the kind of four bits, its length the digits of an
    // offset: neither is a matter of packing.
    const auto is_state = [](const auto& entry) {
      return entry.first.starts_with("weight.quant_state.");
    };
    EXPECT_EQ(std::erase_if(ours, is_state), std::erase_if(recorded, is_state));
    EXPECT_EQ(ours, recorded) << TextOf(fields, "library") << " line "
                              << row.line << " " << words->ToJson();
  }
}

}  // namespace
}  // namespace foretell
