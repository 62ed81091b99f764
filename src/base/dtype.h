// The element types that tensors, checkpoints and caches are made of.
//
// Names are PyTorch's ("bfloat16"), short names those of PyTorch's own
// recordings ("bf16"). Sizes are in bits, since packed formats hold less than
// a byte per element.
#ifndef FORETELL_BASE_DTYPE_H_
#define FORETELL_BASE_DTYPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace foretell {

enum class DType : uint8_t {
  kFloat64,
  kFloat32,
  kBFloat16,
  kFloat16,
  kFloat8E4M3,
  kFloat8E5M2,
  kInt64,
  kUInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt8,
  kBool,
  kComplex64,  // a pair of float32
};

struct DTypeRow {
  DType dtype;
  std::string_view name;        // PyTorch's name: "bfloat16"
  std::string_view short_name;  // as in recordings: "bf16"
  int bits;                     // per element
  bool is_floating;
};

// Every dtype, in the order of the enumeration.
std::span<const DTypeRow> AllDTypes();

const DTypeRow& Describe(DType dtype);

inline std::string_view NameOf(DType dtype) { return Describe(dtype).name; }
inline std::string_view ShortNameOf(DType dtype) {
  return Describe(dtype).short_name;
}
// Bytes per element; every dtype here is at least a byte wide.
inline int64_t BytesOf(DType dtype) { return Describe(dtype).bits / 8; }

// Accepts PyTorch's names with or without "torch.", the short names and
// the common spellings "half", "float", "fp16", "fp32", "fp8".
std::optional<DType> ParseDType(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_BASE_DTYPE_H_
