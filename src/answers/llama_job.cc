#include "answers/llama_job.h"

#include <algorithm>
#include <utility>

#include "answers/served_job.h"
#include "base/lower_case.h"

namespace foretell {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsProcessor(const Device& device) { return device.id.starts_with("cpu"); }

bool SharesHostMemory(const Device& device) {
  return device.unified_memory || device.vendor == "apple";
}

// Nothing is left to the card.
bool IsHostAlone(const LlamaRequest& in) {
  return Lower(in.backend) == "cpu" ||
         (in.device_layers && *in.device_layers == 0);
}

LlamaBackend BackendOf(const LlamaRequest& in) {
  const std::string words = Lower(in.backend);
  const Device& device = *in.device;
  if (IsProcessor(device) || (IsHostAlone(in) && SharesHostMemory(device))) {
    return LlamaBackend::kCpu;
  }
  if (Has(words, "vulkan")) return LlamaBackend::kVulkan;
  if (device.vendor == "nvidia") return LlamaBackend::kCuda;
  if (device.vendor == "apple") return LlamaBackend::kMetal;
  return device.vendor == "amd" ? LlamaBackend::kRocm : LlamaBackend::kVulkan;
}

std::string_view DevicesOf(const Device& device) {
  if (device.vendor == "apple") return "apple";
  if (device.id == "gb10") return "gb10";
  const std::string& arch = device.arch;
  if (arch.starts_with("Ampere")) {
    return device.id.starts_with("a100") || device.id == "a30" ? "ampere_dc"
                                                               : "ampere";
  }
  constexpr std::pair<std::string_view, std::string_view> kStarts[] = {
      {"Pascal", "pascal"},
      {"Turing", "turing"},
      {"Ada", "ada"},
      {"Hopper", "hopper"},
      {"Blackwell", "blackwell"}};
  for (const auto& [start, name] : kStarts) {
    if (arch.starts_with(start)) return name;
  }
  if (Has(arch, "RDNA 3.5")) return "rdna35";
  if (Has(arch, "RDNA 4")) return "rdna4";
  if (Has(arch, "RDNA")) return "rdna3";
  return IsProcessor(device) ? "cpu" : "other";
}

// Products of packed weights run in int8 where it is twice as fast as fp16,
// which GeForce cards halve where sums are kept in 32 bits; without either, in
// fp32.
double PeakOf(const Device& device) {
  const auto of = [&device](const char* name) {
    const auto found = device.dense_tflops.find(name);
    return found == device.dense_tflops.end() ? 0.0 : found->second;
  };
  constexpr double kLeast = 0.1;
  constexpr double kTera = 1e12;
  return std::max({of("fp16"), of("int8") / 2, of("fp32"), kLeast}) * kTera;
}

}  // namespace

std::optional<double> BitsOfRecipe(std::string_view recipe) {
  if (recipe.starts_with("UD-")) recipe.remove_prefix(3);
  recipe = recipe.substr(0, recipe.find(' '));
  struct Row {
    std::string_view name;
    double bits;
  };
  constexpr Row kRows[] = {
      {"F32", 32},      {"F16", 16},      {"BF16", 16},      {"Q8_0", 8.5},
      {"Q6_K", 6.56},   {"Q5_K_M", 5.7},  {"Q4_K_M", 4.87},  {"Q4_K_S", 4.6},
      {"Q4_K_XL", 4.9}, {"Q4_0", 4.6},    {"Q3_K_S", 3.5},   {"Q3_K_M", 3.9},
      {"Q3_K_XL", 4.2}, {"IQ4_XS", 4.3},  {"IQ4_NL", 4.55},  {"IQ3_XXS", 3.15},
      {"MXFP4", 4.3},   {"NVFP4", 4.6},   {"IQ2_K_R4", 2.4}, {"IQ4_K_R4", 4.5},
      {"Q5_K_XL", 5.7}, {"Q6_K_XL", 7.0}, {"Q8_K_XL", 9.5}};
  const auto* row = std::ranges::find(kRows, recipe, &Row::name);
  if (row != std::end(kRows)) return row->bits;
  // "Q4_K_P": so many bits and the scales.
  const size_t at = recipe.find('Q');
  constexpr double kScales = 0.8;
  const bool is_named = at == 0 || (at == 1 && recipe[0] == 'I');
  if (!is_named || at + 1 >= recipe.size()) return {};
  const char digit = recipe[at + 1];
  if (digit < '1' || digit > '8') return {};
  if (at + 2 < recipe.size() && recipe[at + 2] != '_') return {};
  return digit - '0' + kScales;
}

std::variant<LlamaJob, std::string> LlamaJobOf(const LlamaRequest& in) {
  if (in.device == nullptr) return std::string("the device is not known");
  if (in.config == nullptr) return std::string("the configuration is missing");
  auto shape = ShapeOfConfig(*in.config);
  if (auto* why = std::get_if<std::string>(&shape)) return std::move(*why);
  LlamaJob job;
  job.shape = std::get<ServedShape>(shape);
  const Device& device = *in.device;
  if (!device.bandwidth_gbs) {
    return std::string("the device's bandwidth is not known");
  }
  std::optional<double> bits;
  if (in.file_bytes && job.shape.stored > 0) {
    bits = *in.file_bytes * 8 / job.shape.stored;
  } else {
    bits = BitsOfRecipe(in.recipe);
  }
  // A file of another model, or of a part of it.
  constexpr double kFewest = 1.5;
  constexpr double kMost = 40;
  if (!bits) return std::string("its quantization is not stated");
  if (*bits < kFewest || *bits > kMost) {
    return std::string("the file's size is not that of the model");
  }
  job.bytes = *bits / 8;
  job.backend = BackendOf(in);
  const LlamaDeviceConstants* constants = LlamaDevicesOf(DevicesOf(device));
  if (constants == nullptr) return std::string("the device is not known");
  job.device = *constants;
  constexpr double kGiga = 1e9;
  job.bandwidth = *device.bandwidth_gbs * kGiga;
  job.peak = PeakOf(device);
  const bool is_host =
      SharesHostMemory(device) || job.backend == LlamaBackend::kCpu;
  job.memory = is_host ? 0 : device.nominal_gb.value_or(0) * kGiga;
  job.devices = static_cast<double>(std::max<int64_t>(in.devices, 1));
  // The bandwidth is the card's: what the processor reads, it reads at the
  // host's own.
  if (IsHostAlone(in)) {
    job.device_layers = 0;
  } else if (in.device_layers && *in.device_layers >= 0) {
    job.device_layers = static_cast<double>(*in.device_layers);
  }
  job.has_flash = in.has_flash;
  job.is_early = in.is_early;
  job.is_tool = in.is_tool;
  return job;
}

}  // namespace foretell
