#include "analysis/quantization/gguf_recipe.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"

namespace foretell {
namespace {

// llama_ftype_get_default_type, and the names of tools/quantize.
constexpr auto kFileTypes = std::to_array<GgufFileType>({
    {"F32", "F32"},
    {"F16", "F16"},
    {"BF16", "BF16"},
    {"Q8_0", "Q8_0"},
    {"Q6_K", "Q6_K"},
    {"Q5_K_M", "Q5_K"},
    {"Q5_K_S", "Q5_K"},
    {"Q5_0", "Q5_0"},
    {"Q5_1", "Q5_1"},
    {"Q4_K_M", "Q4_K"},
    {"Q4_K_S", "Q4_K"},
    {"Q4_0", "Q4_0"},
    {"Q4_1", "Q4_1"},
    {"Q3_K_L", "Q3_K"},
    {"Q3_K_M", "Q3_K"},
    {"Q3_K_S", "Q3_K"},
    {"Q2_K", "Q2_K"},
    {"Q2_K_S", "Q2_K", true},
    {"IQ4_NL", "IQ4_NL"},
    {"IQ4_XS", "IQ4_XS"},
    {"IQ3_M", "IQ3_S"},
    {"IQ3_S", "IQ3_S"},
    {"IQ3_XS", "IQ3_S"},
    {"IQ3_XXS", "IQ3_XXS", true},
    {"IQ2_M", "IQ2_S", true},
    {"IQ2_S", "IQ2_XS", true},
    {"IQ2_XS", "IQ2_XS", true},
    {"IQ2_XXS", "IQ2_XXS", true},
    {"IQ1_M", "IQ1_M", true},
    {"IQ1_S", "IQ1_S", true},
    {"TQ1_0", "TQ1_0"},
    {"TQ2_0", "TQ2_0"},
    {"MXFP4_MOE", "MXFP4"},
});

enum class Category : uint8_t {
  kOutput,
  kTokenEmbedding,
  kQkv,
  kLatentB,
  kV,
  kK,
  kQ,
  kAttentionOutput,
  kUp,
  kGate,
  kDown,
  kOther,
};

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

Category CategoryOf(std::string_view name) {
  if (name == "output.weight") return Category::kOutput;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") {
    return Category::kTokenEmbedding;
  }
  if (Has(name, "attn_qkv.weight")) return Category::kQkv;
  if (Has(name, "attn_kv_b.weight")) return Category::kLatentB;
  if (Has(name, "attn_v.weight")) return Category::kV;
  if (Has(name, "attn_k.weight")) return Category::kK;
  if (Has(name, "attn_q.weight")) return Category::kQ;
  if (Has(name, "attn_output.weight")) return Category::kAttentionOutput;
  if (Has(name, "ffn_up")) return Category::kUp;
  if (Has(name, "ffn_gate")) return Category::kGate;
  if (Has(name, "ffn_down")) return Category::kDown;
  return Category::kOther;
}

bool IsValueLike(Category category) {
  return category == Category::kV || category == Category::kQkv ||
         category == Category::kLatentB;
}

bool AllowsQuantization(const GgufTensor& tensor) {
  if (tensor.dims < 2 || tensor.stays_float32) return false;
  static constexpr std::array<std::string_view, 17> kKept = {
      "_norm.weight",
      "ffn_gate_inp.weight",
      "altup",
      "laurel",
      "per_layer_model_proj",
      "ssm_conv1d",
      "shortconv.conv.weight",
      "indexer.k_proj.weight",
      "indexer.q_proj.weight",
      "time_mix_first",
      "time_mix_w",
      "time_mix_v",
      "time_mix_a",
      "time_mix_g",
      "time_mix_decay_w",
      "time_mix_lerp_fused",
      "attn_rel_b.weight"};
  return tensor.name.ends_with("weight") &&
         std::ranges::none_of(kKept, [&tensor](std::string_view part) {
           return Has(tensor.name, part);
         });
}

// LLM_TYPE_70B: src/models/{llama,qwen2,deci,olmo,jais2}.cpp.
bool Is70B(const GgufFacts& facts) {
  const std::string_view name = facts.class_name;
  const bool llama = name.starts_with("LlamaFor") ||
                     name.starts_with("MistralFor") ||
                     name.starts_with("MixtralFor");
  if (llama) {
    return facts.layers == 80 && facts.heads != facts.kv_heads &&
           facts.experts != 8;
  }
  if (name.starts_with("Qwen2For") || name.starts_with("OlmoFor") ||
      name.starts_with("DeciLM")) {
    return facts.layers == 80;
  }
  return name.starts_with("Jais2") && facts.layers == 68;
}

bool UsesMoreBits(int64_t layer, int64_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 ||
         (layer - layers / 8) % 3 == 2;
}

class Chooser {
 public:
  Chooser(const GgufLayout& layout, const GgufFacts& facts,
          const GgufRecipe& recipe)
      : facts_(facts),
        recipe_(recipe),
        ftype_(recipe.file_type->name),
        grouped_(facts.kv_heads == 0 ? 0 : facts.heads / facts.kv_heads),
        is_falcon_(facts.class_name.starts_with("FalconFor")) {
    for (const GgufTensor& tensor : layout.tensors) {
      const Category category = CategoryOf(tensor.name);
      if (IsValueLike(category)) ++values_;
      if (category == Category::kOutput) is_tied_ = false;
    }
  }

  const GgmlType* Choose(const GgufTensor& tensor) {
    if (tensor.stays_float32) return Named("F32");
    if (tensor.stays_mxfp4) return Named("MXFP4");
    if (!AllowsQuantization(tensor)) return Named(recipe_.base_type);
    std::string_view type = recipe_.file_type->default_type;
    if (type == "F32" || type == "F16" || type == "BF16") return Named(type);
    return Fallback(tensor, Mixed(tensor, type));
  }

 private:
  static const GgmlType* Named(std::string_view name) {
    const GgmlType* type = GgmlTypeNamed(name);
    FORETELL_CHECK(type != nullptr, "no ggml type " + std::string(name));
    return type;
  }

  bool Is(std::initializer_list<std::string_view> names) const {
    return std::ranges::find(names, ftype_) != names.end();
  }
  // The low-bit types that share one branch.
  bool IsLow() const {
    return Is({"IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M", "IQ1_S", "IQ1_M"});
  }

  static const GgmlType* Fallback(const GgufTensor& tensor,
                                  std::string_view name) {
    const GgmlType* type = Named(name);
    if (tensor.columns % type->block == 0) return type;
    std::string_view other = name;
    if (name.starts_with("IQ") && name != "IQ4_NL") {
      other = "IQ4_NL";
    } else if (name == "Q2_K" || name == "Q3_K" || name.starts_with("TQ")) {
      other = "Q4_0";
    } else if (name == "Q4_K") {
      other = "Q5_0";
    } else if (name == "Q5_K") {
      other = "Q5_1";
    } else if (name == "Q6_K") {
      other = "Q8_0";
    }
    const GgmlType* fallback = Named(other);
    return tensor.columns % fallback->block == 0 ? fallback : Named("F16");
  }

  std::string_view Mixed(const GgufTensor& tensor, std::string_view type) {
    const Category category = CategoryOf(tensor.name);
    if (category == Category::kOutput ||
        (is_tied_ && category == Category::kTokenEmbedding)) {
      return OutputType(tensor, type);
    }
    if (ftype_ == "MXFP4_MOE") return tensor.depth > 1 ? "MXFP4" : "Q8_0";
    if (category == Category::kTokenEmbedding) return EmbeddingType(type);
    if (IsLow()) return LowType(category, type);
    if (IsValueLike(category)) return ValueType(type);
    switch (category) {
      case Category::kK:
        if (facts_.experts == 8) return "Q8_0";
        [[fallthrough]];
      case Category::kQ:
        if (ftype_ == "IQ3_XS") return "IQ3_XXS";
        return ftype_ == "IQ3_XXS" ? "IQ2_S" : type;
      case Category::kDown:
        return DownType(tensor, type);
      case Category::kAttentionOutput:
        return AttentionOutputType(type);
      case Category::kUp:
        return MiddleType(tensor, ups_, type);
      case Category::kGate:
        return MiddleType(tensor, gates_, type);
      default:
        return type;
    }
  }

  std::string_view OutputType(const GgufTensor& tensor,
                              std::string_view type) const {
    if (ftype_ == "MXFP4_MOE") return "Q8_0";
    if (is_falcon_ || tensor.columns % Named(type)->block != 0) return "Q8_0";
    if (IsLow() || ftype_ == "IQ3_XXS") return "Q5_K";
    return type == "Q8_0" ? type : "Q6_K";
  }

  std::string_view EmbeddingType(std::string_view type) const {
    if (Is({"IQ2_XXS", "IQ2_XS", "IQ1_S", "IQ1_M"})) return "Q2_K";
    if (Is({"IQ2_S", "IQ2_M", "IQ3_XXS"})) return "IQ3_S";
    return Is({"TQ1_0", "TQ2_0"}) ? "Q4_K" : type;
  }

  std::string_view LowType(Category category, std::string_view type) {
    const std::string_view better = Is({"IQ2_S", "IQ2_M"}) ? "IQ3_S" : "Q2_K";
    if (IsValueLike(category)) {
      ++value_;
      return grouped_ >= 4 || facts_.experts >= 4 ? "Q4_K" : better;
    }
    if (facts_.experts == 8 && category == Category::kK) return "Q4_K";
    if (category == Category::kDown) {
      return downs_++ < facts_.layers / 8 ? better : type;
    }
    if (category == Category::kAttentionOutput) {
      if (facts_.experts == 8) return "Q5_K";
      if (Is({"IQ1_S", "IQ1_M"})) return "IQ2_XXS";
      if (Is({"IQ2_S", "IQ2_M"})) return "IQ3_S";
    }
    return type;
  }

  std::string_view ValueType(std::string_view type) {
    const int64_t at = value_++;
    if (ftype_ == "Q2_K") {
      type = grouped_ >= 4 ? "Q4_K" : "Q3_K";
    } else if (ftype_ == "Q2_K_S" && grouped_ >= 4) {
      type = "Q4_K";
    } else if (ftype_ == "IQ3_XXS") {
      type = grouped_ >= 4          ? "Q4_K"
             : !recipe_.has_imatrix ? "IQ3_S"
                                    : "IQ3_XXS";
    } else if ((Is({"IQ3_XS", "IQ3_S"}) && grouped_ >= 4) ||
               ftype_ == "IQ3_M") {
      type = "Q4_K";
    } else if (ftype_ == "Q3_K_M") {
      type = at < 2 ? "Q5_K" : "Q4_K";
    } else if (ftype_ == "Q3_K_L" ||
               (Is({"IQ4_NL", "IQ4_XS"}) && grouped_ >= 4)) {
      type = "Q5_K";
    } else if (Is({"Q4_K_M", "Q5_K_M"}) && UsesMoreBits(at, values_)) {
      type = "Q6_K";
    } else if (ftype_ == "Q4_K_S" && at < 4) {
      type = "Q5_K";
    }
    if (Is70B(facts_) && (type == "Q3_K" || type == "Q4_K")) type = "Q5_K";
    return facts_.experts == 8 ? "Q8_0" : type;
  }

  // Of a model of experts the block's number counts, else how many came before.
  int64_t LayerOf(const GgufTensor& tensor, int64_t& counter) const {
    const int64_t before = counter++;
    return facts_.experts > 1 ? tensor.block : before;
  }

  std::string_view DownType(const GgufTensor& tensor, std::string_view type) {
    const int64_t layers = facts_.layers;
    const int64_t layer = LayerOf(tensor, downs_);
    const bool early = layer < layers / 8;
    const bool more = UsesMoreBits(layer, layers);
    if (ftype_ == "Q2_K") return "Q3_K";
    if (ftype_ == "Q2_K_S") return early ? "Q4_K" : type;
    if (ftype_ == "IQ3_XXS" && !recipe_.has_imatrix) {
      return early ? "Q4_K" : "Q3_K";
    }
    if (ftype_ == "Q3_K_M") {
      if (layer < layers / 16) return "Q5_K";
      return !is_falcon_ || more ? "Q4_K" : "Q3_K";
    }
    if (ftype_ == "IQ3_M") {
      return early || (facts_.experts == 8 && more) ? "Q4_K" : type;
    }
    if (ftype_ == "Q3_K_L") return is_falcon_ ? "Q4_K" : "Q5_K";
    if (ftype_ == "Q4_K_M") {
      if (!is_falcon_) return more ? "Q6_K" : type;
      return layer < layers / 16 ? "Q6_K" : more ? "Q5_K" : "Q4_K";
    }
    if (early && Is({"IQ4_NL", "IQ4_XS"}) && !recipe_.has_imatrix) {
      return "Q5_K";
    }
    if (ftype_ == "Q5_K_M") return more ? "Q6_K" : type;
    if (ftype_ == "Q4_K_S") return !is_falcon_ && early ? "Q5_K" : type;
    if (recipe_.has_imatrix && early && Is({"Q4_0", "Q5_0"})) {
      return ftype_ == "Q4_0" ? "Q4_1" : "Q5_1";
    }
    return type;
  }

  std::string_view AttentionOutputType(std::string_view type) const {
    if (is_falcon_) return ftype_ == "Q3_K_L" ? "Q4_K" : type;
    if (facts_.experts == 8) {
      return Is({"Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL",
                 "Q4_K_S", "Q4_K_M", "IQ3_S", "IQ3_M", "IQ4_XS"})
                 ? "Q5_K"
                 : type;
    }
    if (ftype_ == "Q2_K") return "Q3_K";
    if (ftype_ == "IQ3_XXS") return "IQ3_S";
    if (Is({"Q3_K_M", "IQ3_M"})) return "Q4_K";
    return ftype_ == "Q3_K_L" ? "Q5_K" : type;
  }

  std::string_view MiddleType(const GgufTensor& tensor, int64_t& counter,
                              std::string_view type) const {
    const int64_t layers = facts_.layers;
    const int64_t layer = LayerOf(tensor, counter);
    const bool middle = layer >= layers / 8 && layer < 7 * layers / 8;
    return ftype_ == "IQ3_XS" && middle ? "IQ3_XXS" : type;
  }

  const GgufFacts& facts_;
  const GgufRecipe& recipe_;
  std::string_view ftype_;
  int64_t grouped_;  // query heads to a key's
  bool is_falcon_;
  bool is_tied_ = true;
  int64_t values_ = 0;  // tensors like attention's values
  int64_t value_ = 0;   // of them, seen so far
  int64_t downs_ = 0;
  int64_t gates_ = 0;
  int64_t ups_ = 0;
};

}  // namespace

const GgufFileType* FindGgufFileType(std::string_view name) {
  const auto upper = [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  };
  const auto row =
      std::ranges::find_if(kFileTypes, [&](const GgufFileType& type) {
        return std::ranges::equal(type.name, name, {}, {}, upper);
      });
  return row == kFileTypes.end() ? nullptr : &*row;
}

std::vector<std::string_view> GgufFileTypeNames() {
  std::vector<std::string_view> out;
  for (const GgufFileType& type : kFileTypes) out.push_back(type.name);
  return out;
}

std::vector<const GgmlType*> GgufTypesOf(const GgufLayout& layout,
                                         const GgufFacts& facts,
                                         const GgufRecipe& recipe) {
  FORETELL_CHECK(recipe.file_type != nullptr, "a recipe without a file type");
  Chooser chooser(layout, facts, recipe);
  std::vector<const GgmlType*> out;
  out.reserve(layout.tensors.size());
  for (const GgufTensor& tensor : layout.tensors) {
    out.push_back(chooser.Choose(tensor));
  }
  return out;
}

}  // namespace foretell
