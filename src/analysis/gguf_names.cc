#include "analysis/gguf_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/gguf_name_table.h"

namespace foretell {
namespace {

// The second norm comes behind attention and its own addition is before the
// feed-forward: constants.py lists ATTN_POST_NORM and no FFN_NORM, or both.
constexpr std::array<std::string_view, 9> kPostNorm = {
    "gemma2",  "gemma3",   "gpt_oss",    "glm4_moe", "olmo2",
    "exaone4", "seed_oss", "qwen3_next", "olmo3"};

constexpr std::array<std::string_view, 36> kFollowed = {
    "bert",    "bloom",     "cohere",   "cohere2", "deepseek_v2", "deepseek_v3",
    "dots1",   "ernie4_5",  "exaone4",  "falcon",  "gemma",       "gemma2",
    "gemma3",  "glm4",      "glm4_moe", "gpt2",    "gpt_neox",    "gpt_oss",
    "granite", "llama",     "mamba",    "mistral", "mixtral",     "nemotron",
    "olmo2",   "olmoe",     "phi",      "phi3",    "qwen2",       "qwen2_moe",
    "qwen3",   "qwen3_moe", "seed_oss", "smollm3", "stablelm",    "starcoder2"};

struct BlockName {
  std::string block;  // "blk.3."
  std::string rest;   // "self_attn.q_proj.weight"
};

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "model.layers.3.rest", "transformer.h.3.rest", "encoder.layer.3.rest": up
// to the first number.
std::optional<BlockName> InBlock(std::string_view name) {
  size_t start = 0;
  while (true) {
    const size_t dot = name.find('.', start);
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view part = name.substr(start, dot - start);
    if (start > 0 && IsNumber(part)) {
      return BlockName{"blk." + std::string(part) + ".",
                       std::string(name.substr(dot + 1))};
    }
    start = dot + 1;
  }
}

struct Split {
  std::string_view base;    // "self_attn.q_proj"
  std::string_view ending;  // "weight"
};
Split SplitEnding(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class Spelling {
 public:
  Spelling(std::string_view family, const std::vector<int64_t>& shape,
           const GgufShapes& shapes)
      : family_(family), shape_(shape), shapes_(shapes) {}

  std::vector<std::vector<StoredPiece>> OfBlock(const BlockName& name) const {
    const std::string& rest = name.rest;
    const auto at = [&](std::string_view theirs) {
      return name.block + std::string(theirs);
    };
    if (rest == "mlp.experts.gate_up_proj") return Halves(at, ".weight", 1);
    if (rest == "mlp.experts.gate_up_proj_bias") return Halves(at, ".bias", 1);
    if (rest == "mlp.experts.down_proj") {
      return One(at("ffn_down_exps.weight"), Transposed(family_ == "gpt_oss"));
    }
    if (rest == "mlp.experts.down_proj_bias") {
      return One(at("ffn_down_exps.bias"), shape_);
    }
    if (rest == "self_attn.sinks") return One(at("attn_sinks.weight"), shape_);
    if (rest == "mlp.gate.e_score_correction_bias") {
      return One(at("exp_probs_b.bias"), shape_);
    }
    if (rest == "mlp.shared_expert_gate.weight") {
      // [1, hidden] loses its first dim.
      return One(at("ffn_gate_inp_shexp.weight"), WithoutOnes());
    }
    if (rest == "mixer.A_log") return One(at("ssm_a"), shape_);
    if (rest == "mixer.D") return One(at("ssm_d"), shape_);
    if (rest == "mixer.conv1d.weight") {
      return One(at("ssm_conv1d.weight"), WithoutOnes());
    }
    if (rest == "mixer.conv1d.bias") return One(at("ssm_conv1d.bias"), shape_);
    if (rest == "self_attn.kv_b_proj.weight") return LatentValues(at);
    const auto [base, ending] = SplitEnding(rest);
    std::string_view theirs = GgufBlockPart(base);
    if (theirs.empty()) return {};
    if (base == "post_attention_layernorm" &&
        std::ranges::find(kPostNorm, family_) != kPostNorm.end()) {
      theirs = "post_attention_norm";
    }
    // GPT-2's linear layers are stored as [in, out].
    const bool turns =
        family_ == "gpt2" && ending == "weight" && shape_.size() == 2;
    return One(at(theirs) + "." + std::string(ending), Transposed(turns));
  }

  std::vector<std::vector<StoredPiece>> OfRoot(std::string_view name) const {
    const auto [base, ending] = SplitEnding(name);
    const std::string_view theirs =
        GgufTopPart(base.substr(base.rfind('.') + 1));
    if (theirs.empty()) return {};
    return One(std::string(theirs) + "." + std::string(ending), shape_);
  }

 private:
  static std::vector<std::vector<StoredPiece>> One(std::string name,
                                                   std::vector<int64_t> shape) {
    return {{{std::move(name), std::move(shape)}}};
  }

  std::vector<int64_t> Transposed(bool turns) const {
    std::vector<int64_t> out = shape_;
    if (turns && out.size() >= 2) {
      std::swap(out[out.size() - 1], out[out.size() - 2]);
    }
    return out;
  }
  std::vector<int64_t> WithoutOnes() const {
    std::vector<int64_t> out;
    for (const int64_t extent : shape_) {
      if (extent != 1) out.push_back(extent);
    }
    return out;
  }

  // The gate and the part beside it: one behind another in most families,
  // interleaved and transposed in gpt-oss.
  template <class At>
  std::vector<std::vector<StoredPiece>> Halves(const At& at,
                                               std::string_view ending,
                                               size_t dim) const {
    std::vector<int64_t> half = shape_;
    if (family_ == "gpt_oss" && half.size() == 3) {
      half = Transposed(true);
    }
    if (half.size() <= dim) return {};
    half[dim] /= 2;
    return {{{at("ffn_gate_exps") + std::string(ending), half},
             {at("ffn_up_exps") + std::string(ending), half}}};
  }

  template <class At>
  std::vector<std::vector<StoredPiece>> LatentValues(const At& at) const {
    std::vector<std::vector<StoredPiece>> out = {
        {{at("attn_kv_b.weight"), shape_}}};
    const auto [heads, nope, value] = shapes_;
    if (heads > 0 && nope > 0 && value > 0 && shape_.size() == 2) {
      const int64_t rank = shape_[1];
      out.push_back({{at("attn_k_b.weight"), {heads, rank, nope}},
                     {at("attn_v_b.weight"), {heads, value, rank}}});
    }
    return out;
  }

  std::string_view family_;
  const std::vector<int64_t>& shape_;
  const GgufShapes& shapes_;
};

}  // namespace

bool KnowsGguf(std::string_view family) {
  return std::ranges::find(kFollowed, family) != kFollowed.end();
}

bool IsGgufExtra(std::string_view name) {
  // Factors of scaled rotary positions, as tensors (llama.cpp, LLM_TENSOR_ROPE_
  // FREQS and ROPE_FACTORS_*).
  return name.find("rope_freqs.") != std::string_view::npos ||
         name.find("rope_factors_") != std::string_view::npos;
}

std::vector<std::vector<StoredPiece>> GgufSpellings(
    std::string_view family, std::string_view name,
    const std::vector<int64_t>& shape, const GgufShapes& shapes) {
  const Spelling spelling(family, shape, shapes);
  if (const auto block = InBlock(name)) return spelling.OfBlock(*block);
  return spelling.OfRoot(name);
}

}  // namespace foretell
