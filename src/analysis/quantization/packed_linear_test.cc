// What the libraries themselves store for one weight [96, 256] or, for
// bitsandbytes, [100, 192].
#include "analysis/quantization/packed_linear.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

std::string Stored(int64_t out, int64_t in, const Packing& packing) {
  std::string text;
  for (const PackedTensor& tensor : PackLinear(out, in, packing)) {
    if (!tensor.in_file) continue;
    text += tensor.suffix + " " + tensor.dtype + " " + tensor.shape.ToString() +
            "\n";
  }
  return text;
}

TEST(PackLinear, BitsandbytesStoresMapsAndAText) {
  // bitsandbytes 0.50.2, Linear4bit(192, 100).state_dict().
  Packing packing = {.format = PackedFormat::kBnb4};
  EXPECT_EQ(Stored(100, 192, packing),
            "weight U8 [9600, 1]\n"
            "weight.absmax F32 [300]\n"
            "weight.quant_map F32 [16]\n"
            "weight.quant_state.bitsandbytes__nf4 U8 [80]\n");
  packing.double_quantized = true;
  EXPECT_EQ(Stored(100, 192, packing),
            "weight U8 [9600, 1]\n"
            "weight.absmax U8 [300]\n"
            "weight.nested_absmax F32 [2]\n"
            "weight.nested_quant_map F32 [256]\n"
            "weight.quant_map F32 [16]\n"
            "weight.quant_state.bitsandbytes__nf4 U8 [170]\n");
  // The text's length depends on the values; two recorded ones have 169 bytes.
  const Bytes file = FileBytes(PackLinear(100, 192, packing));
  const double recorded = 9600 + 300 + 8 + 1024 + 64 + 169;
  EXPECT_EQ(file.provenance(), Provenance::kEstimated);
  EXPECT_LE(*file.any().low(), recorded);
  EXPECT_GE(*file.any().high(), recorded);
  const Bytes memory = MemoryBytes(PackLinear(100, 192, packing));
  EXPECT_EQ(memory.exact(), 9600 + 300 + 8 + 1024 + 64 + 4);
  packing.from_file = false;
  EXPECT_EQ(PackedLinearMemory(100, 192, packing).exact(),
            9600 + 300 + 8 + 64 + 4);
  EXPECT_EQ(Stored(100, 192, {.format = PackedFormat::kBnb8}),
            "weight I8 [100, 192]\nSCB F32 [100]\nweight_format U8 []\n");
}

TEST(PackLinear, GptqAndAwqPackEightToAWord) {
  Packing packing = {.format = PackedFormat::kGptq};
  EXPECT_EQ(Stored(96, 256, packing),
            "qweight I32 [32, 96]\nqzeros I32 [2, 12]\n"
            "scales F16 [2, 96]\ng_idx I32 [256]\n");
  packing.bits = 3;
  EXPECT_EQ(Stored(96, 256, packing),
            "qweight I32 [24, 96]\nqzeros I32 [2, 9]\n"
            "scales F16 [2, 96]\ng_idx I32 [256]\n");
  packing.format = PackedFormat::kAwq;
  packing.bits = 4;
  EXPECT_EQ(Stored(96, 256, packing),
            "qweight I32 [256, 12]\nqzeros I32 [2, 12]\nscales F16 [2, 96]\n");
  // A last group may be cut for GPTQ and not for AWQ.
  EXPECT_TRUE(PackLinear(96, 192, packing).empty());
  packing.format = PackedFormat::kGptq;
  EXPECT_EQ(PackLinear(96, 192, packing)[2].shape.ToString(), "[2, 96]");
}

TEST(PackLinear, CompressedTensorsByTheirFormats) {
  // compressed-tensors 0.20.1, ModelCompressor.compress_model.
  Packing packing = {.format = PackedFormat::kPackQuantized,
                     .symmetric = true,
                     .scale_dtype = DType::kBFloat16};
  EXPECT_EQ(Stored(96, 256, packing),
            "weight_packed I32 [96, 32]\nweight_scale BF16 [96, 2]\n"
            "weight_shape I64 [2]\n");
  packing.symmetric = false;
  EXPECT_EQ(Stored(96, 256, packing),
            "weight_packed I32 [96, 32]\nweight_scale BF16 [96, 2]\n"
            "weight_zero_point I32 [12, 2]\nweight_shape I64 [2]\n");
  packing.symmetric = true;
  packing.bits = 8;
  packing.group_size = -1;
  EXPECT_EQ(Stored(96, 256, packing),
            "weight_packed I32 [96, 64]\nweight_scale BF16 [96, 1]\n"
            "weight_shape I64 [2]\n");
  EXPECT_EQ(Stored(96, 256,
                   {.format = PackedFormat::kInt8,
                    .symmetric = true,
                    .scales = ScaleOf::kChannel,
                    .scale_dtype = DType::kBFloat16}),
            "weight I8 [96, 256]\nweight_scale BF16 [96, 1]\n");
  EXPECT_EQ(Stored(96, 256,
                   {.format = PackedFormat::kFp8,
                    .scale_dtype = DType::kBFloat16,
                    .has_input_scale = true}),
            "weight F8_E4M3 [96, 256]\nweight_scale BF16 [1]\n"
            "input_scale BF16 [1]\n");
  EXPECT_EQ(Stored(96, 256,
                   {.format = PackedFormat::kFp8,
                    .scales = ScaleOf::kBlock,
                    .scale_dtype = DType::kBFloat16}),
            "weight F8_E4M3 [96, 256]\nweight_scale BF16 [1, 2]\n");
  EXPECT_EQ(Stored(96, 256,
                   {.format = PackedFormat::kNvfp4, .has_input_scale = true}),
            "weight_packed U8 [96, 128]\nweight_scale F8_E4M3 [96, 16]\n"
            "weight_global_scale F32 [1]\ninput_global_scale F32 [1]\n");
  EXPECT_EQ(Stored(96, 256, {.format = PackedFormat::kMxfp4}),
            "weight_packed U8 [96, 128]\nweight_scale U8 [96, 8]\n");
}

TEST(PackLinear, HqqAndTorchaoAsTheyStandInAStateDict) {
  // hqq 0.2.8.post1: HQQLinear(Linear(256, 96)).state_dict().
  Packing packing = {.format = PackedFormat::kHqq,
                     .bits = 4,
                     .group_size = 64,
                     .compute_dtype = DType::kFloat16};
  const std::string four = Stored(96, 256, packing);
  EXPECT_TRUE(four.starts_with(
      "W_q U8 [192, 64]\nscale F16 [384, 1]\nzero F16 [384, 1]\n"))
      << four;
  EXPECT_NE(four.find("compute_dtype U8 [13]"), std::string::npos);
  packing.bits = 3;
  EXPECT_TRUE(Stored(96, 256, packing).starts_with("W_q I32 [39, 64]\n"));
  packing.bits = 1;
  packing.group_size = 32;
  EXPECT_TRUE(Stored(96, 256, packing).starts_with("W_q U8 [96, 32]\n"));
  // torchao 0.18.0, Int8WeightOnlyConfig.
  EXPECT_EQ(Stored(96, 256, {.format = PackedFormat::kTorchaoInt8}),
            "weight.qdata I8 [96, 256]\nweight.scale F32 [96, 1]\n"
            "weight.zero_point I8 [96, 1]\n");
}

TEST(PackLinear, WhatAFormatCannotHoldIsUnknown) {
  const Bytes bytes =
      PackedLinearMemory(90, 256, {.format = PackedFormat::kAwq});
  ASSERT_TRUE(bytes.is_unknown());
  EXPECT_EQ(bytes.any().missing().front(),
            "awq cannot hold a weight [90, 256]");
  EXPECT_TRUE(PackLinear(0, 256, {}).empty());
  EXPECT_TRUE(PackLinear(int64_t{1} << 40, int64_t{1} << 40, {}).empty());
}

}  // namespace
}  // namespace foretell
