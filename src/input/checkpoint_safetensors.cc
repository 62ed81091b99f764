#include "input/checkpoint_safetensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/figure.h"
#include "base/shape.h"
#include "input/byte_window.h"
#include "input/checkpoint_limits.h"
#include "input/json_stream.h"

namespace foretell {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 22> kTypes = {{
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64},
}};

constexpr std::string_view kRemake =
    "write the file again with safetensors, or copy it again";

// Takes RapidJSON's events apart: {"name": {"dtype", "shape", "data_offsets"},
// "__metadata__": {"key": "text"}}. Keys that the library does not know are
// passed over, as it does.
class HeaderBuilder
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, HeaderBuilder> {
 public:
  HeaderBuilder(SafetensorsHeader& out, const ByteWindow& window,
                const JsonStream& stream)
      : out_(out), window_(window), stream_(stream) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names.
  bool Null() { return Other("null"); }
  bool Bool(bool) { return Other("a bool"); }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    if (depth_ != 3 || (field_ != Field::kShape && field_ != Field::kOffsets)) {
      return Other("a number");
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text, text + length, value);
    if (error != std::errc() || end != text + length || value < 0) {
      Fail("is no whole number from 0 to 2^63 - 1: " +
           ShownName({text, length}));
    }
    std::vector<int64_t>& list =
        field_ == Field::kShape ? tensor_.shape : offsets_;
    if (static_cast<int64_t>(list.size()) >= kMostDims) {
      Fail("has more than " + std::to_string(kMostDims) + " numbers");
    }
    list.push_back(value);
    return true;
  }

  bool String(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view value(text, length);
    if (depth_ == 2 && is_metadata_) {
      if (static_cast<int64_t>(out_.metadata.size()) >= kMostEntries) {
        Fail("has more than " + WithSeparators(kMostEntries) + " entries");
      }
      out_.metadata.push_back(
          {std::move(key_), ConfigValue::String(std::string(value)), 0});
      return true;
    }
    if (depth_ == 2 && field_ == Field::kDtype) {
      tensor_.dtype = value;
      has_dtype_ = true;
      return true;
    }
    return Other("a text");
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view key(text, length);
    if (depth_ == 1) {
      Begin(key);
    } else if (depth_ == 2 && is_metadata_) {
      key_ = key;
    } else if (depth_ == 2) {
      field_ = key == "dtype"          ? Field::kDtype
               : key == "shape"        ? Field::kShape
               : key == "data_offsets" ? Field::kOffsets
                                       : Field::kOther;
    }
    return true;
  }

  bool StartObject() {
    if (depth_ == 1) is_metadata_ = tensor_.name == "__metadata__";
    if (depth_ >= 2 && field_ != Field::kOther) return Other("an object");
    return Deeper();
  }
  bool EndObject(rapidjson::SizeType) {
    --depth_;
    if (depth_ == 1 && !is_metadata_) Finish();
    return true;
  }
  bool StartArray() {
    const bool wanted = depth_ == 2 && !is_metadata_ &&
                        (field_ == Field::kShape || field_ == Field::kOffsets);
    if (!wanted && (depth_ < 2 || field_ != Field::kOther)) {
      return Other("an array");
    }
    if (wanted && field_ == Field::kShape) tensor_.shape.clear();
    if (wanted && field_ == Field::kShape) has_shape_ = true;
    if (wanted && field_ == Field::kOffsets) offsets_.clear();
    return Deeper();
  }
  bool EndArray(rapidjson::SizeType) {
    --depth_;
    return true;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  enum class Field : uint8_t { kNone, kDtype, kShape, kOffsets, kOther };

  [[noreturn]] void Fail(std::string what) const {
    const std::string at =
        depth_ >= 1 && !tensor_.name.empty()
            ? (is_metadata_ ? "__metadata__"
                            : "tensor " + ShownName(tensor_.name))
            : "byte " +
                  WithSeparators(8 + static_cast<int64_t>(stream_.Tell()));
    window_.FailAt(at, std::move(what), std::string(kRemake));
  }

  // A value where another kind belongs; below an unknown key anything may be.
  bool Other(std::string_view kind) {
    if (depth_ >= 2 && !is_metadata_ && field_ == Field::kOther) return true;
    Fail("the header has " + std::string(kind) +
         " where a tensor's dtype, shape or offsets belong");
  }

  bool Deeper() {
    // Nothing of a header is deeper than three.
    if (depth_ >= 16) Fail("the header is more than 16 deep here");
    ++depth_;
    return true;
  }

  void Begin(std::string_view name) {
    if (static_cast<int64_t>(name.size()) > kMostNameBytes) {
      Fail("has a name of " +
           WithSeparators(static_cast<int64_t>(name.size())) + " bytes");
    }
    if (static_cast<int64_t>(out_.tensors.size()) >= kMostTensors) {
      Fail("has more than " + WithSeparators(kMostTensors) + " tensors");
    }
    tensor_ = {};
    tensor_.name = name;
    offsets_.clear();
    field_ = Field::kNone;
    has_dtype_ = false;
    has_shape_ = false;
    is_metadata_ = false;
  }

  void Finish() {
    if (!has_dtype_ || !has_shape_ || offsets_.size() != 2) {
      Fail("lacks its dtype, its shape or its two data_offsets");
    }
    if (offsets_[1] < offsets_[0]) {
      Fail("ends before it begins: data_offsets " +
           std::to_string(offsets_[0]) + " and " + std::to_string(offsets_[1]));
    }
    const auto bits = SafetensorsBits(tensor_.dtype);
    if (!bits) {
      Fail("has a dtype that safetensors lacks: " + ShownName(tensor_.dtype));
    }
    std::optional<int64_t> total = *bits;
    for (const int64_t extent : tensor_.shape) {
      if (total) total = CheckedMul(*total, extent);
    }
    tensor_.bytes = offsets_[1] - offsets_[0];
    tensor_.offset = offsets_[0];
    if (!total || *total % 8 != 0 || *total / 8 != tensor_.bytes) {
      Fail("has " + WithSeparators(tensor_.bytes) +
           " bytes, which are not those of its shape in " + tensor_.dtype);
    }
    out_.tensors.push_back(std::move(tensor_));
    tensor_ = {};
  }

  SafetensorsHeader& out_;
  const ByteWindow& window_;
  const JsonStream& stream_;
  int depth_ = 0;
  Field field_ = Field::kNone;
  bool is_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  std::string key_;
  StoredTensor tensor_;
  std::vector<int64_t> offsets_;
};

void Parse(const std::string& text, const ByteWindow& window,
           SafetensorsHeader& out) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  JsonStream stream(text, 0);
  HeaderBuilder builder(out, window, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, builder);
  if (parsed.IsError()) {
    window.Fail(8 + static_cast<int64_t>(parsed.Offset()),
                "the header is no JSON here", std::string(kRemake));
  }
}

void CheckNames(const std::vector<StoredTensor>& tensors,
                const ByteWindow& window) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) {
    if (seen.insert(tensor.name).second) continue;
    window.FailAt("tensor " + ShownName(tensor.name), "is there twice",
                  std::string(kRemake));
  }
}

// One after another from the end of the header to the end of the file.
void CheckOffsets(std::vector<StoredTensor>& tensors, int64_t data,
                  const ByteWindow& window) {
  std::ranges::stable_sort(tensors, [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.offset + a.bytes) <
           std::pair(b.offset, b.offset + b.bytes);
  });
  int64_t end = 0;
  for (StoredTensor& tensor : tensors) {
    const std::string key = "tensor " + ShownName(tensor.name);
    if (tensor.offset != end) {
      window.FailAt(key,
                    tensor.offset < end
                        ? "overlaps the tensor before it: begins at byte " +
                              WithSeparators(tensor.offset) +
                              " of the data, not at " + WithSeparators(end)
                        : "leaves a gap of " +
                              WithSeparators(tensor.offset - end) +
                              " bytes before it",
                    std::string(kRemake));
    }
    end += tensor.bytes;
    if (end > window.size() - data) {
      window.FailAt(key,
                    "would end at byte " + WithSeparators(end) +
                        " of the data, of which the file has " +
                        WithSeparators(window.size() - data),
                    "the file is cut short: copy it again");
    }
    tensor.offset += data;
  }
  if (end != window.size() - data) {
    window.Fail(data + end,
                WithSeparators(window.size() - data - end) +
                    " bytes follow the last tensor",
                std::string(kRemake));
  }
}

}  // namespace

std::optional<int> SafetensorsBits(std::string_view dtype) {
  for (const auto& [name, bits] : kTypes) {
    if (name == dtype) return bits;
  }
  return std::nullopt;
}

SafetensorsHeader ReadSafetensorsHeader(ByteSource& source) {
  ByteWindow window(source);
  uint64_t length = 0;
  const std::string_view bytes = window.At(0, 8, "the header's length");
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length > static_cast<uint64_t>(kMostSafetensorsHeader)) {
    window.Fail(0,
                "the header's length would be " + std::to_string(length) +
                    " bytes; safetensors refuses more than " +
                    WithSeparators(kMostSafetensorsHeader),
                "check that this is a safetensors file, and copy it again");
  }
  const auto header = static_cast<int64_t>(length);
  const std::string text =
      window.Copy(8, header, kMostSafetensorsHeader, "the header");
  if (!text.starts_with('{')) {
    window.Fail(8, "the header does not begin with {",
                "check that this is a safetensors file");
  }
  SafetensorsHeader out;
  Parse(text, window, out);
  CheckNames(out.tensors, window);
  CheckOffsets(out.tensors, 8 + header, window);
  return out;
}

}  // namespace foretell
