#include "spec/kernel_variable.h"

namespace foretell {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kKernelVariables> kNames = {
    "m",
    "n",
    "k",
    "weights",
    "l2",
    "sm",
    "batch",
    "q_heads",
    "kv_heads",
    "head_dim",
    "seq_len",
    "seen",
    "past_tokens",
    "window",
    "tokens",
    "hidden",
    "inter",
    "inner",
    "experts",
    "topk",
    "moe_tp",
    "moe_ep",
    "local",
    "routed",
    "chosen",
    "each",
    "skew",
    "gpus",
    "message_bytes",
    "arithmetic_us",
    "memory_us",
    "link_us",
    "tp",
    "rows",
    "pairs",
    "compress_ratio",
    "d_model",
    "num_v_heads",
    "num_k_heads",
    "d_state",
    "nheads",
    "n_groups",
    "chunk_size",
    "rank0_num_tokens",
    "num_slots",
    "nodes",
    "dispatch_sms",
    "combine_sms"};

}  // namespace

std::string_view NameOf(KernelVariable variable) {
  return kNames[static_cast<size_t>(variable)];
}

std::optional<KernelVariable> KernelVariableNamed(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<KernelVariable>(i);
  }
  return std::nullopt;
}

}  // namespace foretell
