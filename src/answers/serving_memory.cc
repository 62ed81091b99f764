#include "answers/serving_memory.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "answers/serving_weights.h"
#include "engines/vllm/served_config.h"

namespace foretell {
namespace {

int64_t SizeAt(const ConfigValue& at,
               std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const ConfigValue* value = at.Find(key);
    if (value == nullptr) continue;
    const int64_t size = value->AsInteger().value_or(0);
    if (size > 0 && size <= vllm::kMostSize) return size;
  }
  return 0;
}

// Of the part that sees: its sizes, and how many of its tokens become one.
void ReadTower(const vllm::ServedConfig& served, vllm::ProfileSizes& sizes) {
  const ConfigValue* vision = served.FindInRoot("vision_config");
  if (vision == nullptr || !vision->is_object()) return;
  sizes.tower_hidden = SizeAt(*vision, {"hidden_size", "embed_dim"});
  sizes.tower_intermediate = SizeAt(*vision, {"intermediate_size"});
  constexpr int64_t kUsualRatio = 4;
  if (sizes.tower_intermediate == 0) {
    sizes.tower_intermediate = kUsualRatio * sizes.tower_hidden;
  }
  int64_t merge = SizeAt(*vision, {"spatial_merge_size"});
  if (const ConfigValue* whole = served.FindInRoot("spatial_merge_size")) {
    merge = std::max(merge, whole->AsInteger().value_or(0));
  }
  const int64_t image = SizeAt(*vision, {"image_size"});
  const int64_t patch = SizeAt(*vision, {"patch_size"});
  const ConfigValue* tokens = served.FindInRoot("mm_tokens_per_image");
  const int64_t fixed = tokens == nullptr ? 0 : tokens->AsInteger().value_or(0);
  sizes.patches_per_token = 1;
  if (fixed > 0 && patch > 0) {
    const int64_t across = image / patch;  // whole patches
    const auto side = static_cast<double>(across);
    sizes.patches_per_token = side * side / static_cast<double>(fixed);
  } else if (merge > 0 && merge <= 16) {
    sizes.patches_per_token = static_cast<double>(merge * merge);
  }
}

}  // namespace

vllm::MemoryAccount ServingMemory(const ModelConfig& config,
                                  const ServingSettings& settings,
                                  const Bytes& total, ServedBy by) {
  const vllm::ServedConfig served(config);
  vllm::MemoryInput in;
  in.total = total;
  in.weights = ServedWeights(config, served, settings,
                             {by.capability, by.is_nvidia, by.is_amd});
  in.is_packed =
      !settings.quantization.empty() || served.quantization() != nullptr;
  in.is_v1 = by.is_v1;
  in.is_nvidia = by.is_nvidia;
  in.has_fast_links = by.capability == 80 || by.capability / 10 == 9 ||
                      by.capability / 10 == 10;
  in.is_unified = by.is_unified;
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
    sizes.expert_hidden = served.SizeOr({"moe_latent_size"}, sizes.hidden);
    sizes.intermediate = 0;
  }
  sizes.has_towers = served.has_towers();
  if (sizes.has_towers) ReadTower(served, sizes);
  sizes.are_experts_fused = QuantizationFormat(config) == "mxfp4";
  sizes.is_latent = served.Find("kv_lora_rank") != nullptr;
  // Sparse attention projects nothing up.
  if (sizes.is_latent && served.Find("index_topk") == nullptr) {
    sizes.latent_heads = served.attention_heads();
    sizes.latent_width = served.SizeOr({"qk_nope_head_dim"}, 0) +
                         served.SizeOr({"v_head_dim"}, 0);
  }
  return vllm::AccountMemory(in, settings);
}

}  // namespace foretell
