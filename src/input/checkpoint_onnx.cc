#include "input/checkpoint_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/figure.h"
#include "input/byte_window.h"
#include "input/checkpoint_limits.h"

namespace foretell {
namespace {

constexpr std::string_view kRemake = "export the model again, or copy it again";

struct OnnxType {
  std::string_view name;
  int bits;  // 0: of no fixed size
};

// onnx.proto, enum TensorProto.DataType, by number.
constexpr std::array<OnnxType, 27> kTypes = {{
    {"UNDEFINED", 0},      {"FLOAT", 32},     {"UINT8", 8},
    {"INT8", 8},           {"UINT16", 16},    {"INT16", 16},
    {"INT32", 32},         {"INT64", 64},     {"STRING", 0},
    {"BOOL", 8},           {"FLOAT16", 16},   {"DOUBLE", 64},
    {"UINT32", 32},        {"UINT64", 64},    {"COMPLEX64", 64},
    {"COMPLEX128", 128},   {"BFLOAT16", 16},  {"FLOAT8E4M3FN", 8},
    {"FLOAT8E4M3FNUZ", 8}, {"FLOAT8E5M2", 8}, {"FLOAT8E5M2FNUZ", 8},
    {"UINT4", 4},          {"INT4", 4},       {"FLOAT4E2M1", 4},
    {"FLOAT8E8M0", 8},     {"UINT2", 2},      {"INT2", 2},
}};

// One field of a message: a number, or a range of bytes.
struct Field {
  uint64_t number = 0;  // of the field
  bool is_range = false;
  uint64_t value = 0;  // of a varint or a fixed number
  int64_t begin = 0;
  int64_t end = 0;
};

class OnnxReader {
 public:
  explicit OnnxReader(ByteSource& source) : window_(source) {}

  OnnxHeader Read() {
    bool has_graph = false;
    int64_t at = 0;
    while (at < window_.size()) {
      const Field field = Next(at, window_.size());
      // ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8,
      // metadata_props 14.
      if (field.is_range && field.number == 7) {
        has_graph = true;
        ReadGraph(field);
      } else if (field.is_range && field.number == 2) {
        AddEntry("producer_name", TextOf(field));
      } else if (field.is_range && field.number == 14) {
        auto [key, value] = Pair(field);
        AddEntry(std::move(key), std::move(value));
      }
    }
    if (!has_graph) {
      window_.Fail(0, "holds no graph, as an ONNX model does",
                   "pass an ONNX model");
    }
    return std::move(out_);
  }

 private:
  uint64_t Varint(int64_t& at, int64_t end) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at >= end) {
        window_.Fail(at, "a number ends behind its message",
                     std::string(kRemake));
      }
      const auto byte =
          static_cast<unsigned char>(window_.At(at, 1, "a number")[0]);
      ++at;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    window_.Fail(at, "a number has more than ten bytes", std::string(kRemake));
  }

  // The field at `at`, which is moved behind it; all of it lies before `end`.
  Field Next(int64_t& at, int64_t end) {
    const int64_t start = at;
    const uint64_t tag = Varint(at, end);
    Field out;
    out.number = tag >> 3;
    uint64_t length = 0;
    switch (tag & 7) {
      case 0:
        out.value = Varint(at, end);
        return out;
      case 1:
        length = 8;
        break;
      case 2:
        length = Varint(at, end);
        out.is_range = true;
        break;
      case 5:
        length = 4;
        break;
      default:  // groups, which ONNX never had
        window_.Fail(start, "is no field of a protobuf message",
                     "pass an ONNX model");
    }
    if (length > static_cast<uint64_t>(end - at)) {
      window_.Fail(start,
                   fmt::format("a field of {} bytes would end behind its "
                               "message",
                               length),
                   std::string(kRemake));
    }
    out.begin = at;
    at += static_cast<int64_t>(length);
    out.end = at;
    return out;
  }

  std::string TextOf(const Field& field) {
    return window_.Copy(field.begin, field.end - field.begin, kMostNameBytes,
                        "a text");
  }

  // StringStringEntryProto: key 1, value 2.
  std::pair<std::string, std::string> Pair(const Field& field) {
    std::pair<std::string, std::string> out;
    for (int64_t at = field.begin; at < field.end;) {
      const Field part = Next(at, field.end);
      if (!part.is_range) continue;
      if (part.number == 1) out.first = TextOf(part);
      if (part.number != 2) continue;
      out.second = window_.Copy(part.begin, part.end - part.begin,
                                kMostTextBytes, "a property");
      kept_ += part.end - part.begin;
      if (kept_ > kMostMetadataBytes) {
        window_.Fail(part.begin, "holds too many properties",
                     std::string(kRemake));
      }
    }
    return out;
  }

  void AddEntry(std::string key, std::string value) {
    if (static_cast<int64_t>(out_.metadata.size()) >= kMostEntries) {
      window_.FailAt(ShownName(key), "is one of too many properties",
                     std::string(kRemake));
    }
    out_.metadata.push_back(
        {std::move(key), ConfigValue::String(std::move(value)), 0});
  }

  // GraphProto: initializer 5, sparse_initializer 15.
  void ReadGraph(const Field& graph) {
    for (int64_t at = graph.begin; at < graph.end;) {
      const Field field = Next(at, graph.end);
      if (!field.is_range) continue;
      if (field.number == 5) ReadTensor(field);
      if (field.number == 15) {
        window_.Fail(field.begin, "has a sparse initializer",
                     "export the model with dense weights");
      }
    }
  }

  struct TensorParts {
    int64_t type = 0;
    bool is_external = false;
    std::optional<Field> raw;
    int64_t typed_bytes = 0;  // in the fields of numbers
    std::string location;
    int64_t offset = 0;
    std::optional<int64_t> length;
  };

  void ReadTensor(const Field& message) {
    if (static_cast<int64_t>(out_.tensors.size()) >= kMostTensors) {
      window_.Fail(message.begin, "has too many initializers",
                   std::string(kRemake));
    }
    StoredTensor tensor;
    TensorParts parts;
    tensor.offset = message.begin;
    for (int64_t at = message.begin; at < message.end;) {
      ReadTensorField(Next(at, message.end), tensor, parts);
    }
    Finish(tensor, parts);
    out_.tensors.push_back(std::move(tensor));
  }

  // TensorProto: dims 1, data_type 2, float_data 4, int32_data 5, string_data
  // 6, int64_data 7, name 8, raw_data 9, double_data 10, uint64_data 11,
  // external_data 13, data_location 14.
  void ReadTensorField(const Field& field, StoredTensor& tensor,
                       TensorParts& parts) {
    switch (field.number) {
      case 1:
        ReadDims(field, tensor.shape);
        break;
      case 2:
        parts.type =
            static_cast<int64_t>(std::min<uint64_t>(field.value, 1000));
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11:
        if (parts.typed_bytes == 0) tensor.offset = field.begin;
        parts.typed_bytes += field.end - field.begin;
        break;
      case 8:
        if (field.is_range) tensor.name = TextOf(field);
        break;
      case 9:
        if (field.is_range) parts.raw = field;
        break;
      case 13:
        if (field.is_range) ReadExternal(Pair(field), tensor, parts);
        break;
      case 14:
        parts.is_external = field.value == 1;
        break;
      default:
        break;
    }
  }

  // Packed into one range, or one field each.
  void ReadDims(const Field& field, std::vector<int64_t>& shape) {
    const auto add = [&](uint64_t value) {
      if (static_cast<int64_t>(shape.size()) >= kMostDims ||
          value > static_cast<uint64_t>(INT64_MAX)) {
        window_.Fail(field.begin, "a tensor has a negative extent or too many",
                     std::string(kRemake));
      }
      shape.push_back(static_cast<int64_t>(value));
    };
    if (!field.is_range) {
      add(field.value);
      return;
    }
    for (int64_t at = field.begin; at < field.end;) add(Varint(at, field.end));
  }

  void ReadExternal(const std::pair<std::string, std::string>& entry,
                    const StoredTensor& tensor, TensorParts& parts) {
    const auto& [key, value] = entry;
    if (key == "location") {
      parts.location = value;
      return;
    }
    if (key != "offset" && key != "length") return;
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() ||
        number < 0) {
      window_.FailAt(
          "tensor " + ShownName(tensor.name),
          "has an " + key + " that is no whole number: " + ShownName(value),
          std::string(kRemake));
    }
    if (key == "offset") parts.offset = number;
    if (key == "length") parts.length = number;
  }

  int32_t FileOf(const std::string& location) {
    const auto found = std::ranges::find(out_.beside, location);
    if (found != out_.beside.end()) {
      return static_cast<int32_t>(found - out_.beside.begin()) + 1;
    }
    // Each tensor may have a file of its own; past this many, looking one up
    // would take too long.
    if (static_cast<int64_t>(out_.beside.size()) >= kMostFiles) {
      window_.FailAt(ShownName(location), "is one of too many files beside it",
                     "save the weights in one file");
    }
    out_.beside.push_back(location);
    return static_cast<int32_t>(out_.beside.size());
  }

  void Finish(StoredTensor& tensor, const TensorParts& parts) {
    const std::string key = "tensor " + ShownName(tensor.name);
    if (parts.type < 0 || parts.type >= static_cast<int64_t>(kTypes.size())) {
      window_.FailAt(key,
                     fmt::format("has type {}, which ONNX lacks", parts.type),
                     std::string(kRemake));
    }
    const OnnxType& type = kTypes[static_cast<size_t>(parts.type)];
    tensor.dtype = type.name;
    std::optional<int64_t> bits = type.bits;
    for (const int64_t extent : tensor.shape) {
      if (bits) bits = CheckedMul(*bits, extent);
    }
    if (!bits || *bits > INT64_MAX - 7) {
      window_.FailAt(key, "has more elements than can be counted",
                     std::string(kRemake));
    }
    tensor.bytes = type.bits == 0 ? parts.typed_bytes : (*bits + 7) / 8;
    std::optional<int64_t> held;
    if (parts.is_external) {
      if (parts.location.empty()) {
        window_.FailAt(key, "is kept beside the file, and does not say where",
                       std::string(kRemake));
      }
      tensor.file = FileOf(parts.location);
      tensor.offset = parts.offset;
      held = parts.length;
    } else if (parts.raw) {
      tensor.offset = parts.raw->begin;
      held = parts.raw->end - parts.raw->begin;
    }
    if (held && *held != tensor.bytes) {
      window_.FailAt(key,
                     fmt::format("holds {} bytes, and its shape in {} has {}",
                                 WithSeparators(*held), type.name,
                                 WithSeparators(tensor.bytes)),
                     std::string(kRemake));
    }
    if (!held && tensor.bytes > 0 && parts.typed_bytes == 0 &&
        !parts.is_external) {
      window_.FailAt(key, "holds no data", std::string(kRemake));
    }
  }

  ByteWindow window_;
  OnnxHeader out_;
  int64_t kept_ = 0;
};

}  // namespace

OnnxHeader ReadOnnxHeader(ByteSource& source) {
  return OnnxReader(source).Read();
}

}  // namespace foretell
