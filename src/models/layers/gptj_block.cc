#include "models/layers/gptj_block.h"

#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// torch.repeat_interleave(x[:, :, None, :], 2, 3)
Tensor EachTwice(const Tensor& x) {
  const Tensor spread = Unsqueeze(Unsqueeze(x, 2), 4);
  const int64_t batch = x.size(0);
  const int64_t length = x.size(1);
  const int64_t dims = x.size(2);
  return View(CloneContiguous(Expand(spread, {batch, length, 1, dims, 2})),
              {batch, length, 1, 2 * dims});
}

// Each pair of neighbours (a, b) becomes (-b, a).
Tensor RotateEveryTwo(const Tensor& x) {
  const Tensor even = Slice(x, 3, 0, kToTheEnd, 2);
  const Tensor odd = Slice(x, 3, 1, kToTheEnd, 2);
  const auto stack = [&] {
    const Tensor parts[] = {Neg(odd), even};
    return Stack(parts, -1);
  };
  const Tensor pairs = stack();
  return View(pairs, {x.size(0), x.size(1), x.size(2), 2 * even.size(3)});
}

// x [b, s, h, d] turned by sines and cosines [b, s, d / 2].
Tensor TurnPairs(const Tensor& x, const Tensor& sines, const Tensor& cosines) {
  const Tensor sin = EachTwice(sines);
  const Tensor cos = EachTwice(cosines);
  const Tensor straight = Mul(x, cos);
  return Add(straight, Mul(RotateEveryTwo(x), sin));
}

std::optional<Linear> ProjectionOf(const Module& at, std::string_view name,
                                   int64_t in, int64_t out, bool is_there) {
  if (!is_there) return std::nullopt;
  return Linear(at.Child(name, RegionKind::kLinear), in, out, false);
}

}  // namespace

GptjAttention::GptjAttention(const Module& at, const GptjConfig& settings)
    : module(at),
      config(settings),
      attn_dropout(at.Child("attn_dropout"), config.attention_dropout),
      resid_dropout(at.Child("resid_dropout"), config.residual_dropout),
      qkv_proj(ProjectionOf(at, "qkv_proj", config.heads.hidden,
                            3 * config.heads.hidden, config.is_fused)),
      k_proj(ProjectionOf(at, "k_proj", config.heads.hidden,
                          config.heads.hidden, !config.is_fused)),
      v_proj(ProjectionOf(at, "v_proj", config.heads.hidden,
                          config.heads.hidden, !config.is_fused)),
      q_proj(ProjectionOf(at, "q_proj", config.heads.hidden,
                          config.heads.hidden, !config.is_fused)),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.heads.hidden,
               config.heads.hidden, false) {
  // Without a part to turn the table is as wide as the model.
  const int64_t dims =
      config.rotary_dim > 0 ? config.rotary_dim : config.heads.hidden;
  at.Buffer("embed_positions", {config.positions, 2 * ((dims + 1) / 2)},
            DType::kFloat32, false);
  embed_positions = at.builder().graph().buffers.back().value;
}

GptjAttention::Heads GptjAttention::Project(const Tensor& hidden) const {
  Heads out;
  out.q = q_proj->Forward(hidden);
  out.k = k_proj->Forward(hidden);
  out.v = v_proj->Forward(hidden);
  const Shape shape = {hidden.size(0), hidden.size(1), config.heads.heads,
                       config.heads.head_dim};
  out.q = View(out.q, shape);
  out.k = View(out.k, shape);
  out.v = Permute(View(out.v, shape), {0, 2, 1, 3});
  return out;
}

GptjAttention::Heads GptjAttention::ProjectFused(const Tensor& hidden) const {
  // As many parts as the cores that the first model was trained on.
  constexpr int64_t kParts = 4;
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t dim = config.heads.head_dim;
  const int64_t heads = config.heads.heads;
  Heads out;
  out.fused = qkv_proj->Forward(hidden);
  out.fused_parts = Reshape(out.fused, {batch, length, kParts, -1});
  const int64_t local = dim * heads / kParts;
  if (local == 0 || heads % kParts != 0) {
    module.builder().Fail("heads that do not part into four");
    return out;
  }
  std::vector<Tensor> parts = Split(out.fused_parts, local, -1);
  if (parts.size() != 3) {
    module.builder().Fail("heads that do not part into four");
    return out;
  }
  const auto split = [&](const Tensor& x) {
    const Tensor apart =
        Reshape(x, {batch, length, kParts, heads / kParts, dim});
    return Reshape(apart, {batch, length, -1, dim});
  };
  out.q = split(parts[0]);
  out.k = split(parts[2]);
  out.v = split(parts[1]);
  out.v = Permute(out.v, {0, 2, 1, 3});
  return out;
}

Tensor GptjAttention::Forward(const Tensor& hidden, const Tensor& mask,
                              const Tensor& position_ids,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  Heads heads = config.is_fused ? ProjectFused(hidden) : Project(hidden);
  if (!builder.failure().empty()) return hidden;
  Tensor table;
  Tensor places;
  Tensor angles;
  if (config.is_fused) {
    const Tensor rows[] = {position_ids};
    angles = Index(builder.Read(embed_positions), rows);
  } else {
    table = Repeat(builder.Read(embed_positions), {position_ids.size(0), 1, 1});
    places = Repeat(Unsqueeze(position_ids, -1), {1, 1, table.size(-1)});
    angles = To(Gather(table, 1, places), heads.k.dtype());
  }
  const std::vector<Tensor> turns = Split(angles, angles.size(-1) / 2, -1);
  const Tensor& sines = turns[0];
  const Tensor& cosines = turns[1];
  const int64_t dims = config.rotary_dim;
  Tensor k_turns = SliceRange(heads.k, 3, 0, dims);
  const Tensor k_passes = Slice(heads.k, 3, dims, kToTheEnd);
  Tensor q_turns = SliceRange(heads.q, 3, 0, dims);
  const Tensor q_passes = Slice(heads.q, 3, dims, kToTheEnd);
  k_turns = TurnPairs(k_turns, sines, cosines);
  q_turns = TurnPairs(q_turns, sines, cosines);
  heads.k = Cat2(k_turns, k_passes, -1);
  heads.q = Cat2(q_turns, q_passes, -1);
  heads.k = Permute(heads.k, {0, 2, 1, 3});
  heads.q = Permute(heads.q, {0, 2, 1, 3});
  if (cached != nullptr) {
    const auto fill = [&] {
      const Tensor k = config.is_fused ? To(heads.k, hidden.dtype()) : heads.k;
      return FillCache(*cached, k, heads.v, 0);
    };
    std::tie(heads.k, heads.v) = fill();
  }
  // The scores in float32; CodeGen divides them behind the mask.
  const auto attend = [&] {
    const Tensor q = To(heads.q, DType::kFloat32);
    const Tensor k = To(heads.k, DType::kFloat32);
    const double root = std::sqrt(static_cast<double>(config.heads.head_dim));
    Tensor weights = Matmul(q, Transpose(k, -1, -2));
    if (!config.is_fused) weights = DivScalar(weights, root);
    if (!mask.empty()) weights = Add(weights, mask);
    if (config.is_fused) weights = DivScalar(weights, root);
    weights = SoftmaxOp(weights, -1);
    weights = To(weights, heads.v.dtype());
    weights = attn_dropout.Forward(weights);
    // Its block returns the weights too.
    builder.ReturnBeside(weights, 2);
    return Matmul(weights, heads.v);
  };
  Tensor out = attend();
  const auto merge = [&] {
    const Tensor rows = Contiguous(Permute(out, {0, 2, 1, 3}));
    return View(rows, {batch, length, config.heads.hidden});
  };
  out = merge();
  out = out_proj.Forward(out);
  return resid_dropout.Forward(out);
}

GptjMlp::GptjMlp(const Module& at, const GptjConfig& config)
    : module(at),
      fc_in(at.Child("fc_in", RegionKind::kLinear), config.heads.hidden,
            config.inner, true),
      fc_out(at.Child("fc_out", RegionKind::kLinear), config.inner,
             config.heads.hidden, true),
      act(at.Child("act"), config.activation),
      dropout(at.Child("dropout"), config.residual_dropout) {}

Tensor GptjMlp::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = fc_in.Forward(hidden);
  hidden = act.Forward(hidden);
  hidden = fc_out.Forward(hidden);
  return dropout.Forward(hidden);
}

GptjBlock::GptjBlock(const Module& at, const GptjConfig& config)
    : module(at),
      ln_1(at.Child("ln_1", RegionKind::kNorm), config.heads.hidden,
           config.norm_epsilon),
      attn(at.Child("attn", RegionKind::kAttention), config),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor GptjBlock::Forward(const Tensor& input, const Tensor& mask,
                          const Tensor& position_ids,
                          CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {input},
                                   {mask, position_ids});
  const Scope scope = module.Enter();
  const Tensor hidden = ln_1.Forward(input);
  const Tensor attended = attn.Forward(hidden, mask, position_ids, cached);
  const Tensor forwarded = mlp.Forward(hidden);
  return Add(Add(attended, forwarded), input);
}

}  // namespace foretell
