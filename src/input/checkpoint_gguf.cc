#include "input/checkpoint_gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/figure.h"
#include "input/byte_window.h"
#include "input/checkpoint_limits.h"
#include "spec/ggml_type.h"

namespace foretell {
namespace {

// ggml/include/gguf.h, enum gguf_type.
enum class Kind : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};
constexpr uint32_t kKinds = 13;

// ggml/include/ggml.h, GGML_MAX_DIMS.
constexpr uint32_t kMostGgmlDims = 4;
// ggml/include/gguf.h, GGUF_DEFAULT_ALIGNMENT.
constexpr int64_t kDefaultAlignment = 32;

constexpr std::string_view kRemake =
    "convert the model again, or copy the file again";

int64_t BytesOfKind(Kind kind) {
  switch (kind) {
    case Kind::kUint8:
    case Kind::kInt8:
    case Kind::kBool:
      return 1;
    case Kind::kUint16:
    case Kind::kInt16:
      return 2;
    case Kind::kUint32:
    case Kind::kInt32:
    case Kind::kFloat32:
      return 4;
    case Kind::kUint64:
    case Kind::kInt64:
    case Kind::kFloat64:
      return 8;
    case Kind::kString:
    case Kind::kArray:
      break;
  }
  return 0;
}

std::string RealSpelling(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

class GgufReader {
 public:
  explicit GgufReader(ByteSource& source) : window_(source) {}

  GgufHeader Read() {
    ReadVersion();
    const int64_t tensors = Count("the number of tensors", kMostTensors);
    const int64_t entries = Count("the number of entries", kMostEntries);
    for (int64_t i = 0; i < entries; ++i) ReadEntry();
    CheckKeys();
    for (int64_t i = 0; i < tensors; ++i) ReadTensor();
    Place();
    ReadSplit();
    return std::move(out_);
  }

 private:
  // `width` bytes as a number, in the file's order.
  uint64_t Number(int64_t width, std::string_view what) {
    const std::string_view bytes = window_.At(at_, width, what);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t next = out_.big_endian ? i : bytes.size() - 1 - i;
      value = value << 8 | static_cast<unsigned char>(bytes[next]);
    }
    at_ += width;
    return value;
  }
  uint32_t Number32(std::string_view what) {
    return static_cast<uint32_t>(Number(4, what));
  }

  // Of bytes, items or tensors; version 1 has 32 bits.
  int64_t Count(std::string_view what, int64_t most) {
    const int64_t at = at_;
    const uint64_t value = Number(out_.version == 1 ? 4 : 8, what);
    if (value > static_cast<uint64_t>(most)) {
      window_.Fail(at,
                   fmt::format("{} would be {}; at most {} are read", what,
                               value, WithSeparators(most)),
                   "the file is damaged, or no GGUF file: copy it again");
    }
    return static_cast<int64_t>(value);
  }

  std::string Text(std::string_view what, int64_t most) {
    const int64_t bytes = Count(what, window_.size());
    std::string out = window_.Copy(at_, bytes, most, what);
    at_ += bytes;
    return out;
  }

  void ReadVersion() {
    if (window_.At(0, 4, "the file's magic") != "GGUF") {
      window_.Fail(0, "does not begin with GGUF",
                   "pass a GGUF file; a GGML file from before GGUF must be "
                   "converted again");
    }
    at_ = 4;
    uint32_t version = Number32("the version");
    // As gguf.cpp tells it: small versions, whichever order they are in.
    if ((version & 0xffff) == 0) {
      out_.big_endian = true;
      version = __builtin_bswap32(version);
    }
    if (version < 1 || version > 3) {
      window_.Fail(4, fmt::format("has version {} of GGUF", version),
                   "versions 1 to 3 are read");
    }
    out_.version = static_cast<int32_t>(version);
  }

  Kind ReadKind(const std::string& key) {
    const uint32_t kind = Number32("a value's type");
    if (kind >= kKinds) {
      window_.FailAt(ShownName(key),
                     fmt::format("has type {}, which GGUF lacks", kind),
                     std::string(kRemake));
    }
    return static_cast<Kind>(kind);
  }

  ConfigValue ReadScalar(Kind kind) {
    const uint64_t bits = Number(BytesOfKind(kind), "a value");
    switch (kind) {
      case Kind::kInt8:
        return Whole(static_cast<int8_t>(bits));
      case Kind::kInt16:
        return Whole(static_cast<int16_t>(bits));
      case Kind::kInt32:
        return Whole(static_cast<int32_t>(bits));
      case Kind::kInt64:
        return Whole(static_cast<int64_t>(bits));
      case Kind::kBool:
        return ConfigValue::Bool(bits != 0);
      case Kind::kFloat32:
        return ConfigValue::Number(RealSpelling(static_cast<double>(
            std::bit_cast<float>(static_cast<uint32_t>(bits)))));
      case Kind::kFloat64:
        return ConfigValue::Number(RealSpelling(std::bit_cast<double>(bits)));
      default:
        return ConfigValue::Number(std::to_string(bits));
    }
  }
  static ConfigValue Whole(int64_t value) {
    return ConfigValue::Number(std::to_string(value));
  }

  void ReadEntry() {
    CheckpointEntry entry;
    entry.key = Text("a key's length", kMostNameBytes);
    const Kind kind = ReadKind(entry.key);
    if (kind == Kind::kString) {
      entry.value =
          ConfigValue::String(Text("a text's length", kMostTextBytes));
      Keep(entry, static_cast<int64_t>(entry.value.spelling().size()));
    } else if (kind == Kind::kArray) {
      ReadArray(entry);
    } else {
      entry.value = ReadScalar(kind);
    }
    out_.metadata.push_back(std::move(entry));
  }

  void ReadArray(CheckpointEntry& entry) {
    const Kind kind = ReadKind(entry.key);
    if (kind == Kind::kArray) {
      window_.FailAt(ShownName(entry.key), "is an array of arrays",
                     "llama.cpp does not read those either: convert the model "
                     "again");
    }
    // An item takes at least a byte, so that no array is longer than the file.
    entry.items = Count("an array's length", window_.size());
    if (kind == Kind::kString) {
      for (int64_t i = 0; i < entry.items; ++i) {
        const int64_t bytes = Count("a text's length", window_.size());
        window_.CheckRange(at_, bytes, "a text");
        at_ += bytes;
      }
      return;
    }
    const auto bytes = CheckedMul(entry.items, BytesOfKind(kind));
    window_.CheckRange(at_, bytes.value_or(-1), "an array");
    if (entry.items > kMostItemsKept) {
      at_ += *bytes;
      return;
    }
    Keep(entry, entry.items * static_cast<int64_t>(sizeof(ConfigValue)));
    std::vector<ConfigValue> items;
    for (int64_t i = 0; i < entry.items; ++i) items.push_back(ReadScalar(kind));
    entry.value = ConfigValue::Array(std::move(items));
  }

  // What is kept of all entries together is bounded too.
  void Keep(const CheckpointEntry& entry, int64_t bytes) {
    kept_ += bytes;
    if (kept_ <= kMostMetadataBytes) return;
    window_.FailAt(ShownName(entry.key),
                   "with the entries before it takes more than " +
                       WithSeparators(kMostMetadataBytes) + " bytes",
                   std::string(kRemake));
  }

  void CheckKeys() {
    std::unordered_set<std::string_view> seen;
    for (const CheckpointEntry& entry : out_.metadata) {
      if (!seen.insert(entry.key).second) {
        window_.FailAt(ShownName(entry.key), "is there twice",
                       std::string(kRemake));
      }
    }
    const ConfigValue* value = ValueOf("general.alignment");
    if (value == nullptr) return;
    const int64_t alignment = value->AsInteger().value_or(0);
    // Past any page size, it would only lie about the file's size.
    if (alignment < 1 || alignment > (int64_t{1} << 30) ||
        !std::has_single_bit(static_cast<uint64_t>(alignment))) {
      window_.FailAt("general.alignment",
                     "is no power of two: " + value->ToJson(),
                     std::string(kRemake));
    }
    alignment_ = alignment;
  }

  const ConfigValue* ValueOf(std::string_view key) const {
    for (const CheckpointEntry& entry : out_.metadata) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  }

  void ReadTensor() {
    StoredTensor tensor;
    tensor.name = Text("a tensor's name's length", kMostNameBytes);
    const std::string key = "tensor " + ShownName(tensor.name);
    const uint32_t dims = Number32("a tensor's number of dims");
    if (dims > kMostGgmlDims) {
      window_.FailAt(key, fmt::format("has {} dims; ggml has four", dims),
                     std::string(kRemake));
    }
    std::optional<int64_t> elements = 1;
    for (uint32_t i = 0; i < dims; ++i) {
      const int64_t extent = Count("an extent", INT64_MAX);
      tensor.shape.insert(tensor.shape.begin(), extent);
      if (elements) elements = CheckedMul(*elements, extent);
    }
    const uint32_t id = Number32("a tensor's type");
    const GgmlType* type = GgmlTypeOf(id);
    if (type == nullptr) {
      window_.FailAt(key, fmt::format("has type {}, which ggml lacks", id),
                     "a newer llama.cpp may have written it");
    }
    tensor.dtype = type->name;
    // A row is whole blocks, or nothing could address it.
    const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    const auto bytes = elements && row % type->block == 0
                           ? BytesOf(*type, *elements)
                           : std::nullopt;
    if (!bytes) {
      window_.FailAt(key,
                     fmt::format("has rows of {} elements, which are no whole "
                                 "blocks of {} of type {}, or too many",
                                 row, type->block, type->name),
                     std::string(kRemake));
    }
    tensor.bytes = *bytes;
    // The offset has 64 bits in every version.
    const uint64_t offset = Number(8, "a tensor's offset");
    if (offset > static_cast<uint64_t>(window_.size())) {
      window_.FailAt(key,
                     fmt::format("would begin at byte {} of the data; the "
                                 "file has {} in all",
                                 offset, WithSeparators(window_.size())),
                     "the file is cut short or damaged: copy it again");
    }
    tensor.offset = static_cast<int64_t>(offset);
    out_.tensors.push_back(std::move(tensor));
  }

  int64_t Padded(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  // One after another, each aligned, as gguf.cpp demands it.
  void Place() {
    std::unordered_set<std::string_view> seen;
    const int64_t data = Padded(at_);
    int64_t end = 0;
    for (StoredTensor& tensor : out_.tensors) {
      const std::string key = "tensor " + ShownName(tensor.name);
      if (!seen.insert(tensor.name).second) {
        window_.FailAt(key, "is there twice", std::string(kRemake));
      }
      if (tensor.offset != end) {
        window_.FailAt(
            key,
            fmt::format("begins at byte {} of the data, where {} "
                        "is the end of the tensor before it",
                        WithSeparators(tensor.offset), WithSeparators(end)),
            std::string(kRemake));
      }
      window_.CheckRange(data + tensor.offset, tensor.bytes, key);
      end = Padded(end + tensor.bytes);
      tensor.offset += data;
    }
  }

  int64_t SplitNumber(std::string_view key, int64_t otherwise) const {
    const ConfigValue* value = ValueOf(key);
    if (value == nullptr) return otherwise;
    return value->AsInteger().value_or(-1);
  }

  void ReadSplit() {
    GgufSplit& split = out_.split;
    split.index = SplitNumber("split.no", 0);
    split.count = std::max<int64_t>(SplitNumber("split.count", 1), 1);
    split.tensors = SplitNumber("split.tensors.count",
                                static_cast<int64_t>(out_.tensors.size()));
    if (split.index < 0 || split.index >= split.count ||
        split.count > kMostFiles || split.tensors < 0) {
      window_.FailAt("split.no",
                     fmt::format("says that this is file {} of {}, with {} "
                                 "tensors in all",
                                 split.index, split.count, split.tensors),
                     "split the model again with gguf-split");
    }
  }

  ByteWindow window_;
  GgufHeader out_;
  int64_t at_ = 0;
  int64_t alignment_ = kDefaultAlignment;
  int64_t kept_ = 0;
};

}  // namespace

GgufHeader ReadGgufHeader(ByteSource& source) {
  return GgufReader(source).Read();
}

}  // namespace foretell
