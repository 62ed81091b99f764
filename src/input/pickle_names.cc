#include "input/pickle_names.h"

#include <array>
#include <string>

#include "input/pickle.h"

namespace foretell {
namespace {

constexpr std::array<PickleNameRow, 12> kFunctions = {{
    {"collections.OrderedDict", PickleName::kDict},
    {"torch._utils._rebuild_tensor", PickleName::kTensor},
    {"torch._utils._rebuild_tensor_v2", PickleName::kTensor},
    {"torch._utils._rebuild_tensor_v3", PickleName::kTensorWithDtype},
    {"torch._utils._rebuild_parameter", PickleName::kParameter},
    {"torch._utils._rebuild_parameter_with_state", PickleName::kParameter},
    {"torch.Size", PickleName::kSize},
    {"torch.device", PickleName::kOpaque},
    {"torch.serialization._get_layout", PickleName::kOpaque},
    {"builtins.set", PickleName::kOpaque},
    {"__builtin__.set", PickleName::kOpaque},
    {"_codecs.encode", PickleName::kOpaque},
}};

constexpr std::array<PickleNameRow, 18> kStorages = {{
    {"DoubleStorage", PickleName::kStorage, "float64", 8},
    {"FloatStorage", PickleName::kStorage, "float32", 4},
    {"HalfStorage", PickleName::kStorage, "float16", 2},
    {"BFloat16Storage", PickleName::kStorage, "bfloat16", 2},
    {"LongStorage", PickleName::kStorage, "int64", 8},
    {"IntStorage", PickleName::kStorage, "int32", 4},
    {"ShortStorage", PickleName::kStorage, "int16", 2},
    {"CharStorage", PickleName::kStorage, "int8", 1},
    {"ByteStorage", PickleName::kStorage, "uint8", 1},
    {"BoolStorage", PickleName::kStorage, "bool", 1},
    {"ComplexDoubleStorage", PickleName::kStorage, "complex128", 16},
    {"ComplexFloatStorage", PickleName::kStorage, "complex64", 8},
    {"QUInt8Storage", PickleName::kStorage, "quint8", 1},
    {"QInt8Storage", PickleName::kStorage, "qint8", 1},
    {"QInt32Storage", PickleName::kStorage, "qint32", 4},
    {"QUInt4x2Storage", PickleName::kStorage, "quint4x2", 1},
    {"QUInt2x4Storage", PickleName::kStorage, "quint2x4", 1},
    {"UntypedStorage", PickleName::kStorage, "uint8", 1},
}};

// Dtypes without a storage class of their own, beside those above.
constexpr std::array<PickleNameRow, 10> kDtypes = {{
    {"uint16", PickleName::kDtype, "uint16", 2},
    {"uint32", PickleName::kDtype, "uint32", 4},
    {"uint64", PickleName::kDtype, "uint64", 8},
    {"complex32", PickleName::kDtype, "complex32", 4},
    {"float8_e4m3fn", PickleName::kDtype, "float8_e4m3fn", 1},
    {"float8_e5m2", PickleName::kDtype, "float8_e5m2", 1},
    {"float8_e4m3fnuz", PickleName::kDtype, "float8_e4m3fnuz", 1},
    {"float8_e5m2fnuz", PickleName::kDtype, "float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", PickleName::kDtype, "float8_e8m0fnu", 1},
    // Two to a byte; its shape counts the bytes.
    {"float4_e2m1fn_x2", PickleName::kDtype, "float4_e2m1fn_x2", 1},
}};

}  // namespace

PickleNameRow PickleNameOf(std::string_view name) {
  for (const PickleNameRow& row : kFunctions) {
    if (row.name == name) return row;
  }
  constexpr std::string_view kTorch = "torch.";
  if (!name.starts_with(kTorch)) return {name};
  std::string_view rest = name.substr(kTorch.size());
  constexpr std::string_view kModule = "storage.";
  if (rest.starts_with(kModule)) rest.remove_prefix(kModule.size());
  for (const PickleNameRow& row : kStorages) {
    if (row.name == rest) return row;
  }
  for (const PickleNameRow& row : kDtypes) {
    if (row.name == rest) return row;
  }
  for (const PickleNameRow& row : kStorages) {
    if (row.dtype == rest) {
      return {name, PickleName::kDtype, row.dtype, row.bytes};
    }
  }
  return {name};
}

int64_t TorchElementBytes(std::string_view dtype) {
  for (const PickleNameRow& row : kStorages) {
    if (row.dtype == dtype) return row.bytes;
  }
  for (const PickleNameRow& row : kDtypes) {
    if (row.dtype == dtype) return row.bytes;
  }
  return 0;
}

}  // namespace foretell
