#include "analysis/gguf_name_table.h"

#include <algorithm>
#include <array>
#include <span>

namespace foretell {
namespace {

struct NameRow {
  std::string_view theirs;
  std::string_view gguf;
};

constexpr auto kBlockNames = std::to_array<NameRow>({
    // Attention.
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.out_proj", "attn_output"},
    {"self_attn.dense", "attn_output"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.query_key_value", "attn_qkv"},
    {"self_attention.query_key_value", "attn_qkv"},
    {"self_attention.dense", "attn_output"},
    {"attention.query_key_value", "attn_qkv"},
    {"attention.dense", "attn_output"},
    {"attn.q_proj", "attn_q"},
    {"attn.k_proj", "attn_k"},
    {"attn.v_proj", "attn_v"},
    {"attn.out_proj", "attn_output"},
    {"attn.c_attn", "attn_qkv"},
    {"attn.c_proj", "attn_output"},
    {"attn.Wqkv", "attn_qkv"},
    {"norm_attn_norm.attn.Wqkv", "attn_qkv"},
    {"norm_attn_norm.attn.out_proj", "attn_output"},
    {"mixer.q_proj", "attn_q"},
    {"mixer.k_proj", "attn_k"},
    {"mixer.v_proj", "attn_v"},
    {"mixer.o_proj", "attn_output"},
    {"self_attn.g_proj", "attn_gate"},
    {"self_attn.gate_proj", "attn_gate"},
    {"self_attn.q_a_proj", "attn_q_a"},
    {"self_attn.q_b_proj", "attn_q_b"},
    {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"self_attn.kv_b_proj", "attn_kv_b"},
    {"self_attn.indexer.wk", "indexer.attn_k"},
    {"self_attn.indexer.wq_b", "indexer.attn_q_b"},
    {"self_attn.indexer.weights_proj", "indexer.proj"},
    // Feed-forward.
    {"mlp.up_proj", "ffn_up"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
    {"mlp.fc1", "ffn_up"},
    {"mlp.fc2", "ffn_down"},
    {"mlp.fc_in", "ffn_up"},
    {"mlp.fc_out", "ffn_down"},
    {"mlp.dense_h_to_4h", "ffn_up"},
    {"mlp.dense_4h_to_h", "ffn_down"},
    {"ffn.up_proj", "ffn_up"},
    {"ffn.down_proj", "ffn_down"},
    {"mixer.up_proj", "ffn_up"},
    {"mixer.down_proj", "ffn_down"},
    {"feed_forward.up_proj", "ffn_up"},
    {"feed_forward.gate_proj", "ffn_gate"},
    {"feed_forward.down_proj", "ffn_down"},
    {"feed_forward.w1", "ffn_gate"},
    {"feed_forward.w2", "ffn_down"},
    {"feed_forward.w3", "ffn_up"},
    // Experts; an expert's own index is taken out before the look-up.
    {"mlp.experts.gate_up_proj", "ffn_gate_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"mlp.experts.up_proj", "ffn_up_exps"},
    {"mlp.experts.gate_proj", "ffn_gate_exps"},
    {"feed_forward.experts.gate_up_proj", "ffn_gate_up_exps"},
    {"feed_forward.experts.down_proj", "ffn_down_exps"},
    {"block_sparse_moe.experts.gate_up_proj", "ffn_gate_up_exps"},
    {"block_sparse_moe.experts.down_proj", "ffn_down_exps"},
    {"block_sparse_moe.experts.w1", "ffn_gate_exps"},
    {"block_sparse_moe.experts.w2", "ffn_down_exps"},
    {"block_sparse_moe.experts.w3", "ffn_up_exps"},
    {"experts.gate_up_proj", "ffn_gate_up_exps"},
    {"experts.down_proj", "ffn_down_exps"},
    {"mixer.experts.up_proj", "ffn_up_exps"},
    {"mixer.experts.down_proj", "ffn_down_exps"},
    {"ffn.experts.mlp.v1", "ffn_up_exps"},
    {"ffn.experts.mlp.w1", "ffn_gate_exps"},
    {"ffn.experts.mlp.w2", "ffn_down_exps"},
    {"mixer.fc1_latent_proj", "ffn_latent_down"},
    {"mixer.fc2_latent_proj", "ffn_latent_up"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.router", "ffn_gate_inp"},
    {"mlp.gate.wg", "ffn_gate_inp"},
    {"mixer.gate", "ffn_gate_inp"},
    {"router.proj", "ffn_gate_inp"},
    {"ffn.router.layer", "ffn_gate_inp"},
    {"feed_forward.gate", "ffn_gate_inp"},
    {"feed_forward.router", "ffn_gate_inp"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
    {"block_sparse_moe.router", "ffn_gate_inp"},
    {"block_sparse_moe.router.layer", "ffn_gate_inp"},
    {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
    {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
    {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
    {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
    {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_experts.down_proj", "ffn_down_shexp"},
    {"mixer.shared_experts.up_proj", "ffn_up_shexp"},
    {"mixer.shared_experts.down_proj", "ffn_down_shexp"},
    {"mlp.shared_mlp.up_proj", "ffn_up_shexp"},
    {"mlp.shared_mlp.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_mlp.down_proj", "ffn_down_shexp"},
    {"feed_forward.shared_expert.up_proj", "ffn_up_shexp"},
    {"feed_forward.shared_expert.gate_proj", "ffn_gate_shexp"},
    {"feed_forward.shared_expert.down_proj", "ffn_down_shexp"},
    {"shared_mlp.input_linear", "ffn_gate_up_shexp"},
    {"shared_mlp.output_linear", "ffn_down_shexp"},
    // Recurrences and convolutions.
    {"linear_attn.conv1d", "ssm_conv1d"},
    {"linear_attn.in_proj_a", "ssm_alpha"},
    {"linear_attn.in_proj_b", "ssm_beta"},
    {"linear_attn.in_proj_ba", "ssm_ba"},
    {"linear_attn.in_proj_qkv", "attn_qkv"},
    {"linear_attn.in_proj_qkvz", "attn_qkvz"},
    {"linear_attn.in_proj_z", "attn_gate"},
    {"linear_attn.out_proj", "ssm_out"},
    {"mamba.conv1d", "ssm_conv1d"},
    {"mamba.in_proj", "ssm_in"},
    {"mamba.out_proj", "ssm_out"},
    {"mixer.A_log", "ssm_a"},
    {"mixer.conv1d", "ssm_conv1d"},
    {"mixer.dt_proj", "ssm_dt"},
    {"mixer.in_proj", "ssm_in"},
    {"mixer.out_proj", "ssm_out"},
    {"mixer.x_proj", "ssm_x"},
    {"conv.conv", "shortconv.conv"},
    {"conv.in_proj", "shortconv.in_proj"},
    {"conv.out_proj", "shortconv.out_proj"},
    // Gemma's per-layer inputs.
    {"altup.correction_coefs", "altup_correct_coef"},
    {"altup.modality_router", "altup_router"},
    {"altup.prediction_coefs", "altup_predict_coef"},
    {"laurel.linear_left", "laurel_l"},
    {"laurel.linear_right", "laurel_r"},
    {"per_layer_input_gate", "inp_gate"},
    {"per_layer_projection", "proj"},
    // A layer that predicts further tokens.
    {"eh_proj", "nextn.eh_proj"},
    {"embed_tokens", "nextn.embed_tokens"},
    {"shared_head.head", "nextn.shared_head_head"},
    // Norms, and encoders' spellings.
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"self_attn.q_layernorm", "attn_q_norm"},
    {"self_attn.k_layernorm", "attn_k_norm"},
    {"self_attn.q_a_layernorm", "attn_q_a_norm"},
    {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
    {"input_layernorm", "attn_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"post_self_attn_layernorm", "post_attention_norm"},
    {"post_mlp_layernorm", "post_ffw_norm"},
    {"norm", "attn_norm"},
    {"ln_1", "attn_norm"},
    {"ln_2", "ffn_norm"},
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
    {"post_attention_layernorm", "ffn_norm"},
});

// By the last part of a name without a block's index.
constexpr auto kTopNames = std::to_array<NameRow>({
    {"embed_tokens", "token_embd"},
    {"word_embeddings", "token_embd"},
    {"embed_in", "token_embd"},
    {"embeddings", "token_embd"},
    {"wte", "token_embd"},
    {"embed_tokens_per_layer", "per_layer_token_embd"},
    {"per_layer_model_projection", "per_layer_model_proj"},
    {"wpe", "position_embd"},
    {"lm_head", "output"},
    {"embed_out", "output"},
    {"head", "output"},
    {"norm", "output_norm"},
    {"final_layernorm", "output_norm"},
    {"norm_f", "output_norm"},
    {"ln_f", "output_norm"},
    {"word_embeddings_layernorm", "token_embd_norm"},
    {"final_layer_norm", "output_norm"},
    {"token_type_embeddings", "token_types"},
    {"position_embeddings", "position_embd"},
    {"LayerNorm", "token_embd_norm"},
    {"dense", "cls"},
    {"embedding_norm", "token_embd_norm"},
});

std::string_view Find(std::span<const NameRow> rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &NameRow::theirs);
  return row == rows.end() ? "" : row->gguf;
}

}  // namespace

std::string_view GgufBlockPart(std::string_view name) {
  return Find(kBlockNames, name);
}

std::string_view GgufTopPart(std::string_view last) {
  return Find(kTopNames, last);
}

}  // namespace foretell
