#include "passes/fused_targets.h"

#include <algorithm>

namespace foretell {
namespace {

constexpr FusedTarget kMixtral[] = {{"gate", "gate.weight"},
                                    {"w1", "gate_up_proj"},
                                    {"w3", "gate_up_proj"},
                                    {"w2", "down_proj"}};
constexpr FusedTarget kQwen2Moe[] = {{"gate", "gate.weight"},
                                     {"gate_proj", "gate_up_proj"},
                                     {"up_proj", "gate_up_proj"},
                                     {"down_proj", "down_proj"}};

constexpr std::string_view kMixtralTypes[] = {"mixtral", "minimax",
                                              "minimax_m2"};
// The first of their kind, qwen2_moe, stands in no table of peft: its names
// mean linear layers alone.
constexpr std::string_view kQwen2MoeTypes[] = {"afmoe",
                                               "deepseek_v2",
                                               "deepseek_v3",
                                               "deepseek_v32",
                                               "dots1",
                                               "ernie4_5_moe",
                                               "glm4_moe",
                                               "glm4_moe_lite",
                                               "glm_moe_dsa",
                                               "glm4v_moe",
                                               "longcat_flash",
                                               "solar_open",
                                               "mellum",
                                               "qwen3_moe",
                                               "qwen3_omni_moe",
                                               "qwen3_omni_moe_thinker",
                                               "qwen3_omni_moe_text",
                                               "qwen3_next",
                                               "hunyuan_v1_moe",
                                               "flex_olmo",
                                               "olmoe",
                                               "exaone_moe",
                                               "cohere2_moe"};

}  // namespace

std::optional<std::span<const FusedTarget>> FusedTargetsOf(
    std::string_view model_type) {
  if (std::ranges::find(kMixtralTypes, model_type) !=
      std::ranges::end(kMixtralTypes)) {
    return kMixtral;
  }
  if (std::ranges::find(kQwen2MoeTypes, model_type) !=
      std::ranges::end(kQwen2MoeTypes)) {
    return kQwen2Moe;
  }
  return std::nullopt;
}

}  // namespace foretell
