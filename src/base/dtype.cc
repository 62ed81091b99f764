#include "base/dtype.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace foretell {
namespace {

constexpr std::array<DTypeRow, 14> kRows = {{
    {DType::kFloat64, "float64", "f64", 64, true},
    {DType::kFloat32, "float32", "f32", 32, true},
    {DType::kBFloat16, "bfloat16", "bf16", 16, true},
    {DType::kFloat16, "float16", "f16", 16, true},
    {DType::kFloat8E4M3, "float8_e4m3fn", "f8e4m3", 8, true},
    {DType::kFloat8E5M2, "float8_e5m2", "f8e5m2", 8, true},
    {DType::kInt64, "int64", "i64", 64, false},
    {DType::kUInt64, "uint64", "u64", 64, false},
    {DType::kInt32, "int32", "i32", 32, false},
    {DType::kInt16, "int16", "i16", 16, false},
    {DType::kInt8, "int8", "i8", 8, false},
    {DType::kUInt8, "uint8", "u8", 8, false},
    {DType::kBool, "bool", "b8", 8, false},
    {DType::kComplex64, "complex64", "c64", 64, false},
}};

constexpr std::array<std::pair<std::string_view, DType>, 11> kOtherSpellings = {
    {
        {"half", DType::kFloat16},
        {"float", DType::kFloat32},
        {"double", DType::kFloat64},
        {"fp16", DType::kFloat16},
        {"fp32", DType::kFloat32},
        {"fp64", DType::kFloat64},
        {"fp8", DType::kFloat8E4M3},
        {"float8", DType::kFloat8E4M3},
        {"float8_e4m3", DType::kFloat8E4M3},
        {"long", DType::kInt64},
        {"int", DType::kInt32},
    }};

}  // namespace

std::span<const DTypeRow> AllDTypes() { return kRows; }

const DTypeRow& Describe(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  FORETELL_CHECK(index < kRows.size(), "dtype without a row");
  return kRows[index];
}

std::optional<DType> ParseDType(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const DTypeRow& row : kRows) {
    if (row.name == name || row.short_name == name) return row.dtype;
  }
  for (const auto& [spelling, dtype] : kOtherSpellings) {
    if (spelling == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace foretell
