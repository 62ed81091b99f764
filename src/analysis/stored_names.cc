#include "analysis/stored_names.h"

#include <algorithm>
#include <array>
#include <span>

namespace foretell {
namespace {

enum class RuleKind : uint8_t {
  kRename,   // a part of the name
  kExperts,  // the slices along dim 0; `theirs` lie one behind another on dim 1
  kFused,    // `ours` lie one behind another on dim 0 of one of theirs
};

struct Rule {
  RuleKind kind = RuleKind::kRename;
  // "^" at the front: only where the name begins so. "#" in theirs: the slice.
  std::array<std::string_view, 3> ours = {};
  std::array<std::string_view, 2> theirs = {};
};

constexpr Rule Rename(std::string_view ours, std::string_view theirs) {
  return {RuleKind::kRename, {ours}, {theirs}};
}

// The rules of a family, in the order in which saving applies them: the last
// that loading applies comes first.
constexpr std::array<Rule, 2> kQwen2Moe = {{
    {RuleKind::kExperts,
     {"mlp.experts.gate_up_proj"},
     {"mlp.experts.#.gate_proj.weight", "mlp.experts.#.up_proj.weight"}},
    {RuleKind::kExperts,
     {"mlp.experts.down_proj"},
     {"mlp.experts.#.down_proj.weight"}},
}};
constexpr std::array<Rule, 3> kErnie = {{
    kQwen2Moe[0],
    kQwen2Moe[1],
    Rename("mlp.gate.moe_statics.e_score_correction_bias",
           "mlp.moe_statics.e_score_correction_bias"),
}};
constexpr std::array<Rule, 4> kLaguna = {{
    kQwen2Moe[0],
    kQwen2Moe[1],
    Rename("mlp.gate.e_score_correction_bias",
           "mlp.experts.e_score_correction_bias"),
    Rename("mlp.shared_experts.", "mlp.shared_expert."),
}};
constexpr std::array<Rule, 3> kMimo = {{
    kQwen2Moe[0],
    kQwen2Moe[1],
    Rename("self_attn.sinks", "self_attn.attention_sink_bias"),
}};
constexpr std::array<Rule, 3> kQwen35Moe = {{
    kQwen2Moe[0],
    kQwen2Moe[1],
    Rename("^model.", "model.language_model."),
}};
constexpr std::array<Rule, 1> kQwen35 = {{
    Rename("^model.", "model.language_model."),
}};
constexpr std::array<Rule, 3> kMixtral = {{
    {RuleKind::kExperts,
     {".experts.gate_up_proj"},
     {".experts.#.w1.weight", ".experts.#.w3.weight"}},
    {RuleKind::kExperts, {".experts.down_proj"}, {".experts.#.w2.weight"}},
    Rename(".mlp.", ".block_sparse_moe."),
}};
constexpr std::array<Rule, 4> kPhimoe = {{
    kMixtral[0],
    kMixtral[1],
    Rename(".router.weight", ".gate.weight"),
    kMixtral[2],
}};
constexpr std::array<Rule, 2> kJamba = {{
    {RuleKind::kExperts,
     {"feed_forward.experts.gate_up_proj"},
     {"feed_forward.experts.#.gate_proj.weight",
      "feed_forward.experts.#.up_proj.weight"}},
    {RuleKind::kExperts,
     {"feed_forward.experts.down_proj"},
     {"feed_forward.experts.#.down_proj.weight"}},
}};
constexpr std::array<Rule, 2> kLfm2Moe = {{
    {RuleKind::kExperts,
     {"feed_forward.experts.gate_up_proj"},
     {"feed_forward.experts.#.w1.weight", "feed_forward.experts.#.w3.weight"}},
    {RuleKind::kExperts,
     {"feed_forward.experts.down_proj"},
     {"feed_forward.experts.#.w2.weight"}},
}};
constexpr std::array<Rule, 3> kNemotronH = {{
    {RuleKind::kExperts,
     {"mixer.experts.up_proj"},
     {"mixer.experts.#.up_proj.weight"}},
    {RuleKind::kExperts,
     {"mixer.experts.down_proj"},
     {"mixer.experts.#.down_proj.weight"}},
    Rename("^model.", "backbone."),
}};
constexpr std::array<Rule, 3> kGraniteMoe = {{
    Rename("block_sparse_moe.experts.gate_up_proj",
           "block_sparse_moe.input_linear.weight"),
    Rename("block_sparse_moe.experts.down_proj",
           "block_sparse_moe.output_linear.weight"),
    Rename("block_sparse_moe.router.weight",
           "block_sparse_moe.router.layer.weight"),
}};
constexpr std::array<Rule, 10> kNomicBert = {{
    {RuleKind::kFused,
     {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
     {"attn.Wqkv"}},
    Rename("post_mlp_layernorm", "norm2"),
    Rename("post_attention_layernorm", "norm1"),
    Rename("down_proj", "fc2"),
    Rename("gate_proj", "fc12"),
    Rename("up_proj", "fc11"),
    Rename("self_attn.o_proj", "attn.out_proj"),
    Rename("embeddings.LayerNorm", "emb_ln"),
    Rename("^layers.", "encoder.layers."),
    Rename("nomic_bert.layers.", "nomic_bert.encoder.layers."),
}};
constexpr std::array<Rule, 1> kGptNeox = {{Rename("^lm_head.", "embed_out.")}};
// The order matters: a norm's new name is an old name of another.
constexpr std::array<Rule, 34> kDeepseekV4 = {{
    {RuleKind::kExperts,
     {".experts.gate_up_proj"},
     {".experts.#.w1.weight", ".experts.#.w3.weight"}},
    {RuleKind::kExperts, {".experts.down_proj"}, {".experts.#.w2.weight"}},
    Rename(".shared_experts.up_proj.", ".shared_experts.w3."),
    Rename(".shared_experts.down_proj.", ".shared_experts.w2."),
    Rename(".shared_experts.gate_proj.", ".shared_experts.w1."),
    Rename(".gate.e_score_correction_bias", ".gate.bias"),
    Rename(".q_a_norm.", ".q_norm."),
    Rename(".o_b_proj.", ".wo_b."),
    Rename(".o_a_proj.", ".wo_a."),
    Rename(".gate_proj.", ".wgate."),
    Rename(".kv_proj.", ".wkv."),
    Rename(".self_attn.q_b_proj.", ".self_attn.wq_b."),
    Rename(".q_a_proj.", ".wq_a."),
    Rename(".position_bias", ".ape"),
    Rename(".kv_norm.", ".norm."),
    Rename(".compressor.indexer.q_b_proj.", ".indexer.wq_b."),
    Rename(".compressor.indexer.scorer.weights_proj.",
           ".indexer.weights_proj."),
    Rename(".sinks", ".attn_sink"),
    Rename(".ffn_hc.scale", ".hc_ffn_scale"),
    Rename(".ffn_hc.base", ".hc_ffn_base"),
    Rename(".ffn_hc.fn", ".hc_ffn_fn"),
    Rename(".attn_hc.scale", ".hc_attn_scale"),
    Rename(".attn_hc.base", ".hc_attn_base"),
    Rename(".attn_hc.fn", ".hc_attn_fn"),
    Rename(".post_attention_layernorm.", ".ffn_norm."),
    Rename(".input_layernorm.", ".attn_norm."),
    Rename("hc_head.hc_scale", "hc_head_scale"),
    Rename("hc_head.hc_base", "hc_head_base"),
    Rename("hc_head.hc_fn", "hc_head_fn"),
    Rename("^lm_head.weight", "head.weight"),
    Rename("embed_tokens.weight", "embed.weight"),
    Rename(".compressor.indexer.", ".indexer.compressor."),
    Rename(".mlp.", ".ffn."),
    Rename(".self_attn.", ".attn."),
}};

struct FamilyRules {
  std::string_view family;
  std::span<const Rule> rules;
};

constexpr std::array<FamilyRules, 28> kFamilies = {{
    {"deepseek_v2", kQwen2Moe},    {"deepseek_v3", kQwen2Moe},
    {"deepseek_v32", kQwen2Moe},   {"deepseek_v4", kDeepseekV4},
    {"dots1", kQwen2Moe},          {"ernie4_5_moe", kErnie},
    {"glm4_moe", kQwen2Moe},       {"glm4_moe_lite", kQwen2Moe},
    {"glm_moe_dsa", kQwen2Moe},    {"gpt_neox", kGptNeox},
    {"granitemoe", kGraniteMoe},   {"granite_moe_hybrid", kGraniteMoe},
    {"hunyuan_v1_moe", kQwen2Moe}, {"jamba", kJamba},
    {"laguna", kLaguna},           {"lfm2_moe", kLfm2Moe},
    {"mimo_v2_flash", kMimo},      {"minimax_m2", kMixtral},
    {"mixtral", kMixtral},         {"nemotron_h", kNemotronH},
    {"nomic_bert", kNomicBert},    {"olmoe", kQwen2Moe},
    {"phimoe", kPhimoe},           {"qwen2_moe", kQwen2Moe},
    {"qwen3_5", kQwen35},          {"qwen3_5_moe", kQwen35Moe},
    {"qwen3_moe", kQwen2Moe},      {"qwen3_next", kQwen2Moe},
}};

// Where `part` stands in the name; npos where it does not.
size_t Find(const std::string& name, std::string_view part) {
  if (part.empty()) return std::string::npos;
  if (!part.starts_with('^')) return name.find(part);
  part.remove_prefix(1);
  return name.starts_with(part) ? 0 : std::string::npos;
}
size_t LengthOf(std::string_view part) {
  return part.size() - (part.starts_with('^') ? 1 : 0);
}

std::string WithSlice(std::string_view theirs, int64_t slice) {
  std::string out(theirs);
  const size_t at = out.find('#');
  if (at != std::string::npos) out.replace(at, 1, std::to_string(slice));
  return out;
}

// The slices of one stacked tensor.
std::vector<StoredPiece> Unstack(const StoredPiece& piece, const Rule& rule,
                                 size_t at) {
  const auto parts = static_cast<int64_t>(
      std::ranges::count_if(rule.theirs, [](auto t) { return !t.empty(); }));
  std::vector<StoredPiece> out;
  std::vector<int64_t> shape(piece.shape.begin() + 1, piece.shape.end());
  shape[0] /= parts;
  for (int64_t slice = 0; slice < piece.shape[0]; ++slice) {
    for (const std::string_view theirs : rule.theirs) {
      if (theirs.empty()) continue;
      StoredPiece next{piece.name, shape};
      next.name.replace(at, LengthOf(rule.ours[0]), WithSlice(theirs, slice));
      out.push_back(std::move(next));
    }
  }
  return out;
}

std::vector<StoredPiece> Apply(const Rule& rule,
                               std::vector<StoredPiece> pieces) {
  std::vector<StoredPiece> out;
  for (StoredPiece& piece : pieces) {
    bool is_done = false;
    for (const std::string_view ours : rule.ours) {
      const size_t at = Find(piece.name, ours);
      if (at == std::string::npos) continue;
      if (rule.kind == RuleKind::kExperts) {
        // A rename may have made the same name of a tensor of one layer.
        if (piece.shape.size() < 2) break;
        for (StoredPiece& next : Unstack(piece, rule, at)) {
          out.push_back(std::move(next));
        }
        is_done = true;
        break;
      }
      piece.name.replace(at, LengthOf(ours), rule.theirs[0]);
      if (rule.kind == RuleKind::kFused && !piece.shape.empty()) {
        piece.shape[0] *= static_cast<int64_t>(rule.ours.size());
      }
      break;
    }
    if (!is_done) out.push_back(std::move(piece));
  }
  return out;
}

}  // namespace

std::vector<StoredPiece> StoredAs(std::string_view family,
                                  std::string_view class_name,
                                  std::string_view name,
                                  const std::vector<int64_t>& shape) {
  std::vector<StoredPiece> out = {{std::string(name), shape}};
  const auto found = std::ranges::find(kFamilies, family, &FamilyRules::family);
  if (found == kFamilies.end()) return out;
  // This rule is the class's alone: its other classes have no such head.
  if (family == "gpt_neox" && class_name != "GPTNeoXForCausalLM") return out;
  for (const Rule& rule : found->rules) out = Apply(rule, std::move(out));
  return out;
}

std::string LegacyName(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2>
      kOld = {{{"LayerNorm.weight", "LayerNorm.gamma"},
               {"LayerNorm.bias", "LayerNorm.beta"}}};
  for (const auto& [now, then] : kOld) {
    if (!name.ends_with(now)) continue;
    return std::string(name.substr(0, name.size() - now.size())) +
           std::string(then);
  }
  return "";
}

}  // namespace foretell
