// One linear weight as a quantization format stores it: tensor by tensor.
//
// In: a weight [out, in] and how it is packed. Out: the tensors that take its
// place in a checkpoint, with the names that follow the module's, their dtypes
// as safetensors spells them, shapes and bytes, and which of them a loaded
// module holds too. A bias is no part of this: it stays as it was.
//
// Sources, by format:
//   AWQ      autoawq 0.2.9, awq/modules/linear/gemm.py (WQLinear_GEMM)
//   GPTQ     gptqmodel 7.7, nn_modules/qlinear/__init__.py;
//            auto_gptq 0.7 stores the same; both keep qzeros where symmetric
//            and g_idx where not ordered by activation. AutoRound exports so.
//   nf4, fp4 bitsandbytes 0.50, functional.py (QuantState.as_dict)
//   int8     bitsandbytes 0.50, nn/modules.py (Linear8bitLt)
//   FP8      transformers 5.23, integrations/finegrained_fp8.py (blocks, per
//            tensor), integrations/fbgemm_fp8.py (per channel)
//   compressed-tensors 0.20, compressors/ (pack-quantized, int- and
//            float-quantized, nvfp4- and mxfp4-pack-quantized), and 0.9 for
//            marlin-24 (compressors/sparse_quantized_compressors/marlin_24.py)
//   MXFP4    transformers 5.23, integrations/mxfp4.py (blocks, scales)
//   NVFP4, FP8 of ModelOpt 0.33, torch/export/quant_utils.py
//   HQQ      hqq 0.2.8, core/quantize.py (HQQLinear.state_dict)
//   AQLM     aqlm 1.1.7, inference.py (QuantizedLinear)
//   torchao  0.18, quantization/quantize_/workflows
//   BitNet   transformers 5.23, integrations/bitnet.py (BitLinear)
// tools/quantized/record_linear.py packs with the libraries themselves; what it
// recorded is compared in tests/truth/packed_linear_test.cc.
//
// Does not model: kernels that repack after loading with padding, workspaces.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_PACKED_LINEAR_H_
#define FORETELL_ANALYSIS_QUANTIZATION_PACKED_LINEAR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/figure.h"
#include "base/shape.h"

namespace foretell {

enum class PackedFormat : uint8_t {
  kAwq,
  kGptq,
  kBnb4,  // nf4 and fp4
  kBnb8,  // LLM.int8()
  kFp8,   // one float8 an element; `scales` says how many scales
  kInt8,  // compressed-tensors' int-quantized
  kPackQuantized,
  kMarlin24,
  kMxfp4,  // blocks of 32 with a shared exponent, two tensors
  kNvfp4,  // blocks of 16 with a float8 scale, and one for the tensor
  kHqq,
  kAqlm,
  kTorchaoInt8,
  kTorchaoInt4,
  kBitnet,
};

std::string_view NameOf(PackedFormat format);

// What one scale belongs to.
enum class ScaleOf : uint8_t { kTensor, kChannel, kBlock };

struct Packing {
  PackedFormat format = PackedFormat::kAwq;
  int bits = 4;
  int64_t group_size = 128;  // -1: a whole row
  bool symmetric = false;    // no zero points where the format may omit them
  bool has_order = false;    // g_idx of compressed-tensors' actorder: group
  // bitsandbytes: scales of 64 elements are quantized themselves, in 256s.
  bool double_quantized = false;
  bool is_fp4 = false;  // bitsandbytes: fp4 in place of nf4
  // bitsandbytes: the maps of the file are held once per layer; weights that
  // are quantized while they load share one.
  bool from_file = true;
  ScaleOf scales = ScaleOf::kTensor;
  int64_t block_rows = 128;
  int64_t block_columns = 128;
  DType scale_dtype = DType::kFloat32;  // of FP8 and of compressed-tensors
  std::string scale_name = "weight_scale";
  bool has_input_scale = false;  // a static one
  bool input_zero_point = false;
  // NVFP4: the names of ModelOpt's, or of compressed-tensors'.
  bool modelopt_names = false;
  // MXFP4 beside another method: the hub's counter knows its words by the
  // method alone, and so counts these as they lie in the header.
  bool counts_words = false;
  // AQLM: codes of in_group x out_group elements.
  int64_t codebooks = 1;
  int codebook_bits = 16;
  int64_t in_group = 8;
  int64_t out_group = 1;
  DType compute_dtype = DType::kBFloat16;  // bitsandbytes states it in text
};

struct PackedTensor {
  std::string suffix;  // after the module's name: "qweight", "weight.absmax"
  std::string dtype;   // "I32", "F8_E4M3", as safetensors spells it
  Shape shape;
  Bytes bytes;
  bool in_memory = true;  // a loaded module holds it
  bool in_file = true;
  // How the hub counts its elements: words of packed integers and of MXFP4 as
  // what they hold (openai/gpt-oss-20b, moonshotai/Kimi-K2.5), all else as it
  // lies in the header; 0 where that is so.
  int64_t counted = 0;
};

// Nothing is rounded up silently: where a size does not divide as the format
// demands, the library's own padding is applied, and where the library refuses
// such a size, the list is empty.
std::vector<PackedTensor> PackLinear(int64_t out, int64_t in,
                                     const Packing& packing);

Bytes FileBytes(const std::vector<PackedTensor>& tensors);
Bytes MemoryBytes(const std::vector<PackedTensor>& tensors);

// The bytes that a loaded module holds for one weight [out, in]; unknown where
// the format cannot hold such a size.
Bytes PackedLinearMemory(int64_t out, int64_t in, const Packing& packing);

// The dtype as safetensors spells it: "BF16", "F8_E4M3".
std::string_view SafetensorsName(DType dtype);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_PACKED_LINEAR_H_
