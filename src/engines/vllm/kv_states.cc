// Shapes of the states that Mamba, gated delta nets and short convolutions
// keep. Source: vllm/model_executor/layers/mamba/mamba_utils.py of 0.33.0, and
// each class's get_mamba_state_shape_from_config.
#include <algorithm>

#include "engines/vllm/kv_model.h"

namespace foretell::vllm {
namespace {

DType DTypeOf(const std::string& name, const std::string& model) {
  const std::string& asked = name == "auto" || name.empty() ? model : name;
  return ParseDType(asked).value_or(DType::kBFloat16);
}

// Groups that a rank's heads read are kept by it, so that a count which does
// not divide is brought up to one group a rank.
int64_t GroupsFor(int64_t groups, int64_t ranks) {
  return groups % ranks == 0 ? groups : ranks;
}

struct Sizes {
  int64_t inner = 0;
  int64_t groups = 1;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t state = 0;
  int64_t conv = 0;
};

std::vector<StateTensor> Mamba2(const Sizes& s, int64_t ranks, int64_t drafts,
                                DType conv, DType state) {
  const int64_t channels =
      Plus(s.inner, 2 * GroupsFor(s.groups, ranks) * s.state);
  return {{{s.conv - 1 + drafts, channels / ranks}, conv},
          {{s.heads / ranks, s.head_dim, s.state}, state}};
}

Sizes SizesOf(const ServedConfig& c) {
  const std::string& type = c.text_type();
  Sizes s;
  if (type == "nemotron_h") {
    s.heads = c.SizeOr({"mamba_num_heads"}, 128);
    s.head_dim = c.SizeOr({"mamba_head_dim"}, 64);
    s.inner = s.heads * s.head_dim;
    s.groups = c.SizeOr({"n_groups"}, 8);
    s.state = c.SizeOr({"ssm_state_size"}, 128);
    s.conv = c.SizeOr({"conv_kernel"}, 4);
  } else if (type == "mamba2") {
    s.inner = c.SizeOr({"expand"}, 2) * c.hidden_size();
    s.groups = c.SizeOr({"n_groups"}, 8);
    s.heads = c.SizeOr({"num_heads"}, 128);
    s.head_dim = c.SizeOr({"head_dim"}, 64);
    s.state = c.SizeOr({"state_size"}, 128);
    s.conv = c.SizeOr({"conv_kernel"}, 4);
  } else if (type == "zamba2") {
    s.inner = c.SizeOr({"mamba_expand"}, 2) * c.hidden_size();
    s.groups = c.SizeOr({"mamba_ngroups"}, 1);
    s.heads = c.SizeOr({"n_mamba_heads"}, 8);
    s.head_dim = s.heads > 0 ? s.inner / s.heads : 0;
    s.state = c.SizeOr({"mamba_d_state"}, 64);
    s.conv = c.SizeOr({"mamba_d_conv"}, 4);
  } else {  // bamba, granitemoehybrid, falcon_h1
    s.inner = c.Written("mamba_d_ssm")
                  .value_or(c.SizeOr({"mamba_expand"}, 2) * c.hidden_size());
    s.groups = c.SizeOr({"mamba_n_groups"}, 1);
    s.heads = c.SizeOr({"mamba_n_heads"}, 128);
    s.head_dim =
        c.Written("mamba_d_head").value_or(s.heads > 0 ? s.inner / s.heads : 0);
    s.state = c.SizeOr({"mamba_d_state"}, 256);
    s.conv = c.SizeOr({"mamba_d_conv"}, 4);
  }
  return s;
}

}  // namespace

StateFacts ReadStates(const ServedConfig& c, const ServingSettings& settings,
                      const ServingCard& card) {
  StateFacts out;
  const std::string& type = c.text_type();
  const int64_t ranks = std::max<int64_t>(settings.tensor_parallel, 1);
  const int64_t drafts =
      settings.speculative ? std::max<int64_t>(settings.speculative->tokens, 0)
                           : 0;
  const DType conv = DTypeOf(settings.mamba_cache_dtype, settings.dtype);
  DType state = settings.mamba_ssm_cache_dtype == "auto"
                    ? conv
                    : DTypeOf(settings.mamba_ssm_cache_dtype, settings.dtype);
  const bool is_aligned = settings.enable_prefix_caching;
  if (type == "mamba" || type == "falcon_mamba" || type == "jamba") {
    const bool is_jamba = type == "jamba";
    const int64_t inner =
        is_jamba ? c.SizeOr({"mamba_expand"}, 2) * c.hidden_size()
                 : c.Written("intermediate_size")
                       .value_or(c.SizeOr({"expand"}, 2) * c.hidden_size());
    const int64_t size = c.SizeOr({"state_size", "mamba_d_state"}, 16);
    const int64_t kernel = c.SizeOr({"conv_kernel", "mamba_d_conv"}, 4);
    out.states = {{{kernel - 1, inner / ranks}, conv},
                  {{inner / ranks, size}, state}};
    out.backend = "MAMBA1";
    return out;
  }
  if (type == "lfm2" || type == "lfm2_moe") {
    const int64_t dim = c.Written("conv_dim").value_or(c.hidden_size());
    out.states = {{{c.SizeOr({"conv_L_cache"}, 3) - 1, dim / ranks}, conv}};
    out.backend = "SHORT_CONV";
    return out;
  }
  if (type.starts_with("qwen3") || type == "olmo_hybrid") {
    const int64_t key_heads = c.SizeOr({"linear_num_key_heads"}, 16);
    const int64_t value_heads = c.SizeOr({"linear_num_value_heads"}, 32);
    const int64_t key_dim = c.SizeOr({"linear_key_head_dim"}, 128);
    const int64_t value_dim = c.SizeOr({"linear_value_head_dim"}, 128);
    const int64_t kernel = c.SizeOr({"linear_conv_kernel_dim"}, 4);
    const std::string stated = c.Text("mamba_ssm_dtype");
    if (settings.mamba_ssm_cache_dtype == "auto" && !stated.empty() &&
        !type.starts_with("qwen3_next")) {
      state = DTypeOf(stated, settings.dtype);
    }
    const int64_t channels = 2 * key_dim * key_heads + value_dim * value_heads;
    out.states = {{{kernel - 1 + drafts, channels / ranks}, conv},
                  {{value_heads / ranks, value_dim, key_dim}, state}};
    out.backend = "GDN_ATTN";
    // FlashInfer's prefill writes a state every 64 tokens; vLLM takes it on
    // Hopper, and on Blackwell for keys of 128.
    const int major = card.capability / 10;
    const bool has_flashinfer =
        card.capability == 90 ||
        ((major == 10 || major == 12) && key_dim == 128);
    if (is_aligned && has_flashinfer && type != "olmo_hybrid") {
      out.checkpoints = 1;
      out.checkpoint_alignment = 64;
    }
    return out;
  }
  // models/config.py reads the class's own dtype since 0.13.
  if (type == "nemotron_h" && settings.mamba_ssm_cache_dtype == "auto" &&
      settings.version >= EngineVersion{0, 13, 0}) {
    const std::string stated = c.Text("mamba_ssm_cache_dtype");
    state = stated.empty() ? DType::kFloat32 : DTypeOf(stated, settings.dtype);
  }
  const Sizes sizes = SizesOf(c);
  if (sizes.inner <= 0 || sizes.heads <= 0 || sizes.state <= 0) return out;
  out.states = Mamba2(sizes, ranks, drafts, conv, state);
  out.backend = "MAMBA2";
  // Its prefill kernel can end a chunk at any token.
  out.checkpoints = 1;
  return out;
}

}  // namespace foretell::vllm
