#include "answers/score/training_litgpt.h"

#include <algorithm>
#include <array>

#include "answers/score/score_row.h"

namespace foretell {
namespace {

constexpr double kHalf = 2;   // bytes of bfloat16
constexpr double kFloat = 4;  // of float32
constexpr double kMask = 1;   // of a boolean

// Widths of a block, in elements of each token.
struct BlockSizes {
  double layers = 0;
  double hidden = 0;
  double queries = 0;  // heads times their size
  double keys = 0;
  double heads = 0;
  double wide = 0;  // the gated MLP's, or the plain one's
  double vocabulary = 0;
  bool root_norms = false;  // RMSNorm, in float32
  bool gated = false;
  bool parallel = false;  // attention and MLP beside each other, one norm
  bool capped = false;    // attention's scores: no fused kernel
  bool norms_after = false;
  bool ties_head = false;
};

double Number(const ConfigValue& config, std::string_view key, double other) {
  const ConfigValue* value = FieldAt(config, key);
  return value == nullptr ? other : value->AsReal().value_or(other);
}

BlockSizes SizesOf(const ConfigValue& config) {
  BlockSizes out;
  const ConfigValue* type = FieldAt(config, "model_type");
  const std::string_view name =
      type == nullptr ? "" : type->AsString().value_or("");
  const auto is = [&](std::string_view one) { return name == one; };
  out.layers = Number(config, "num_hidden_layers", 0);
  out.hidden = Number(config, "hidden_size", 0);
  out.heads = Number(config, "num_attention_heads", 0);
  const double groups = Number(config, "num_key_value_heads", out.heads);
  const double head_size =
      Number(config, "head_dim", out.hidden / std::max(1.0, out.heads));
  out.queries = out.heads * head_size;
  out.keys = groups * head_size;
  out.wide = Number(config, "intermediate_size", 4 * out.hidden);
  out.vocabulary = Number(config, "vocab_size", 0);
  out.root_norms = FieldAt(config, "rms_norm_eps") != nullptr;
  out.gated = out.root_norms;
  out.parallel = is("phi") || is("gpt_neox") || is("falcon");
  out.capped = Number(config, "attn_logit_softcapping", 0) > 0;
  out.norms_after = is("gemma2");
  const ConfigValue* ties = FieldAt(config, "tie_word_embeddings");
  const bool by_class = is("gemma") || is("gemma2");
  out.ties_head =
      ties == nullptr ? by_class : ties->AsBool().value_or(by_class);
  return out;
}

// Which products have adapters.
struct Adapted {
  bool queries = false;
  bool keys = false;
  bool values = false;
  bool projection = false;
  bool mlp = false;

  bool attention() const { return queries || keys || values; }

  // What is put at its place in the fused product's width, which it is not
  // where all of it is adapted.
  double OfFused(const BlockSizes& of) const {
    if (queries && keys && values) return 0;
    return (queries ? of.queries : 0) + (keys ? of.keys : 0) +
           (values ? of.keys : 0);
  }
};

Adapted AdaptedBy(const TrainingJob& job, LitgptMethod method) {
  Adapted out;
  if (!job.step.lora || method != LitgptMethod::kLora) return out;
  const auto has = [&](std::string_view target) {
    return std::ranges::find(job.step.lora->targets, target) !=
           job.step.lora->targets.end();
  };
  out.queries = has("q_proj");
  out.keys = has("k_proj");
  out.values = has("v_proj");
  out.projection = has("o_proj");
  out.mlp = has("up_proj") || has("fc1");
  return out;
}

// What attention keeps between its products, of each token.
double AttentionKeeps(const BlockSizes& of, double sequence) {
  const bool repeats = of.keys != of.queries;
  // Rotated queries; keys, and values, written out for each query's head, or
  // values as a view of the fused product.
  double out = 2 * kHalf * of.queries;
  out += repeats ? kHalf * of.queries : kHalf * (of.queries + 2 * of.keys);
  if (!of.capped) return out + kHalf * of.queries + kFloat * of.heads;
  // tanh, float32 softmax, its half-precision copy
  return out + (kHalf + kFloat + kHalf) * of.heads * sequence;
}

// What a dropped-out input keeps.
double DroppedKeeps(double width) { return (kHalf + kMask) * width; }

double BlockKeeps(const BlockSizes& of, const Adapted& adapted,
                  LitgptMethod method, double sequence) {
  const bool norms_train = method == LitgptMethod::kAdapterV2;
  // Its input in float32, and what a weight that trains is multiplied with;
  // else the input as it came.
  double norm = of.root_norms ? kFloat * of.hidden : kHalf * of.hidden;
  if (of.root_norms && norms_train) norm *= 2;
  const double norms = of.parallel ? 1 : of.norms_after ? 4 : 2;
  double out = norms * norm + AttentionKeeps(of, sequence);
  out += (of.gated ? 3 : 1) * kHalf * of.wide;
  if (adapted.attention()) out += DroppedKeeps(of.hidden);
  out += kHalf * adapted.OfFused(of);
  if (adapted.projection) out += DroppedKeeps(of.queries);
  if (adapted.mlp) {
    out += (of.gated ? 2 : 1) * DroppedKeeps(of.hidden);
    out += DroppedKeeps(of.wide);
  }
  if (method == LitgptMethod::kAdapterV2) {
    // Each product with its bias, which the scale that trains is multiplied by.
    out += kHalf * (of.queries + 2 * of.keys + 2 * of.hidden);
    out += (of.gated ? 2 : 1) * kHalf * of.wide;
  }
  // The prompt's attention, which its gate is multiplied with.
  if (method != LitgptMethod::kLora) out += kHalf * of.queries;
  return out;
}

// Inputs of packed products, which live as long as the loss.
double PackedInputs(const BlockSizes& of) {
  double out = (of.parallel ? 1 : 2) * kHalf * of.hidden;
  out += kHalf * of.queries + kHalf * of.wide;
  return out;
}

bool IsPacked(const TrainingJob& job) {
  return job.weights != WeightFormat::kNone;
}

}  // namespace

LitgptMethod LitgptMethodOf(std::string_view task) {
  if (task.find("adapter_v2") != std::string_view::npos) {
    return LitgptMethod::kAdapterV2;
  }
  return task.find("adapter") != std::string_view::npos ? LitgptMethod::kAdapter
                                                        : LitgptMethod::kLora;
}

double LitgptMadeAnew(const ConfigValue& config, const TrainingJob& job,
                      LitgptMethod method, bool longest_first) {
  const BlockSizes of = SizesOf(config);
  const Adapted adapted = AdaptedBy(job, method);
  const auto sequence = static_cast<double>(job.step.sequence);
  const double tokens = sequence * static_cast<double>(job.step.batch);
  // Before the first prompt nothing asks for gradients.
  constexpr double kBeforePrompts = 2;
  const double layers = std::max(
      0.0, of.layers - (method == LitgptMethod::kAdapter ? kBeforePrompts : 0));
  double out = layers * BlockKeeps(of, adapted, method, sequence);
  // The last norm; the embeddings do not train, so the first keeps nothing.
  const bool norms_train = method == LitgptMethod::kAdapterV2;
  if (norms_train) out += 2 * kFloat * of.hidden;
  if (norms_train) out += kHalf * of.vocabulary;  // before the head's scale
  // Half-precision logits by chunks of 128 positions, made float32 by the
  // fabric while those of the micro-step before are held; or these, their
  // logarithms and a chunk's gradients in both dtypes.
  constexpr double kChunk = 128;
  const double chunk = std::min(1.0, kChunk / std::max(1.0, sequence));
  const double before = longest_first ? 0 : kFloat;
  const double forward = (before + kHalf + kFloat) * of.vocabulary;
  const double backward =
      (2 * kFloat + (kFloat + kHalf) * chunk) * of.vocabulary;
  if (!IsPacked(job)) return tokens * (out + std::max(forward, backward));
  const double inputs = layers * PackedInputs(of);
  // What shares a storage with what is kept anyway: a fused kernel's result.
  const double shared = of.capped ? 0 : layers * kHalf * of.queries;
  const bool adapters_only = method != LitgptMethod::kLora;
  out += inputs - shared + (adapters_only ? 0 : kHalf * of.hidden);
  if (!longest_first) out += inputs;
  const double unpacked = kHalf * of.vocabulary * of.hidden;
  return tokens * (out + backward) + unpacked;
}

double LitgptWeightsBeside(const ConfigValue& config, const TrainingJob& job) {
  const BlockSizes of = SizesOf(config);
  const double head = of.vocabulary * of.hidden;
  // Scales of 64 weights each in float32, or in bytes with scales of their own.
  constexpr double kBlock = 64;
  constexpr double kBlocks = 256;
  const double scale = job.double_quant ? 1 + kFloat / kBlocks : kFloat;
  const double each = IsPacked(job) ? 0.5 + scale / kBlock : kHalf;
  if (of.ties_head) return head * each;
  // The library leaves its head as it is.
  return IsPacked(job) ? head * (each - kHalf) : 0;
}

}  // namespace foretell
