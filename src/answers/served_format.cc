#include "answers/served_format.h"

#include <cctype>
#include <cstdlib>

#include "base/lower_case.h"
#include "engines/vllm/served_config.h"

namespace foretell {
namespace {

// Scales included: of groups of 128 (AWQ, GPTQ), of 16 (nvfp4, a byte each),
// of 32 (mxfp4, a byte each); of int8, one a column.
constexpr double kFourBits = 0.53;
constexpr double kNvfp4 = 0.5 + 1.0 / 16;
constexpr double kMxfp4 = 0.5 + 1.0 / 32;
constexpr double kEightBits = 1.02;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string TextOf(const ConfigValue* value) {
  return value == nullptr ? std::string()
                          : std::string(value->AsString().value_or(""));
}

// What the checkpoint says of its own weights, in the words used here.
std::string StatedBy(const ModelConfig& config) {
  const vllm::ServedConfig served(config);
  const ConfigValue* quant = served.quantization();
  if (quant == nullptr) return "";
  std::string out = Lower(TextOf(quant->Find("quant_method")) + " " +
                          TextOf(quant->Find("quant_algo")) + " " +
                          TextOf(quant->Find("format")));
  if (const ConfigValue* bits = quant->Find("bits")) {
    const auto width = bits->AsInteger().value_or(0);
    if (width > 0) out += " int" + std::to_string(width);
  }
  if (const ConfigValue* groups = quant->Find("config_groups");
      groups != nullptr && groups->is_object() && !groups->members().empty()) {
    const ConfigValue* weights =
        groups->members().front().second.Find("weights");
    const ConfigValue* width =
        weights == nullptr ? nullptr : weights->Find("num_bits");
    const auto bits = width == nullptr ? 0 : width->AsInteger().value_or(0);
    const bool is_float =
        weights != nullptr && TextOf(weights->Find("type")) == "float";
    if (bits == 4) out += is_float ? " nvfp4" : " int4";
    if (bits == 8) out += is_float ? " fp8" : " int8";
  }
  return out;
}

// Whether what is quantized leaves attention as it is.
bool LeavesAttention(const ModelConfig& config) {
  const vllm::ServedConfig served(config);
  const ConfigValue* quant = served.quantization();
  if (quant == nullptr) return false;
  for (const std::string_view key : {"ignore", "modules_to_not_convert",
                                     "exclude_modules", "ignored_layers"}) {
    const ConfigValue* list = quant->Find(key);
    if (list == nullptr || !list->is_array()) continue;
    for (const ConfigValue& item : list->items()) {
      if (Has(TextOf(&item), "attn")) return true;
    }
  }
  return false;
}

StoredAs All(WeightKind kind, StoredPart part, std::string text) {
  return {kind, part, part, part, std::move(text)};
}

StoredAs ExpertsOnly(WeightKind kind, StoredPart part, std::string text) {
  return {kind, {}, {}, part, std::move(text)};
}

// "EXL2 4.0bpw": bits of a weight.
std::optional<double> BitsOf(const std::string& words) {
  const size_t unit = words.find("bpw");
  if (unit == std::string::npos) return std::nullopt;
  size_t begin = unit;
  while (begin > 0 &&
         (std::isdigit(static_cast<unsigned char>(words[begin - 1])) != 0 ||
          words[begin - 1] == '.')) {
    --begin;
  }
  const double bits = std::strtod(words.c_str() + begin, nullptr);
  return bits > 0 && bits <= 16 ? std::optional(bits) : std::nullopt;
}

}  // namespace

StoredAs StoredAsOf(const StoredQuestion& in) {
  const std::string own = in.config == nullptr ? "" : StatedBy(*in.config);
  std::string words = Lower(in.precision);
  const bool is_own_mxfp4 = Has(own, "mxfp4");
  const bool is_said = !words.empty() && words != "auto";
  if (!is_said) words = own;
  const std::string_view why =
      is_said ? "as was said" : "as the checkpoint says";
  const auto text = [&why](std::string_view what) {
    return std::string(what) + ", " + std::string(why);
  };
  const bool has_fp8 = in.cards == "hopper" || in.cards == "hopper_narrow" ||
                       in.cards == "blackwell" || in.cards == "bw_small" ||
                       in.cards == "ada" || in.cards == "cdna3";
  const StoredPart four_experts = {in.cards == "blackwell"
                                       ? std::string_view("fp4")
                                       : std::string_view("bf16"),
                                   kMxfp4};
  const auto has = [&words](std::string_view part) { return Has(words, part); };
  if (has("mxfp4") || (is_own_mxfp4 && !has("fp32"))) {
    return ExpertsOnly(WeightKind::kExperts, four_experts,
                       "mxfp4 experts, the rest in 16 bits");
  }
  if (has("int8 weights")) {
    return All(WeightKind::kOnly8, {"bf16", 1}, text("8-bit weights"));
  }
  if (words.empty() || words == "none" || has("bf16") || has("bfloat16") ||
      has("fp16") || has("float16")) {
    return All(WeightKind::kPlain, {},
               is_said ? "16 bits, as was said" : "16 bits");
  }
  if (has("float32") || has("fp32")) {
    return All(WeightKind::kPlain, {"fp32", 4}, text("32 bits"));
  }
  if (const auto bits = BitsOf(words)) {
    return All(WeightKind::kOnly4, {"bf16", *bits / 8},
               text("weights in few bits"));
  }
  if (has("fp4")) {
    const StoredPart part = {"fp4", kNvfp4};
    if (!in.has_experts) return All(WeightKind::kFour, part, text("nvfp4"));
    // Published checkpoints leave attention of such models in 16 bits.
    return {WeightKind::kFour, {}, part, part, text("nvfp4, attention aside")};
  }
  if (has("fp8")) {
    return All(
        WeightKind::kEight,
        {has_fp8 ? std::string_view("fp8") : std::string_view("bf16"), 1},
        text("fp8"));
  }
  if (has("int8") || has("w8a8")) {
    if (has("wo") || has("gptq")) {
      return All(WeightKind::kOnly8, {"bf16", kEightBits},
                 text("8-bit weights"));
    }
    return All(WeightKind::kEight, {"int8", 1}, text("int8"));
  }
  for (const std::string_view four :
       {"int4", "awq", "gptq", "nf4", "q4", "w4a16", "bitsandbytes", "bnb",
        "exl2", "auto_round", "auto-round"}) {
    if (!has(four)) continue;
    const StoredPart part = {"bf16", kFourBits};
    if (in.has_experts && in.config != nullptr && LeavesAttention(*in.config)) {
      return ExpertsOnly(WeightKind::kOnly4, part, text("4-bit experts"));
    }
    return All(WeightKind::kOnly4, part, text("4-bit weights"));
  }
  return All(WeightKind::kPlain, {}, "16 bits");
}

double CacheBytesOf(std::string_view cache, std::string_view engine,
                    WeightKind kind) {
  if (!cache.empty() && cache != "auto") return Has(cache, "8") ? 1 : 2;
  const bool is_eight = kind == WeightKind::kEight || kind == WeightKind::kFour;
  // The checkpoints that TensorRT-LLM and SGLang serve in eight or four bits
  // state an fp8 cache; vLLM's "auto" keeps the model's dtype.
  return is_eight && (engine == "trtllm_pt" || engine == "sglang") ? 1 : 2;
}

}  // namespace foretell
