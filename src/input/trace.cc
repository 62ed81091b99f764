#include "input/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "input/gzip.h"
#include "input/overrides.h"
#include "input/row_fields.h"
#include "input/source_disk.h"
#include "input/step_case.h"

namespace foretell {
namespace {

constexpr size_t kMostErrors = 20;
constexpr size_t kMostOperators = 1'000'000;

[[noreturn]] void Refuse(const std::string& source, std::string what,
                         std::string cure) {
  InputError error;
  error.place.source = source;
  error.what = std::move(what);
  error.cure = std::move(cure);
  throw InputErrors(std::move(error));
}

// "147:f32[2, 32, 2048]"
std::optional<TraceTensor> ParseTensor(std::string_view text) {
  TraceTensor out;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), out.storage);
  if (error != std::errc() || out.storage < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  if (!ParseTensorKind(text, out.dtype, out.shape)) return std::nullopt;
  return out;
}

// Tensors among arguments, also in lists; other strings and numbers are passed
// over.
void CollectTensors(const ConfigValue& value, std::vector<TraceTensor>& out) {
  if (const auto text = value.AsString()) {
    if (const auto tensor = ParseTensor(*text)) out.push_back(*tensor);
    return;
  }
  for (const ConfigValue& item : value.items()) CollectTensors(item, out);
}

TraceOperation ReadOperation(const RowFields& fields, int line) {
  TraceOperation out;
  out.line = line;
  out.phase = fields.Text("phase");
  out.module = fields.OptionalText("module");
  out.name = fields.Text("op");
  for (const ConfigValue& item : fields.Items("in")) {
    CollectTensors(item, out.inputs);
  }
  for (const ConfigValue& item : fields.Items("out")) {
    CollectTensors(item, out.outputs);
  }
  for (const ConfigValue& item : fields.Items("freed_before")) {
    if (const auto storage = item.AsInteger()) out.freed.push_back(*storage);
  }
  if (fields.Get("flops") != nullptr) out.flops = fields.Count("flops");
  return out;
}

std::vector<Override> ReadShallow(const ConfigValue* shallow) {
  std::vector<Override> out;
  if (shallow == nullptr) return out;
  for (const auto& [key, value] : shallow->members()) {
    out.push_back({{key}, value, 0});
  }
  return out;
}

void ReadCase(const RowFields& result, Trace& out) {
  out.config = result.Text("config");
  out.class_name = result.Text("class");
  out.shallow = ReadShallow(result.Object("shallow"));
  if (const ConfigValue* grouped = result.Object("flops_grouped_mm")) {
    const RowFields flops = result.Of(*grouped);
    out.grouped_forward_flops = flops.Count("forward");
    if (flops.Get("backward") != nullptr) {
      out.grouped_backward_flops = flops.Count("backward");
    }
  }
  const ConfigValue* object = result.Object("case");
  if (object == nullptr) {
    result.Problem(nullptr, "case", "has no case", "record the trace again");
    return;
  }
  out.step = ReadStepCase(result);
  const RowFields fields = result.Of(*object);
  out.asked_class = fields.OptionalText("class");
  out.edits = ParseOverrides(fields.OptionalText("edit"), "edit");
  out.overrides = ParseOverrides(fields.OptionalText("over"), "over");
}

}  // namespace

Trace ParseTrace(const std::string& gzip_bytes, const std::string& source) {
  const std::string text = UnpackGzip(gzip_bytes, kTraceTextBytes, source);
  Trace out;
  std::vector<InputError> errors;
  bool has_result = false;
  int number = 0;
  size_t start = 0;
  while (start < text.size() && errors.size() < kMostErrors) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.empty()) continue;
    const RowLine place = {&line, source, number};
    const auto row = ReadRow(place, errors);
    if (!row) continue;
    const RowFields fields(*row, place, errors);
    const ConfigValue* result = fields.Object("result");
    if (result != nullptr) {
      ReadCase(fields.Of(*result), out);
      has_result = true;
      continue;
    }
    out.operations.push_back(ReadOperation(fields, number));
    if (out.operations.size() > kMostOperators) {
      Refuse(source, "has more than a million operators",
             "record fewer layers");
    }
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  if (!has_result) {
    Refuse(source, "has no line with the case's result",
           "record the trace again with tools/pytorch/record_traces.py");
  }
  return out;
}

Trace LoadTrace(const std::string& path) {
  return ParseTrace(ReadWholeFile(path, kTraceTextBytes), path);
}

}  // namespace foretell
