#include "analysis/quantization/packed_linear.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/checked.h"

namespace foretell {
namespace {

constexpr int64_t kWordBits = 32;  // of an int32
// bitsandbytes 0.50, functional.py: quantize_4bit's blocksize on CUDA, and
// that of its nested scales.
constexpr int64_t kBnbBlock = 64;
constexpr int64_t kBnbNestedBlock = 256;
constexpr int64_t kBnbCodes = 16;
constexpr int64_t kBnbNestedCodes = 256;
// Of the text that states a nested offset: "0.1" up to a float32's longest.
constexpr double kOffsetTextLeast = 3;
constexpr double kOffsetTextMost = 23;
// A mean of trained weights' scales prints as "0.04203109070658684".
constexpr double kOffsetText = 19;
// OCP Microscaling Formats 1.0: 32 elements share a scale; NVFP4: 16.
constexpr int64_t kMxBlock = 32;
constexpr int64_t kNvBlock = 16;
constexpr int64_t kBitnetPerByte = 4;  // two bits an element

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Packer {
 public:
  Packer(int64_t out, int64_t in, const Packing& packing)
      : out_(out), in_(in), packing_(packing) {}

  std::vector<PackedTensor> Take() && {
    if (refused_) return {};
    return std::move(tensors_);
  }

  void Pack() {
    switch (packing_.format) {
      case PackedFormat::kAwq:
        return PackAwq();
      case PackedFormat::kGptq:
        return PackGptq();
      case PackedFormat::kBnb4:
        return PackBnb4();
      case PackedFormat::kBnb8:
        Add("weight", "I8", {out_, in_});
        Add("SCB", "F32", {out_});
        AddFileOnly("weight_format", "U8", {});
        return;
      case PackedFormat::kFp8:
        return PackScaled("F8_E4M3");
      case PackedFormat::kInt8:
        return PackScaled("I8");
      case PackedFormat::kPackQuantized:
        return PackWords();
      case PackedFormat::kMarlin24:
        return PackMarlin24();
      case PackedFormat::kMxfp4:
        if (!Divides(in_, kMxBlock)) return;
        Add("weight_packed", "U8", {out_, in_ / 2});
        if (!packing_.counts_words) CountAsWhole();
        Add("weight_scale", "U8", {out_, in_ / kMxBlock});
        return;
      case PackedFormat::kNvfp4:
        return PackNvfp4();
      case PackedFormat::kHqq:
        return PackHqq();
      case PackedFormat::kAqlm:
        return PackAqlm();
      case PackedFormat::kTorchaoInt8:
        Add("weight.qdata", "I8", {out_, in_});
        Add("weight.scale", "F32", {out_, 1});
        Add("weight.zero_point", "I8", {out_, 1});
        return;
      case PackedFormat::kTorchaoInt4:
        if (!Divides(in_, GroupSize())) return;
        Add("weight.qdata", "U8", {out_, in_ / 2});
        Add("weight.scale_and_zero",
            std::string(SafetensorsName(packing_.scale_dtype)),
            {in_ / GroupSize(), out_, 2});
        return;
      case PackedFormat::kBitnet:
        if (!Divides(out_, kBitnetPerByte)) return;
        Add("weight", "U8", {out_ / kBitnetPerByte, in_});
        Add("weight_scale", std::string(SafetensorsName(packing_.scale_dtype)),
            {1});
        return;
    }
  }

 private:
  int64_t GroupSize() const {
    return packing_.group_size > 0 ? packing_.group_size : in_;
  }
  int64_t Groups() const { return CeilDiv(in_, GroupSize()); }

  bool Divides(int64_t size, int64_t by) {
    if (by > 0 && size % by == 0) return true;
    refused_ = true;
    return false;
  }

  void Add(std::string suffix, std::string dtype, std::vector<int64_t> dims,
           bool in_memory = true) {
    static constexpr std::array<std::pair<std::string_view, int64_t>, 9>
        kSizes = {{{"U8", 1},
                   {"I8", 1},
                   {"F8_E4M3", 1},
                   {"F8_E8M0", 1},
                   {"I16", 2},
                   {"F16", 2},
                   {"BF16", 2},
                   {"I32", 4},
                   {"F32", 4}}};
    int64_t size = 8;  // I64, F64
    for (const auto& [name, bytes] : kSizes) {
      if (name == dtype) size = bytes;
    }
    std::optional<int64_t> bytes = size;
    for (const int64_t dim : dims) {
      bytes = bytes ? CheckedMul(*bytes, dim) : std::nullopt;
    }
    tensors_.push_back({std::move(suffix), std::move(dtype),
                        Shape(std::span<const int64_t>(dims)),
                        Bytes::Exact(bytes), in_memory, true, 0});
  }
  void CountAsWhole() { tensors_.back().counted = out_ * in_; }
  void AddFileOnly(std::string suffix, std::string dtype,
                   std::vector<int64_t> dims) {
    Add(std::move(suffix), std::move(dtype), std::move(dims), false);
  }

  void PackAwq() {
    // Eight values a word at four bits, along the outputs.
    if (!Divides(out_ * packing_.bits, kWordBits)) return;
    const int64_t words = out_ * packing_.bits / kWordBits;
    if (!Divides(in_, GroupSize())) return;
    Add("qweight", "I32", {in_, words});
    CountAsWhole();
    Add("qzeros", "I32", {Groups(), words});
    Add("scales", "F16", {Groups(), out_});
  }

  void PackGptq() {
    if (!Divides(in_ * packing_.bits, kWordBits)) return;
    if (!Divides(out_ * packing_.bits, kWordBits)) return;
    Add("qweight", "I32", {in_ * packing_.bits / kWordBits, out_});
    CountAsWhole();
    Add("qzeros", "I32", {Groups(), out_ * packing_.bits / kWordBits});
    Add("scales", "F16", {Groups(), out_});
    Add("g_idx", "I32", {in_});
  }

  void PackBnb4() {
    const int64_t elements = out_ * in_;
    const int64_t scales = CeilDiv(elements, kBnbBlock);
    Add("weight", "U8", {CeilDiv(elements, 2), 1});
    CountAsWhole();
    if (packing_.double_quantized) {
      Add("weight.absmax", "U8", {scales});
      Add("weight.nested_absmax", "F32", {CeilDiv(scales, kBnbNestedBlock)});
      Add("weight.nested_quant_map", "F32", {kBnbNestedCodes},
          packing_.from_file);
    } else {
      Add("weight.absmax", "F32", {scales});
    }
    Add("weight.quant_map", "F32", {kBnbCodes});
    AddBnbState();
  }

  // {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape":
  // [100, 192], "nested_blocksize": 256, "nested_dtype": "float32",
  // "nested_offset": 0.0420…}: its length depends on the weights' values.
  void AddBnbState() {
    const std::string text = fmt::format(
        "{{\"quant_type\": \"{}\", \"blocksize\": 64, \"dtype\": \"{}\", "
        "\"shape\": [{}, {}]",
        packing_.is_fp4 ? "fp4" : "nf4", NameOf(packing_.compute_dtype), out_,
        in_);
    const auto stem = static_cast<double>(text.size() + 1);
    PackedTensor state;
    state.suffix = packing_.is_fp4 ? "weight.quant_state.bitsandbytes__fp4"
                                   : "weight.quant_state.bitsandbytes__nf4";
    state.dtype = "U8";
    state.in_memory = false;
    if (!packing_.double_quantized) {
      state.shape = Shape({static_cast<int64_t>(text.size() + 1)});
      state.bytes = Bytes::Exact(static_cast<int64_t>(text.size() + 1));
    } else {
      constexpr std::string_view kNested =
          ", \"nested_blocksize\": 256, \"nested_dtype\": \"float32\", "
          "\"nested_offset\": ";
      const double fixed = stem + static_cast<double>(kNested.size());
      state.shape = Shape({static_cast<int64_t>(fixed + kOffsetText)});
      state.bytes = Bytes::Estimated(
          fixed + kOffsetText, fixed + kOffsetTextLeast,
          fixed + kOffsetTextMost,
          "the text that states a nested offset has as many digits as that");
    }
    tensors_.push_back(std::move(state));
    if (!packing_.double_quantized) return;
    // A number of that text becomes a scalar on the device.
    Add("weight.nested_offset", "F32", {});
    tensors_.back().in_file = false;
  }

  std::vector<int64_t> ScaleDims() const {
    switch (packing_.scales) {
      case ScaleOf::kTensor:
        return packing_.modelopt_names ? std::vector<int64_t>{}
                                       : std::vector<int64_t>{1};
      case ScaleOf::kChannel:
        return {out_, 1};
      case ScaleOf::kBlock:
        return {CeilDiv(out_, packing_.block_rows),
                CeilDiv(in_, packing_.block_columns)};
    }
    return {};
  }

  void PackScaled(const char* dtype) {
    const std::string scale(SafetensorsName(packing_.scale_dtype));
    Add("weight", dtype, {out_, in_});
    Add(packing_.scale_name, scale, ScaleDims());
    if (!packing_.symmetric && packing_.format == PackedFormat::kInt8) {
      Add("weight_zero_point", "I8", ScaleDims());
    }
    if (packing_.has_input_scale) {
      Add("input_scale", scale,
          packing_.modelopt_names ? std::vector<int64_t>{}
                                  : std::vector<int64_t>{1});
    }
    if (packing_.input_zero_point) Add("input_zero_point", "I8", {1});
  }

  void PackWords() {
    const int64_t per_word = kWordBits / packing_.bits;
    Add("weight_packed", "I32", {out_, CeilDiv(in_, per_word)});
    CountAsWhole();
    Add("weight_scale", std::string(SafetensorsName(packing_.scale_dtype)),
        {out_, Groups()});
    if (!packing_.symmetric) {
      Add("weight_zero_point", "I32", {CeilDiv(out_, per_word), Groups()});
    }
    if (packing_.has_order) Add("weight_g_idx", "I32", {in_});
    AddFileOnly("weight_shape", "I64", {2});
  }

  // Half of the values are kept, two of every four, with two bits each that
  // say where they stood; laid out in tiles of 16 for the kernel.
  void PackMarlin24() {
    constexpr int64_t kTile = 16;
    if (!Divides(in_, 2 * kTile) || !Divides(out_, kTile)) return;
    Add("weight_packed", "I32",
        {in_ / kTile / 2, out_ * kTile * packing_.bits / kWordBits});
    Add("meta", "I16", {in_ / kTile / 2, out_ * 2});
    Add("scale_packed", "F16", {Groups(), out_});
  }

  void PackNvfp4() {
    if (!Divides(in_, kNvBlock)) return;
    const bool modelopt = packing_.modelopt_names;
    const std::vector<int64_t> one =
        modelopt ? std::vector<int64_t>{} : std::vector<int64_t>{1};
    Add(modelopt ? "weight" : "weight_packed", "U8", {out_, in_ / 2});
    Add("weight_scale", "F8_E4M3", {out_, in_ / kNvBlock});
    Add(modelopt ? "weight_scale_2" : "weight_global_scale", "F32", one);
    if (packing_.has_input_scale) {
      Add(modelopt ? "input_scale" : "input_global_scale", "F32", one);
    }
  }

  void PackHqq() {
    const int64_t elements = out_ * in_;
    if (!Divides(elements, GroupSize())) return;
    const int64_t groups = elements / GroupSize();
    if (packing_.bits == 3) {
      // Ten values of three bits a word; the rows are padded to tens.
      constexpr int64_t kPerWord = 10;
      Add("W_q", "I32", {CeilDiv(groups, kPerWord), GroupSize()});
    } else {
      const int64_t per_byte = 8 / packing_.bits;
      if (!Divides(groups, per_byte)) return;
      Add("W_q", "U8", {groups / per_byte, GroupSize()});
    }
    Add("scale", "F16", {groups, 1});
    Add("zero", "F16", {groups, 1});
    // Its settings are stored as tensors: two texts, three numbers, flags.
    AddFileOnly("shape", "I64", {2});
    for (const char* number : {"nbits", "group_size", "axis"}) {
      AddFileOnly(number, "I32", {});
    }
    constexpr std::string_view kView = "torch.uint8";
    AddFileOnly("packing", "U8", {7});  // "4bit_u8", "3bit_32"
    AddFileOnly("unpack_view_dtype", "U8",
                {static_cast<int64_t>(kView.size())});
    AddFileOnly(
        "compute_dtype", "U8",
        {static_cast<int64_t>(6 + NameOf(packing_.compute_dtype).size())});
    for (const char* flag :
         {"view_as_float", "quant_scale", "quant_zero", "offload_meta",
          "encoded_state_dict", "stores_quant_config", "channel_wise",
          "optimize", "round_zero"}) {
      AddFileOnly(flag, "U8", {});
    }
  }

  void PackAqlm() {
    if (!Divides(in_, packing_.in_group)) return;
    if (!Divides(out_, packing_.out_group)) return;
    const bool wide = packing_.codebook_bits > 8;
    Add("codes", wide ? "I16" : "I8",
        {out_ / packing_.out_group, in_ / packing_.in_group,
         packing_.codebooks});
    Add("codebooks", "F16",
        {packing_.codebooks, int64_t{1} << packing_.codebook_bits,
         packing_.out_group, packing_.in_group});
    Add("scales", "F16", {out_ / packing_.out_group, 1, 1, 1});
  }

  int64_t out_;
  int64_t in_;
  const Packing& packing_;
  std::vector<PackedTensor> tensors_;
  bool refused_ = false;
};

}  // namespace

std::string_view NameOf(PackedFormat format) {
  switch (format) {
    case PackedFormat::kAwq:
      return "awq";
    case PackedFormat::kGptq:
      return "gptq";
    case PackedFormat::kBnb4:
      return "bitsandbytes 4-bit";
    case PackedFormat::kBnb8:
      return "bitsandbytes int8";
    case PackedFormat::kFp8:
      return "fp8";
    case PackedFormat::kInt8:
      return "int8";
    case PackedFormat::kPackQuantized:
      return "pack-quantized";
    case PackedFormat::kMarlin24:
      return "marlin-24";
    case PackedFormat::kMxfp4:
      return "mxfp4";
    case PackedFormat::kNvfp4:
      return "nvfp4";
    case PackedFormat::kHqq:
      return "hqq";
    case PackedFormat::kAqlm:
      return "aqlm";
    case PackedFormat::kTorchaoInt8:
      return "torchao int8";
    case PackedFormat::kTorchaoInt4:
      return "torchao int4";
    case PackedFormat::kBitnet:
      return "bitnet";
  }
  FailCheck(__FILE__, __LINE__, "format", "a packed format without a name");
}

std::string_view SafetensorsName(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "F64";
    case DType::kFloat32:
      return "F32";
    case DType::kBFloat16:
      return "BF16";
    case DType::kFloat16:
      return "F16";
    case DType::kFloat8E4M3:
      return "F8_E4M3";
    case DType::kFloat8E5M2:
      return "F8_E5M2";
    case DType::kInt64:
      return "I64";
    case DType::kUInt64:
      return "U64";
    case DType::kInt32:
      return "I32";
    case DType::kInt16:
      return "I16";
    case DType::kInt8:
      return "I8";
    case DType::kUInt8:
      return "U8";
    case DType::kBool:
      return "BOOL";
    case DType::kComplex64:
      return "C64";
  }
  FailCheck(__FILE__, __LINE__, "dtype", "a dtype without safetensors' name");
}

std::vector<PackedTensor> PackLinear(int64_t out, int64_t in,
                                     const Packing& packing) {
  if (out <= 0 || in <= 0 || packing.bits <= 0 || packing.bits > 8) return {};
  if (!CheckedMul(out, in)) return {};
  Packer packer(out, in, packing);
  packer.Pack();
  return std::move(packer).Take();
}

Bytes FileBytes(const std::vector<PackedTensor>& tensors) {
  Bytes total;
  for (const PackedTensor& tensor : tensors) {
    if (tensor.in_file) total += tensor.bytes;
  }
  return total;
}

Bytes MemoryBytes(const std::vector<PackedTensor>& tensors) {
  Bytes total;
  for (const PackedTensor& tensor : tensors) {
    if (tensor.in_memory) total += tensor.bytes;
  }
  return total;
}

Bytes PackedLinearMemory(int64_t out, int64_t in, const Packing& packing) {
  const std::vector<PackedTensor> tensors = PackLinear(out, in, packing);
  if (tensors.empty()) {
    return Bytes::Unknown(fmt::format("{} cannot hold a weight [{}, {}]",
                                      NameOf(packing.format), out, in));
  }
  return MemoryBytes(tensors);
}

}  // namespace foretell
