#include "input/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "input/overrides.h"
#include "input/recorded_rank.h"
#include "input/row_fields.h"
#include "input/source_disk.h"
#include "input/step_case.h"

namespace foretell {
namespace {

// A file of another kind would give an error per line.
constexpr size_t kMostErrors = 20;

// A list of tuples, in the spelling of FoldIndices; nothing where it is none.
std::optional<std::string> Tuples(const ConfigValue& list) {
  std::string out = "[";
  for (const ConfigValue& tuple : list.items()) {
    if (!tuple.is_array()) return std::nullopt;
    out += out.size() > 1 ? ", [" : "[";
    bool first = true;
    for (const ConfigValue& index : tuple.items()) {
      const auto whole = index.AsInteger();
      if (!whole) return std::nullopt;
      if (!first) out += ", ";
      first = false;
      out += std::to_string(*whole);
    }
    out += "]";
  }
  return out + "]";
}

class RowReader {
 public:
  RowReader(const RowFields& fields, std::vector<InputError>& errors)
      : fields_(fields), errors_(errors) {}

  Recording Read(int line) {
    Recording out;
    out.line = line;
    out.key = fields_.OptionalText("key");
    out.config = fields_.Text("config");
    ReadCase(out);
    out.error = fields_.OptionalText("error");
    if (!out.error.empty()) return out;
    out.class_name = fields_.Text("class");
    out.library = fields_.OptionalText("library");
    if (const std::string version = fields_.OptionalText("transformers");
        out.library.empty() && !version.empty()) {
      out.library = "transformers " + version;
    }
    out.parameters = fields_.Count("parameters");
    out.has_tensors = fields_.Get("tensors") != nullptr;
    ReadTensors("tensors", out.tensors);
    ReadTensors("buffers", out.buffers);
    ReadTies(out.ties);
    ReadStep(out);
    return out;
  }

 private:
  // What the recorder calls "none" is not there.
  static std::string CaseText(const RowFields& fields, std::string_view key) {
    std::string text = fields.OptionalText(key);
    return text == "none" ? "" : text;
  }

  void ReadCase(Recording& out) {
    const ConfigValue* stated = fields_.Object("case");
    if (stated == nullptr) return;
    const RowFields fields = fields_.Of(*stated);
    out.step = ReadStepCase(fields_);
    out.asked_class = CaseText(fields, "class");
    out.edits = ReadChanges(fields, "edit");
    out.overrides = ReadChanges(fields, "over");
    for (const Override& one : out.overrides) {
      if (one.value) continue;
      fields.Problem(fields.Get("over"), "case.over",
                     fmt::format("takes {} out of a loaded configuration",
                                 fmt::join(one.path, ".")),
                     "use edit, which changes the file");
    }
  }

  // "aten.mm" -> FLOPs, of one phase of `flops`.
  static void ReadFlops(const RowFields& phases, std::string_view phase,
                        std::map<std::string, int64_t>& out) {
    const ConfigValue* counts = phases.Object(phase);
    if (counts == nullptr) return;
    const RowFields fields = phases.Of(*counts);
    for (const auto& [name, value] : counts->members()) {
      out[name] = fields.Count(name);
    }
  }

  void ReadStep(Recording& out) {
    const ConfigValue* flops = fields_.Object("flops");
    if (flops == nullptr) return;
    std::optional<RecordedRank> rank;
    if (!out.step.sharding.empty()) {
      rank = ReadRank(fields_, out.step);
      if (!rank) return;  // not divided by data alone
    }
    RecordedStep step;
    ReadFlops(fields_.Of(*flops), "forward", step.flops_forward);
    ReadFlops(fields_.Of(*flops), "backward", step.flops_backward);
    if (const ConfigValue* grouped = fields_.Object("flops_grouped_mm")) {
      const RowFields phases = fields_.Of(*grouped);
      const auto add = [&](std::string_view phase, auto& to) {
        if (phases.Get(phase) != nullptr) {
          to["aten._grouped_mm"] = phases.Count(phase);
        }
      };
      add("forward", step.flops_forward);
      add("backward", step.flops_backward);
    }
    const auto figure = [&step](const RowFields& from, std::string_view key,
                                std::string_view name) {
      if (from.Get(key) == nullptr) return;
      step.figures[std::string(name)] = from.Count(key);
    };
    if (const ConfigValue* saved = fields_.Object("saved")) {
      figure(fields_.Of(*saved), "unique_bytes", "saved_bytes");
      figure(fields_.Of(*saved), "unique_count", "saved_count");
    }
    for (const std::string_view key : {"live_after_forward", "gradient_bytes",
                                       "optimizer_bytes", "cache_bytes"}) {
      figure(fields_, key, key);
    }
    if (rank) figure(fields_, "parameter_bytes", "parameter_bytes");
    if (const ConfigValue* peak = fields_.Object("peak")) {
      for (const std::string_view phase :
           {"forward", "backward", "optimizer"}) {
        if (const ConfigValue* one = fields_.Of(*peak).Object(phase)) {
          figure(fields_.Of(*one), "bytes", fmt::format("peak_{}", phase));
        }
      }
    }
    if (rank) {
      rank->step = std::move(step);
      out.recorded_rank = *std::move(rank);
    } else {
      out.recorded_step = std::move(step);
    }
  }

  std::vector<Override> ReadChanges(const RowFields& fields,
                                    std::string_view key) {
    OverridesResult changes =
        ReadOverrides(CaseText(fields, key), std::string(key));
    if (changes.error) {
      fields.Problem(fields.Get(key), fmt::format("case.{}", key),
                     changes.error->what, changes.error->cure);
    }
    return std::move(changes.overrides);
  }

  std::string Indices(const RowFields& fields) {
    const ConfigValue* value = fields.Get("indices");
    if (value == nullptr || !value->is_array()) {
      return fields.OptionalText("indices");
    }
    const auto tuples = Tuples(*value);
    if (!tuples) {
      fields.Problem(value, "indices", "is no list of tuples of indices",
                     "record the row again");
    }
    return tuples.value_or("");
  }

  static Shape ReadShape(const RowFields& fields) {
    std::vector<int64_t> dims;
    for (const ConfigValue& item : fields.Items("shape")) {
      const auto extent = item.AsInteger();
      if (!extent || *extent < 0 || dims.size() == Shape::kMaxDims) {
        fields.Problem(&item, "shape",
                       fmt::format("is not {} whole numbers from 0, or fewer",
                                   Shape::kMaxDims),
                       "record the row again");
        return Shape();
      }
      dims.push_back(*extent);
    }
    return Shape(std::span<const int64_t>(dims));
  }

  void ReadTensors(std::string_view key, std::vector<RecordedTensor>& out) {
    for (const ConfigValue& item : fields_.Items(key)) {
      if (!item.is_object()) {
        fields_.Problem(&item, key, "holds something that is no object",
                        "record the row again");
        return;
      }
      const RowFields fields = fields_.Of(item);
      RecordedTensor tensor;
      tensor.name = fields.Text("name");
      tensor.indices = Indices(fields);
      tensor.shape = ReadShape(fields);
      tensor.count = fields.Count("count");
      tensor.dtype = fields.OptionalText("dtype");
      // The recorder writes PyTorch's name where it has no short one.
      if (tensor.dtype == "torch.complex64") tensor.dtype = "c64";
      out.push_back(std::move(tensor));
      if (errors_.size() >= kMostErrors) return;
    }
  }

  void ReadTies(std::vector<RecordedTie>& out) {
    for (const ConfigValue& item : fields_.Items("ties")) {
      const std::vector<ConfigValue>& names = item.items();
      if (names.size() != 2 || !names[0].is_string() || !names[1].is_string()) {
        fields_.Problem(&item, "ties", "a tie is not a pair of names",
                        "record the row again");
        return;
      }
      out.push_back({names[0].spelling(), names[1].spelling()});
    }
  }

  const RowFields& fields_;
  const std::vector<InputError>& errors_;
};

}  // namespace

std::vector<Recording> ParseRecordings(const std::string& text,
                                       const std::string& source) {
  std::vector<Recording> out;
  std::vector<InputError> errors;
  int line = 0;
  for (size_t start = 0; start < text.size() && errors.size() < kMostErrors;) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string bytes = text.substr(start, end - start);
    start = end + 1;
    ++line;
    if (bytes.find_first_not_of(" \t\r") == std::string::npos) continue;
    const RowLine row{&bytes, source, line};
    if (out.size() == kMostRecordings) {
      InputError error;
      error.place.source = source;
      error.place.line = line;
      error.what = fmt::format("the file holds more than {} recordings",
                               kMostRecordings);
      error.cure = "split the file";
      errors.push_back(std::move(error));
      break;
    }
    const auto object = ReadRow(row, errors);
    if (!object) continue;
    const RowFields fields(*object, row, errors);
    out.push_back(RowReader(fields, errors).Read(line));
  }
  if (!errors.empty()) {
    errors.resize(std::min(errors.size(), kMostErrors));
    throw InputErrors(std::move(errors));
  }
  return out;
}

std::vector<Recording> LoadRecordings(const std::string& path) {
  return ParseRecordings(ReadWholeFile(path, kRecordingFileBytes), path);
}

}  // namespace foretell
