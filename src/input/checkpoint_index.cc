#include "input/checkpoint_index.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/figure.h"
#include "base/input_error.h"
#include "input/byte_window.h"
#include "input/checkpoint_limits.h"
#include "input/json.h"
#include "input/json_stream.h"

namespace foretell {
namespace {

[[noreturn]] void Fail(const std::string& source, std::string key,
                       std::string what) {
  Place place;
  place.source = source;
  place.key = std::move(key);
  throw InputErrors({std::move(place), std::move(what),
                     "make the index again: save the model with "
                     "save_pretrained"});
}

class IndexBuilder
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, IndexBuilder> {
 public:
  IndexBuilder(CheckpointIndex& out, const std::string& source)
      : out_(out), source_(source) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names.
  bool Null() { return Passed(); }
  bool Bool(bool) { return Passed(); }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    if (part_ != Part::kMetadata || depth_ != 2 || key_ != "total_size") {
      return Passed();
    }
    // transformers 4.55 wrote it as 1.6e10 or as 16060522496.0 now and then.
    const ConfigValue value = ConfigValue::Number({text, length});
    out_.stated_bytes = value.AsInteger();
    return true;
  }

  bool String(const char* text, rapidjson::SizeType length, bool) {
    if (part_ != Part::kMap || depth_ != 2) return true;
    const std::string_view file(text, length);
    if (static_cast<int64_t>(out_.tensors.size()) >= kMostTensors) {
      Fail(source_, "weight_map",
           "names more than " + WithSeparators(kMostTensors) + " tensors");
    }
    out_.tensors.emplace_back(std::move(key_), FileOf(file));
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_.assign(text, length);
    if (depth_ == 1) {
      part_ = key_ == "weight_map" ? Part::kMap
              : key_ == "metadata" ? Part::kMetadata
                                   : Part::kOther;
    }
    return true;
  }
  bool StartObject() {
    if (part_ == Part::kMap) {
      if (depth_ > 1) return Passed();
      has_map_ = true;
    }
    return Deeper();
  }
  bool EndObject(rapidjson::SizeType) {
    if (--depth_ == 1) part_ = Part::kOther;
    return true;
  }
  bool StartArray() { return Passed() && Deeper(); }
  bool EndArray(rapidjson::SizeType) { return --depth_ >= 0; }
  // NOLINTEND(readability-identifier-naming)

  bool has_map() const { return has_map_; }

 private:
  enum class Part : uint8_t { kNone, kMap, kMetadata, kOther };

  // Anything may stand elsewhere.
  bool Passed() const {
    if (part_ == Part::kMap) {
      Fail(source_, "weight_map." + ShownName(key_), "is no file's name");
    }
    return true;
  }
  bool Deeper() {
    if (depth_ >= 64) Fail(source_, ShownName(key_), "is too deep");
    ++depth_;
    return true;
  }

  int32_t FileOf(std::string_view file) {
    // Writers put tensors of a file one after another.
    if (last_ >= 0 && out_.files[static_cast<size_t>(last_)] == file) {
      return last_;
    }
    const auto known = places_.find(std::string(file));
    if (known != places_.end()) return last_ = known->second;
    if (!StaysInFolder(file) ||
        static_cast<int64_t>(file.size()) > kMostNameBytes) {
      Fail(source_, "weight_map." + ShownName(key_),
           "names a file outside the folder: " + ShownName(file));
    }
    if (static_cast<int64_t>(out_.files.size()) >= kMostFiles) {
      Fail(source_, "weight_map",
           "names more than " + WithSeparators(kMostFiles) + " files");
    }
    last_ = static_cast<int32_t>(out_.files.size());
    out_.files.emplace_back(file);
    places_.emplace(file, last_);
    return last_;
  }

  CheckpointIndex& out_;
  const std::string& source_;
  Part part_ = Part::kNone;
  int depth_ = 0;
  bool has_map_ = false;
  std::string key_;
  int32_t last_ = -1;
  std::unordered_map<std::string, int32_t> places_;
};

void SortFiles(CheckpointIndex& index) {
  std::vector<std::string> sorted = index.files;
  std::ranges::sort(sorted);
  std::vector<int32_t> to(sorted.size());
  for (size_t i = 0; i < index.files.size(); ++i) {
    to[i] = static_cast<int32_t>(
        std::ranges::lower_bound(sorted, index.files[i]) - sorted.begin());
  }
  for (auto& [name, file] : index.tensors) file = to[static_cast<size_t>(file)];
  index.files = std::move(sorted);
}

// By sorted hashes: a third of the time that a set of the names takes.
void CheckNames(const CheckpointIndex& index, const std::string& source) {
  std::vector<std::pair<size_t, size_t>> hashes;
  hashes.reserve(index.tensors.size());
  for (size_t i = 0; i < index.tensors.size(); ++i) {
    hashes.emplace_back(std::hash<std::string>()(index.tensors[i].first), i);
  }
  const auto name_of = [&](const std::pair<size_t, size_t>& entry) {
    return std::string_view(index.tensors[entry.second].first);
  };
  std::ranges::sort(hashes, [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : name_of(a) < name_of(b);
  });
  for (size_t i = 1; i < hashes.size(); ++i) {
    if (hashes[i].first == hashes[i - 1].first &&
        name_of(hashes[i]) == name_of(hashes[i - 1])) {
      Fail(source, "weight_map." + ShownName(name_of(hashes[i])),
           "is there twice");
    }
  }
}

}  // namespace

bool StaysInFolder(std::string_view file) {
  if (file.empty() || file.starts_with('/') ||
      file.find('\0') != std::string_view::npos ||
      file.find('\\') != std::string_view::npos) {
    return false;
  }
  while (true) {
    const size_t slash = file.find('/');
    const std::string_view part = file.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    file.remove_prefix(slash + 1);
  }
}

CheckpointIndex ParseCheckpointIndex(const std::string& text,
                                     const std::string& source) {
  constexpr unsigned kPlainFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  constexpr unsigned kFlags =
      kPlainFlags | rapidjson::kParseValidateEncodingFlag;
  CheckpointIndex out;
  // A name with its file's takes some hundred bytes of the text.
  out.tensors.reserve(text.size() / 64);
  IndexBuilder builder(out, source);
  rapidjson::Reader reader;
  rapidjson::ParseResult parsed;
  // Nearly every index is ASCII without a zero byte: no encoding to check, and
  // the byte behind the text ends it.
  if (std::ranges::all_of(text, [](char c) { return c > 0; })) {
    // Parsed in place, in a copy, which spares one of each name.
    std::string copy = text;
    rapidjson::InsituStringStream stream(copy.data());
    parsed = reader.Parse<kPlainFlags | rapidjson::kParseInsituFlag>(stream,
                                                                     builder);
  } else {
    JsonStream stream(text, 0);
    parsed = reader.Parse<kFlags>(stream, builder);
  }
  if (parsed.IsError()) {
    // Read once more, for the place and the cure: it is no JSON, or begins
    // with a mark that RapidJSON refuses.
    JsonLimits limits;
    limits.bytes = kMostIndexBytes;
    JsonResult described = ReadJson(text, source, limits);
    if (described.error) throw InputErrors(std::move(*described.error));
    Fail(source, "", "is no JSON");
  }
  if (!builder.has_map() || out.tensors.empty()) {
    Fail(source, "weight_map", "is missing or empty");
  }
  CheckNames(out, source);
  SortFiles(out);
  return out;
}

}  // namespace foretell
