#include "input/kernel_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "input/device_catalogue.h"
#include "input/gzip.h"
#include "input/kernel_coefficients.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

// The largest known table has 11 MB unpacked.
constexpr int64_t kFileBytes = int64_t{64} << 20;
constexpr int64_t kTextBytes = int64_t{512} << 20;
constexpr size_t kMostRows = 500'000;
constexpr size_t kMostColumns = 64;
constexpr size_t kMostErrors = 20;

constexpr std::array<std::string_view, 32> kKinds = {"gemm",
                                                     "attention_prefill",
                                                     "attention_decode",
                                                     "attention_encoder",
                                                     "moe",
                                                     "mla_prefill",
                                                     "mla_decode",
                                                     "mla_bmm",
                                                     "mla_module_prefill",
                                                     "mla_module_decode",
                                                     "collective",
                                                     "allreduce_custom",
                                                     "quantize",
                                                     "linear_attention_gdn",
                                                     "linear_attention_kda",
                                                     "mamba2",
                                                     "dsa_module_prefill",
                                                     "dsa_module_decode",
                                                     "dsv4_module_prefill",
                                                     "dsv4_module_decode",
                                                     "msa_module_prefill",
                                                     "msa_module_decode",
                                                     "sparse_part",
                                                     "mhc",
                                                     "alltoall_deepep_normal",
                                                     "alltoall_deepep_ll",
                                                     "alltoall_trtllm",
                                                     "moe_wideep_trtllm",
                                                     "moe_wideep_sglang",
                                                     "moe_dsv4_mega",
                                                     "mla_wideep_sglang",
                                                     "mlp_wideep_sglang"};

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  size_t start = 0;
  while (true) {
    const size_t end = std::min(text.find(at, start), text.size());
    out.push_back(text.substr(start, end - start));
    if (end == text.size()) return out;
    start = end + 1;
  }
}

// The longest kind that the file's name holds.
std::string_view KindOf(const std::string& path) {
  std::string_view name = path;
  name.remove_prefix(path.find_last_of('/') + 1);
  std::string_view out;
  for (const std::string_view kind : kKinds) {
    if (kind.size() > out.size() && name.find(kind) != name.npos) out = kind;
  }
  return out;
}

// The nearest folder above the file that names a system; else a part of the
// file's name does.
std::shared_ptr<const Device> CardOfPath(const std::string& path,
                                         std::string& system) {
  std::vector<std::string_view> parts = Split(path, '/');
  std::ranges::reverse(parts);
  const std::vector<std::string> known = MeasuredSystems();
  for (const std::string_view part : parts) {
    std::string_view found;
    for (const std::string& name : known) {
      if (part.find(name) != part.npos && name.size() > found.size()) {
        found = name;
      }
    }
    if (found.empty()) continue;
    system = found;
    return std::make_shared<const Device>(FindDevice(CardOfSystem(system)));
  }
  // A system that was not measured has its folder's name.
  if (parts.size() < 2) return nullptr;
  system = parts[1];
  std::string name = system;
  std::ranges::replace(name, '_', '-');
  auto device = DeviceNamed(name);
  if (!device) return nullptr;
  return std::make_shared<const Device>(*std::move(device));
}

InputError ErrorOf(const std::string& path, int line, std::string what,
                   std::string cure) {
  InputError out;
  out.place.source = path;
  out.place.line = line;
  out.what = std::move(what);
  out.cure = std::move(cure);
  return out;
}

}  // namespace

MeasuredRows ParseKernelTable(const std::string& text,
                              const std::string& path) {
  const std::string_view kind = KindOf(path);
  if (kind.empty()) {
    throw InputErrors(
        ErrorOf(path, 0, "is named after no kind of kernel",
                fmt::format("name it SYSTEM/KIND.csv.gz, KIND one of {}",
                            fmt::join(kKinds, ", "))));
  }
  MeasuredRows out;
  out.source = path;
  std::string system;
  const std::shared_ptr<const Device> card = CardOfPath(path, system);
  std::vector<InputError> errors;
  std::vector<std::string> columns;
  int line = 0;
  for (size_t start = 0; start < text.size() && errors.size() < kMostErrors;) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view row(text.data() + start, end - start);
    start = end + 1;
    ++line;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    const std::vector<std::string_view> cells = Split(row, ',');
    if (columns.empty()) {
      if (cells.size() > kMostColumns) {
        errors.push_back(ErrorOf(path, line, "has too many columns",
                                 "pass a table of kernel times"));
        break;
      }
      columns.assign(cells.begin(), cells.end());
      continue;
    }
    if (cells.size() != columns.size() || out.rows.size() == kMostRows) {
      errors.push_back(
          ErrorOf(path, line,
                  fmt::format("has {} cells where the first line names {}",
                              cells.size(), columns.size()),
                  "write a curve a line, its lists split by blanks"));
      continue;
    }
    MeasuredRow curve;
    curve.line = line;
    curve.device = card;
    curve.fields = ConfigValue::Object();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      curve.fields.Set(columns[i], ConfigValue::String(std::string(cells[i])));
    }
    curve.fields.Set("system", ConfigValue::String(system));
    curve.fields.Set("kind", ConfigValue::String(std::string(kind)));
    out.rows.push_back(std::move(curve));
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

MeasuredRows LoadKernelTable(const std::string& path) {
  const std::string file = ExpandHome(path);
  std::string bytes = ReadWholeFile(file, kFileBytes);
  if (bytes.starts_with("\x1f\x8b")) {
    bytes = UnpackGzip(bytes, kTextBytes, file);
  }
  return ParseKernelTable(bytes, file);
}

}  // namespace foretell
