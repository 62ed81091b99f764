#include "answers/serving_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "answers/read_model.h"
#include "engines/vllm/memory_weights.h"
#include "engines/vllm/served_config.h"

namespace foretell {
namespace {

// Half a byte, and a byte of scale for 32 elements (mxfp4).
constexpr double kFourBitsWithScales = 0.5 + 1.0 / 32;

// "quantization" of the launch, else what the checkpoint says of itself.
vllm::WeightFormat FormatOfLaunch(const vllm::ServedConfig& served,
                                  const ServingSettings& settings) {
  std::string name = settings.quantization;
  int64_t bits = 0;
  // What the launch says by itself goes before the checkpoint's own words.
  if (served.text_type().starts_with("deepseek_v4")) {
    // Its experts are published in four bits, the rest in eight.
    return {"fp4 experts", kFourBitsWithScales, true};
  }
  const vllm::WeightFormat stated = vllm::FormatOf(name, 0);
  if (stated.bytes > 0) return stated;
  if (const ConfigValue* quant = served.quantization()) {
    const auto text = [&](const ConfigValue* at) {
      return at == nullptr ? std::string()
                           : std::string(at->AsString().value_or(""));
    };
    if (name.empty()) name = text(quant->Find("quant_method"));
    if (const ConfigValue* width = quant->Find("bits")) {
      bits = width->AsInteger().value_or(0);
    }
    // compressed-tensors: the width of the first group's weights.
    if (const ConfigValue* groups = quant->Find("config_groups");
        groups != nullptr && groups->is_object() &&
        !groups->members().empty()) {
      const ConfigValue* weights =
          groups->members().front().second.Find("weights");
      const ConfigValue* width =
          weights == nullptr ? nullptr : weights->Find("num_bits");
      const ConfigValue* kind =
          weights == nullptr ? nullptr : weights->Find("type");
      if (width != nullptr) bits = width->AsInteger().value_or(0);
      if (bits == 4 && text(kind) == "float") name += " nvfp4";
    }
    if (const ConfigValue* inner = quant->Find("quantization")) {
      name += " " + text(inner->Find("quant_algo"));
    }
    name += " " + text(quant->Find("quant_algo"));
  }
  return vllm::FormatOf(name, bits);
}

Bytes Weights(const ModelConfig& config, const vllm::ServedConfig& served,
              const ServingSettings& settings) {
  BuildOptions options;
  options.dtype = ParseDType(settings.dtype);
  const auto read = ReadModelOf(config, options);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return Bytes::Unknown("the weights: " + refusal->errors.front().what);
  }
  const ReadModel& model = std::get<ReadModel>(read);
  vllm::WeightsInput in;
  in.tensors = model.parameters.tensors;
  in.layers = served.layers();
  in.key_value_heads = served.key_value_heads();
  in.dtype = ParseDType(settings.dtype).value_or(DType::kBFloat16);
  in.format = FormatOfLaunch(served, settings);
  in.positions = served.SizeOr({"max_position_embeddings"}, 0);
  if (served.Find("kv_lora_rank") == nullptr) in.rotary_dim = served.head_dim();
  for (const TiedName& tie : model.parameters.ties) {
    in.is_tied = in.is_tied || tie.name.find("lm_head") != std::string::npos;
  }
  Bytes bytes = vllm::WeightsOfRank(in, settings);
  const auto value = bytes.any().value();
  if (settings.cpu_offload_gib <= 0 || !value) return bytes;
  // So much of every rank's weights stays with the host.
  constexpr double kGib = 1073741824.0;
  const double left = std::max(0.0, *value - settings.cpu_offload_gib * kGib);
  return Bytes::Estimated(left, std::max(0.0, left - kGib), left + kGib,
                          "without what is offloaded to the host");
}

}  // namespace

vllm::MemoryAccount ServingMemory(const ModelConfig& config,
                                  const ServingSettings& settings,
                                  const Bytes& total, ServedBy by) {
  const vllm::ServedConfig served(config);
  vllm::MemoryInput in;
  in.total = total;
  in.weights = Weights(config, served, settings);
  in.is_packed =
      !settings.quantization.empty() || served.quantization() != nullptr;
  in.is_v1 = by.is_v1;
  in.is_nvidia = by.is_nvidia;
  vllm::ProfileSizes& sizes = in.sizes;
  sizes.vocabulary = served.SizeOr({"vocab_size"}, 0);
  sizes.hidden = served.hidden_size();
  sizes.layers = served.layers();
  sizes.intermediate =
      served.SizeOr({"intermediate_size", "n_inner", "ffn_dim"}, 0);
  const auto experts = served.Size({"num_experts", "num_local_experts",
                                    "n_routed_experts", "moe_num_experts"});
  if (experts && *experts > 1) {
    sizes.experts_per_token =
        served.SizeOr({"num_experts_per_tok", "num_experts_per_token",
                       "top_k_experts", "moe_topk", "moe_top_k"},
                      2);
    sizes.expert_intermediate =
        served.SizeOr({"moe_intermediate_size"}, sizes.intermediate);
    sizes.intermediate = 0;
  }
  sizes.has_towers = served.has_towers();
  sizes.is_latent = served.Find("kv_lora_rank") != nullptr;
  return vllm::AccountMemory(in, settings);
}

}  // namespace foretell
