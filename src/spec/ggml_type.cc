#include "spec/ggml_type.h"

#include <algorithm>
#include <array>

#include "base/checked.h"

namespace foretell {
namespace {

constexpr std::array<GgmlType, 39> kTypes = {{
    {0, "F32", 1, 4},           {1, "F16", 1, 2},
    {2, "Q4_0", 32, 18},        {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},        {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},        {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},      {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},     {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},     {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},   {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},   {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},     {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},     {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1},           {25, "I16", 1, 2},
    {26, "I32", 1, 4},          {27, "I64", 1, 8},
    {28, "F64", 1, 8},          {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},         {31, "Q4_0_4_4", 32, 18},
    {32, "Q4_0_4_8", 32, 18},   {33, "Q4_0_8_8", 32, 18},
    {34, "TQ1_0", 256, 54},     {35, "TQ2_0", 256, 66},
    {36, "IQ4_NL_4_4", 32, 18}, {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},      {41, "Q1_0", 128, 18},
    {42, "Q2_0", 64, 18},
}};

}  // namespace

std::span<const GgmlType> AllGgmlTypes() { return kTypes; }

const GgmlType* GgmlTypeOf(int64_t id) {
  const auto found = std::ranges::find(kTypes, id, &GgmlType::id);
  return found == kTypes.end() ? nullptr : &*found;
}

const GgmlType* GgmlTypeNamed(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &GgmlType::name);
  return found == kTypes.end() ? nullptr : &*found;
}

std::optional<int64_t> BytesOf(const GgmlType& type, int64_t elements) {
  if (elements < 0 || elements % type.block != 0) return std::nullopt;
  return CheckedMul(elements / type.block, type.bytes);
}

}  // namespace foretell
