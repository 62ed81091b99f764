#include "input/json.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "input/json_fault.h"
#include "input/json_stream.h"
#include "spec/model_config.h"

namespace foretell {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// So many findings of one kind are listed.
constexpr size_t kMostNotes = 20;

constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
    rapidjson::kParseNanAndInfFlag | rapidjson::kParseValidateEncodingFlag;

// Builds the tree from RapidJSON's events.
class TreeBuilder
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TreeBuilder> {
 public:
  TreeBuilder(const std::string& text, const std::string& source,
              const JsonLimits& limits, const JsonStream& stream)
      : text_(text),
        source_(source),
        limits_(limits),
        stream_(stream),
        last_end_(stream.Tell()) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names.
  bool Null() { return Add(ConfigValue::Null()); }
  bool Bool(bool value) { return Add(ConfigValue::Bool(value)); }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    std::string spelling(text, length);
    // RapidJSON takes "Inf" and "-NaN"; Python's json does not.
    std::string_view word = spelling;
    if (word.starts_with('-')) word.remove_prefix(1);
    if (word == "Inf" || spelling == "-NaN") {
      return Fail(JsonFault::kValue, Start());
    }
    return Add(ConfigValue::Number(std::move(spelling)));
  }

  bool String(const char* text, rapidjson::SizeType length, bool) {
    if (!CheckSurrogates({text, length})) return false;
    return Add(ConfigValue::String(std::string(text, length)));
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (!CheckSurrogates({text, length})) return false;
    frames_.back().key.assign(text, length);
    last_end_ = stream_.Tell();
    return true;
  }

  bool StartObject() { return Open(ConfigValue::Object()); }
  bool StartArray() { return Open(ConfigValue::Array()); }

  bool EndObject(rapidjson::SizeType) {
    MergeRepeatedKeys(frames_.back().value);
    return Close();
  }
  bool EndArray(rapidjson::SizeType) { return Close(); }
  // NOLINTEND(readability-identifier-naming)

  ConfigValue TakeRoot() { return std::move(root_); }
  std::optional<InputError>& error() { return error_; }
  std::vector<Finding>& notes() { return notes_; }

 private:
  struct Frame {
    ConfigValue value;
    std::string key;  // of the member that is being read
  };

  // The first byte of what has just been read (a value, a bracket): only white
  // space, a comma and a colon can stand between two of them.
  size_t Start() const {
    return text_.find_first_not_of(" \t\r\n,:", last_end_);
  }

  bool Fail(JsonFault fault, size_t offset) {
    error_ =
        DescribeJsonFault(text_, static_cast<int64_t>(offset), fault, source_);
    return false;
  }

  // RapidJSON lets the second half of a pair stand alone. Raw bytes are
  // checked, so that these two can only come from an escape.
  bool CheckSurrogates(std::string_view text) {
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      if (static_cast<unsigned char>(text[i]) == 0xED &&
          static_cast<unsigned char>(text[i + 1]) >= 0xA0) {
        return Fail(JsonFault::kSurrogate, Start());
      }
    }
    return true;
  }

  bool CountValue(size_t offset) {
    if (++count_ <= limits_.values) return true;
    error_ = {PlaceAt(text_, static_cast<int64_t>(offset), source_, ""),
              fmt::format("holds more than {} values", limits_.values),
              "pass a smaller file: no configuration is near this size"};
    return false;
  }

  bool Add(ConfigValue value) {
    const size_t start = Start();
    value.set_offset(static_cast<int64_t>(start));
    last_end_ = stream_.Tell();
    if (!CountValue(start)) return false;
    Put(std::move(value));
    return true;
  }

  // Versions of RapidJSON differ in whether the stream is still at the bracket
  // when they call; the text tells where it is.
  bool Open(ConfigValue value) {
    const size_t start = Start();
    last_end_ = start + 1;
    if (!CountValue(start)) return false;
    if (frames_.size() >= static_cast<size_t>(limits_.depth)) {
      error_ = {PlaceAt(text_, static_cast<int64_t>(start), source_, ""),
                fmt::format("arrays and objects are more than {} deep here",
                            limits_.depth),
                "check what wrote the file: no configuration is so deep"};
      return false;
    }
    value.set_offset(static_cast<int64_t>(start));
    frames_.push_back({std::move(value), ""});
    return true;
  }

  bool Close() {
    ConfigValue value = std::move(frames_.back().value);
    frames_.pop_back();
    last_end_ = Start() + 1;
    Put(std::move(value));
    return true;
  }

  void Put(ConfigValue value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_object()) {
      frame.value.mutable_members().emplace_back(std::move(frame.key),
                                                 std::move(value));
      frame.key.clear();
    } else {
      frame.value.mutable_items().push_back(std::move(value));
    }
  }

  // A repeated key keeps its first position and its last value, as a Python
  // dictionary does.
  void MergeRepeatedKeys(ConfigValue& object) {
    std::vector<ConfigValue::Member>& members = object.mutable_members();
    if (members.size() < 2) return;
    std::unordered_map<std::string_view, size_t> places;
    places.reserve(members.size());
    std::vector<size_t> first(members.size());
    bool repeated = false;
    for (size_t i = 0; i < members.size(); ++i) {
      first[i] = places.emplace(members[i].first, i).first->second;
      repeated = repeated || first[i] != i;
    }
    if (!repeated) return;
    std::vector<bool> keep(members.size(), true);
    for (size_t i = 0; i < members.size(); ++i) {
      if (first[i] == i) continue;
      NoteRepeated(members[i].first, members[first[i]].second,
                   members[i].second);
      members[first[i]].second = std::move(members[i].second);
      keep[i] = false;
    }
    std::vector<ConfigValue::Member> kept;
    for (size_t i = 0; i < members.size(); ++i) {
      if (keep[i]) kept.push_back(std::move(members[i]));
    }
    members = std::move(kept);
  }

  static std::string Short(const ConfigValue& value) {
    if (value.is_object() || value.is_array()) {
      return std::string(value.KindName());
    }
    const std::string text = value.ToJson();
    return text.size() <= 40 ? text : std::string(value.KindName());
  }

  void NoteRepeated(const std::string& key, const ConfigValue& earlier,
                    const ConfigValue& later) {
    if (notes_.size() >= kMostNotes) return;
    std::string path;
    for (size_t i = 0; i + 1 < frames_.size(); ++i) {
      if (frames_[i].value.is_object()) path += frames_[i].key + ".";
    }
    path += key;
    notes_.push_back({"config/duplicate-key", Severity::kWarn,
                      fmt::format("{} is given twice: {}, then {}", path,
                                  Short(earlier), Short(later)),
                      "the last one holds, as in Python; another reader may "
                      "take the first",
                      "remove one of the two",
                      PlaceAt(text_, later.offset(), source_, path)});
  }

  const std::string& text_;
  const std::string& source_;
  const JsonLimits& limits_;
  const JsonStream& stream_;
  size_t last_end_;
  int64_t count_ = 0;
  std::vector<Frame> frames_;
  ConfigValue root_;
  std::optional<InputError> error_;
  std::vector<Finding> notes_;
};

JsonFault FaultOf(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return JsonFault::kExtraText;
    case rapidjson::kParseErrorObjectMissName:
      return JsonFault::kName;
    case rapidjson::kParseErrorObjectMissColon:
      return JsonFault::kColon;
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return JsonFault::kObjectEnd;
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return JsonFault::kArrayEnd;
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return JsonFault::kHex;
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return JsonFault::kSurrogate;
    case rapidjson::kParseErrorStringEscapeInvalid:
      return JsonFault::kEscape;
    case rapidjson::kParseErrorStringMissQuotationMark:
      return JsonFault::kUnterminated;
    case rapidjson::kParseErrorStringInvalidEncoding:
      return JsonFault::kEncoding;
    case rapidjson::kParseErrorNumberTooBig:
      return JsonFault::kNumberTooBig;
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
      return JsonFault::kNumberEnd;
    default:
      return JsonFault::kValue;
  }
}

std::optional<InputError> CheckBytes(const std::string& text,
                                     const std::string& source,
                                     const JsonLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.bytes) {
    Place place;
    place.source = source;
    return InputError{place,
                      fmt::format("has {} bytes; at most {} are read",
                                  text.size(), limits.bytes),
                      "pass a smaller file: no configuration is near this "
                      "size"};
  }
  const bool utf16 =
      text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  const size_t zero = text.find('\0');
  if (!utf16 && zero == std::string::npos) return std::nullopt;
  const bool text_file = utf16 || (zero <= 1 && text.size() >= 4);
  return InputError{
      PlaceAt(text, utf16 ? 0 : static_cast<int64_t>(zero), source, ""),
      utf16 ? "is UTF-16, not UTF-8"
            : "holds a zero byte, so it is no text in UTF-8",
      text_file ? "save the file as UTF-8" : "pass a text file in JSON"};
}

template <unsigned kParseFlags>
JsonResult Run(const std::string& text, const std::string& source,
               int64_t* offset, const JsonLimits& limits) {
  JsonResult result;
  JsonStream stream(text, static_cast<size_t>(*offset));
  TreeBuilder builder(text, source, limits, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed =
      reader.Parse<kParseFlags>(stream, builder);
  *offset = static_cast<int64_t>(stream.Tell());
  if (parsed.IsError()) {
    result.error = std::move(builder.error());
    if (!result.error) {
      result.error =
          DescribeJsonFault(text, static_cast<int64_t>(parsed.Offset()),
                            FaultOf(parsed.Code()), source);
    }
    return result;
  }
  result.value = builder.TakeRoot();
  result.notes = std::move(builder.notes());
  return result;
}

}  // namespace

JsonResult ReadJson(const std::string& text, const std::string& source,
                    const JsonLimits& limits) {
  JsonResult result;
  result.error = CheckBytes(text, source, limits);
  if (result.error) return result;
  const bool marked = text.starts_with(kByteOrderMark);
  auto offset = static_cast<int64_t>(marked ? kByteOrderMark.size() : 0);
  result = Run<kFlags>(text, source, &offset, limits);
  if (marked && !result.error) {
    result.notes.insert(
        result.notes.begin(),
        {"config/byte-order-mark", Severity::kInfo,
         "the file begins with a byte-order mark",
         "Python's json refuses it unless the file is opened as utf-8-sig",
         "save the file as UTF-8 without a mark",
         PlaceAt(text, 0, source, "")});
  }
  return result;
}

ConfigValue ParseJson(const std::string& text, const std::string& source,
                      const JsonLimits& limits, std::vector<Finding>* notes) {
  JsonResult result = ReadJson(text, source, limits);
  if (result.error) throw InputErrors(std::move(*result.error));
  if (notes != nullptr) {
    notes->insert(notes->end(), std::make_move_iterator(result.notes.begin()),
                  std::make_move_iterator(result.notes.end()));
  }
  return std::move(result.value);
}

JsonResult ReadJsonPrefix(const std::string& text, const std::string& source,
                          int64_t* offset, const JsonLimits& limits) {
  JsonResult result;
  result.error = CheckBytes(text, source, limits);
  if (result.error) return result;
  return Run<kFlags | rapidjson::kParseStopWhenDoneFlag>(text, source, offset,
                                                         limits);
}

}  // namespace foretell
