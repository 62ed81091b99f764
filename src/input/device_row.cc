#include "input/device_row.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "base/nearest.h"
#include "input/row_fields.h"
#include "input/source_disk.h"
#include "spec/config_value.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;
constexpr double kMib = 1048576.0;

// Of the driver's figure, and of the nominal one (see the header).
struct Quotient {
  double low;
  double middle;
  double high;
};
constexpr Quotient kOfDriver = {0.971, 0.987, 1.0};
constexpr Quotient kOfNominal = {0.91, 0.987, 1.0};
// A known total differs between drivers by as much.
constexpr double kBetweenDrivers = 0.003;

std::optional<double> Real(const RowFields& row, std::string_view key) {
  const ConfigValue* value = row.Get(key);
  if (value == nullptr) return std::nullopt;
  const auto real = value->AsReal();
  if (real && std::isfinite(*real) && *real >= 0 && *real < 1e12) return real;
  row.Problem(value, key, "is not a number from 0 to 1e12",
              "write a number, or leave the key out");
  return std::nullopt;
}

std::optional<int64_t> Whole(const RowFields& row, std::string_view key) {
  const auto real = Real(row, key);
  if (!real) return std::nullopt;
  return static_cast<int64_t>(*real);
}

std::vector<std::string> Texts(const RowFields& row, std::string_view key) {
  std::vector<std::string> out;
  for (const ConfigValue& item : row.Items(key)) {
    const auto text = item.AsString();
    if (!text) {
      row.Problem(&item, key, "holds what is no string", "write strings");
      return out;
    }
    out.emplace_back(*text);
  }
  return out;
}

std::map<std::string, double> Reals(const RowFields& row,
                                    std::string_view key) {
  std::map<std::string, double> out;
  const ConfigValue* object = row.Object(key);
  if (object == nullptr) return out;
  const RowFields fields = row.Of(*object);
  for (const auto& [name, value] : object->members()) {
    if (const auto real = Real(fields, name)) out[name] = *real;
  }
  return out;
}

// "5.0 x16" in 1e9 bytes a second of one direction: a lane carries 5, 8, 16,
// 32, 64 billion symbols a second from generation 2 on, of which 8 of 10, then
// 128 of 130 are payload (PCI Express Base Specification 6.0, 4.2).
std::optional<double> PcieRateOf(std::string_view text) {
  struct Lane {
    std::string_view generation;
    double gbs;
  };
  constexpr Lane kLanes[] = {{"2.0 x", 0.5},
                             {"3.0 x", 8.0 / 8 * 128 / 130},
                             {"4.0 x", 16.0 / 8 * 128 / 130},
                             {"5.0 x", 32.0 / 8 * 128 / 130},
                             {"6.0 x", 64.0 / 8}};
  for (const Lane& lane : kLanes) {
    if (!text.starts_with(lane.generation)) continue;
    const std::string_view count = text.substr(lane.generation.size());
    for (const int lanes : {1, 2, 4, 8, 16}) {
      if (count == std::to_string(lanes)) return lanes * lane.gbs;
    }
  }
  return std::nullopt;
}

std::vector<MeasuredRate> RatesOf(const RowFields& row) {
  std::vector<MeasuredRate> out;
  for (const ConfigValue& item : row.Items("measured_tflops")) {
    if (!item.is_object()) {
      row.Problem(&item, "measured_tflops", "holds what is no object",
                  "write {\"dtype\": …, \"tflops\": …, \"source\": …}");
      return out;
    }
    const RowFields fields = row.Of(item);
    out.push_back({fields.Text("dtype"), Real(fields, "tflops").value_or(0),
                   fields.Text("source")});
  }
  return out;
}

// "9.0" as 90.
int CapabilityOf(const RowFields& row) {
  constexpr std::string_view kKey = "compute_capability";
  const std::string text = row.OptionalText(kKey);
  if (text.empty()) return 0;
  const size_t dot = text.find('.');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  bool good = dot != std::string::npos && dot >= 1 && dot <= 2 &&
              text.size() == dot + 2;
  int out = 0;
  for (size_t i = 0; good && i < text.size(); ++i) {
    if (i == dot) continue;
    good = is_digit(text[i]);
    out = out * 10 + (text[i] - '0');
  }
  if (good) return out;
  row.Problem(row.Get(kKey), kKey, "is no capability", "write it as \"9.0\"");
  return 0;
}

Bytes Estimated(double bytes, const Quotient& quotient, std::string source) {
  return Bytes::Estimated(bytes * quotient.middle, bytes * quotient.low,
                          bytes * quotient.high, std::move(source));
}

Bytes TotalOf(const RowFields& row, const Device& device) {
  if (const auto gib = Real(row, "torch_total_gib")) {
    const double bytes = *gib * kGib;
    return Bytes::Measured(bytes, bytes * (1 - kBetweenDrivers),
                           bytes * (1 + kBetweenDrivers),
                           row.OptionalText("torch_total_source"));
  }
  if (device.driver_total) {
    return Estimated(static_cast<double>(*device.driver_total), kOfDriver,
                     "from the total that nvidia-smi shows");
  }
  if (device.nominal_gb) {
    return Estimated(*device.nominal_gb * kGib, kOfNominal,
                     "from the size it is sold with");
  }
  return Bytes::Unknown("the card's memory (--gpu-mem)");
}

// Drivers name a product with its maker before it.
std::string ProductNameOf(const Device& device) {
  constexpr std::string_view kMaker = "NVIDIA ";
  std::string out;
  for (const std::string& alias : device.aliases) {
    if (alias.starts_with(kMaker)) return alias;
  }
  return device.name;
}

}  // namespace

namespace {

void ReadDevice(const RowFields& row, Device& out) {
  out.name = row.Text("name");
  out.aliases = Texts(row, "aliases");
  out.product_name = ProductNameOf(out);
  out.capability = CapabilityOf(row);
  const ConfigValue* unified = row.Get("unified_memory");
  out.unified_memory = unified != nullptr && unified->AsBool().value_or(false);
  out.nominal_gb = Real(row, "memory_gb_nominal");
  out.memory_type = row.OptionalText("memory_type");
  if (const auto mib = Real(row, "nvidia_smi_mib")) {
    out.driver_total = static_cast<int64_t>(*mib * kMib);
  }
  out.total = TotalOf(row, out);
  out.bandwidth_gbs = Real(row, "mem_bandwidth_gbs");
  out.multiprocessors = Whole(row, "sm_count");
  out.year = Whole(row, "year");
  out.boost_mhz = Real(row, "boost_clock_mhz");
  out.l2_mb = Real(row, "l2_mb");
  out.power_w = Real(row, "tdp_w");
  out.dense_tflops = Reals(row, "dense_tflops");
  out.dense_basis = row.OptionalText("dense_basis");
  out.other_tflops = Reals(row, "alt_rates");
  out.measured_tflops = RatesOf(row);
  out.link_gbs = Real(row, "nvlink_gbs_per_gpu");
  out.link = row.OptionalText("scale_up_link");
  out.pcie = row.OptionalText("pcie_gen_lanes");
  out.pcie_gbs = PcieRateOf(out.pcie);
  out.list_price_usd = Real(row, "list_price_usd");
  out.per_node = Whole(row, "typical_gpus_per_node");
  out.price_usd_per_hour = Reals(row, "price_usd_per_hour");
  out.sources = Texts(row, "sources");
}

// Of tools/devices/convert.py.
constexpr std::string_view kMembers[] = {"id",
                                         "name",
                                         "aliases",
                                         "vendor",
                                         "arch",
                                         "form",
                                         "year",
                                         "compute_capability",
                                         "gfx",
                                         "memory_gb_nominal",
                                         "memory_gb_options",
                                         "memory_type",
                                         "unified_memory",
                                         "nvidia_smi_mib",
                                         "torch_total_gib",
                                         "torch_total_source",
                                         "mem_bandwidth_gbs",
                                         "l2_mb",
                                         "last_level_cache_mb",
                                         "sm_count",
                                         "boost_clock_mhz",
                                         "dense_tflops",
                                         "dense_basis",
                                         "alt_rates",
                                         "measured_tflops",
                                         "tdp_w",
                                         "nvlink_gbs_per_gpu",
                                         "scale_up_link",
                                         "pcie_gen_lanes",
                                         "typical_gpus_per_node",
                                         "price_usd_per_hour",
                                         "list_price_usd",
                                         "sources"};

// Members that no card has, and those that a description must have.
void CheckMembers(const RowFields& row, const ConfigValue& object) {
  const std::vector<std::string_view> known(std::begin(kMembers),
                                            std::end(kMembers));
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto near = NearestNames(key, known);
    row.Problem(&value, key, "is no figure of a card",
                near.empty()
                    ? "take it out"
                    : "did you mean " + std::string(near.front()) + "?");
  }
  for (const std::string_view key : {"mem_bandwidth_gbs", "dense_tflops"}) {
    if (row.Get(key) != nullptr) continue;
    row.Problem(nullptr, key, "is missing",
                key == "dense_tflops"
                    ? "write {\"bf16\": TFLOPS} without sparsity"
                    : "write the memory's bandwidth in 1e9 bytes a second");
  }
  if (row.Get("memory_gb_nominal") == nullptr &&
      row.Get("torch_total_gib") == nullptr) {
    row.Problem(nullptr, "memory_gb_nominal", "is missing",
                "write the card's memory in GB");
  }
}

void CheckRates(const RowFields& row, const Device& device) {
  const ConfigValue* rates = row.Get("dense_tflops");
  if (rates == nullptr || !rates->is_object()) return;
  const auto has = [&device](const char* key) {
    const auto at = device.dense_tflops.find(key);
    return at != device.dense_tflops.end() && at->second > 0;
  };
  if (!has("bf16") && !has("fp16")) {
    row.Problem(rates, "dense_tflops", "has no rate of bf16 or fp16",
                "write one above 0");
  }
  if (device.bandwidth_gbs && *device.bandwidth_gbs <= 0) {
    row.Problem(row.Get("mem_bandwidth_gbs"), "mem_bandwidth_gbs",
                "is no bandwidth", "write a number above 0");
  }
}

}  // namespace

Device ParseDeviceRow(const std::string& line, const std::string& source) {
  std::vector<InputError> errors;
  const RowLine where{&line, source, 1};
  Device out;
  if (const auto object = ReadRow(where, errors)) {
    const RowFields row(*object, where, errors);
    out.id = row.Text("id");
    out.vendor = row.Text("vendor");
    out.arch = row.Text("arch");
    out.form = row.Text("form");
    ReadDevice(row, out);
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

Device ParseDeviceFile(const std::string& text, const std::string& source) {
  std::vector<InputError> errors;
  const RowLine where{&text, source, kOwnLines};
  Device out;
  if (const auto object = ReadRow(where, errors)) {
    const RowFields row(*object, where, errors);
    CheckMembers(row, *object);
    // Never an id of the catalogue: measurements belong to its cards.
    out.id = "file:" + source;
    out.vendor = row.OptionalText("vendor");
    out.arch = row.OptionalText("arch");
    out.form = row.OptionalText("form");
    ReadDevice(row, out);
    CheckRates(row, out);
    if (out.sources.empty()) out.sources.push_back(source);
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

Device LoadDeviceFile(const std::string& path) {
  constexpr int64_t kMostBytes = 1 << 20;
  const std::string file = ExpandHome(path);
  return ParseDeviceFile(ReadWholeFile(file, kMostBytes), file);
}

Device DeviceOfMemory(double gib) {
  Device out;
  out.name = "a card of the stated memory";
  out.total = Bytes::Exact(static_cast<int64_t>(gib * kGib), "as stated");
  return out;
}

}  // namespace foretell
