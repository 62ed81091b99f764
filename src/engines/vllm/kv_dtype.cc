// Which dtype a cache keeps. Source: vllm/utils/torch_utils.py and
// vllm/model_executor/models/config.py of 0.33.0.
#include <array>

#include "base/lower_case.h"
#include "engines/vllm/kv_model.h"

namespace foretell::vllm {
namespace {

// What ModelOpt's and compressed-tensors' checkpoints say of the cache.
std::string OfCheckpoint(const ServedConfig& config) {
  const ConfigValue* quant = config.quantization();
  if (quant == nullptr) return "auto";
  const auto text = [](const ConfigValue* at) {
    return at == nullptr
               ? std::string()
               : std::string(at->AsString().value_or(std::string_view()));
  };
  const std::string method = Lower(text(quant->Find("quant_method")));
  const ConfigValue* producer = quant->Find("producer");
  const bool is_modelopt =
      method.starts_with("modelopt") ||
      (producer != nullptr && text(producer->Find("name")) == "modelopt");
  const ConfigValue* inner = quant->Find("quantization");
  const ConfigValue* scheme = nullptr;
  for (const ConfigValue* part : {inner, quant}) {
    if (part == nullptr || scheme != nullptr) continue;
    scheme = part->Find("kv_cache_scheme");
    if (scheme != nullptr && scheme->is_null()) scheme = nullptr;
  }
  if (is_modelopt) {
    if (scheme != nullptr && scheme->is_object()) {
      const ConfigValue* bits = scheme->Find("num_bits");
      const int64_t width = bits == nullptr ? 0 : bits->AsInteger().value_or(0);
      if (width == 8) return "fp8_e4m3";
      if (width == 4) return "nvfp4";
      return "auto";
    }
    std::string name = Lower(text(scheme));
    for (const ConfigValue* part : {inner, quant}) {
      if (part != nullptr && name.empty()) {
        name = Lower(text(part->Find("kv_cache_quant_algo")));
      }
    }
    if (name == "fp8") return "fp8_e4m3";
    if (name == "nvfp4") return "nvfp4";
    return "auto";
  }
  const bool is_compressed =
      method == "compressed-tensors" || method == "compressed_tensors";
  return is_compressed && scheme != nullptr && scheme->is_object() ? "fp8"
                                                                   : "auto";
}

}  // namespace

std::string ResolveCacheDtype(const ServedConfig& config,
                              const ServingSettings& settings,
                              const ServingCard& card) {
  if (settings.cache_dtype != "auto") return settings.cache_dtype;
  std::string stated = OfCheckpoint(config);
  if (stated != "auto") return stated;
  // GLM 5's class takes fp8 on Blackwell.
  if (config.architecture() == "GlmMoeDsaForCausalLM" &&
      card.capability / 10 == 10) {
    return "fp8_e4m3";
  }
  return "auto";
}

int64_t ElementBytes(const std::string& cache, const std::string& dtype) {
  if (cache == "auto") {
    return BytesOf(ParseDType(dtype).value_or(DType::kBFloat16));
  }
  if (cache == "bfloat16" || cache == "float16" || cache == "half") return 2;
  if (cache == "float32" || cache == "float") return 4;
  return 1;
}

KvPacking PackingOf(const std::string& cache) {
  if (cache.ends_with("_ds_mla")) return KvPacking::kLatentRow;
  if (cache.ends_with("_per_token_head")) return KvPacking::kPerTokenHead;
  if (cache.starts_with("nvfp4")) return KvPacking::kNvfp4;
  if (cache.starts_with("fp8")) return KvPacking::kFp8;
  return KvPacking::kPlain;
}

}  // namespace foretell::vllm
