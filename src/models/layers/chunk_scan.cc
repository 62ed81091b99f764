#include "models/layers/chunk_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/einsum.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// pad_tensor_by_size: x [b, s, …] grown along its tokens.
Tensor PadTokens(const Tensor& x, int64_t count) {
  return x.shape().rank() == 4 ? ConstantPad(x, {0, 0, 0, 0, 0, count, 0, 0}, 0)
                               : ConstantPad(x, {0, 0, 0, count, 0, 0}, 0);
}

// [b, s, …] -> [b, c, l, …], c chunks of l tokens.
Tensor IntoChunks(Tensor x, int64_t pad, int64_t chunk) {
  x = PadTokens(x, pad);
  Shape shape = {x.size(0), -1, chunk, x.size(2)};
  if (x.shape().rank() == 4) shape.Append(x.size(3));
  return Reshape(x, shape);
}

// ~tril(ones(size, size), diagonal), of which the mask itself keeps a name.
Tensor Masked(const Tensor& x, Tensor& mask, int64_t diagonal, double value) {
  const int64_t size = x.size(-1);
  const auto triangle = [&] {
    return Tril(Ones(x.builder(), {size, size}, DType::kBool), diagonal);
  };
  mask = triangle();
  return MaskedFill(x, BitwiseNot(mask), value);
}

// Sums of every run of consecutive elements: [..., l] -> [..., l, l].
Tensor SegmentSum(Tensor runs) {
  Tensor x = std::move(runs);  // an argument lives until the caller goes on
  Shape square = x.shape();
  square.Append(x.size(-1));
  x = Expand(Unsqueeze(x, x.shape().rank()), square);
  Tensor mask;
  x = Masked(x, mask, -1, 0);
  Tensor sums = Cumsum(x, -2);
  sums = Masked(sums, mask, 0, -std::numeric_limits<double>::infinity());
  return sums;
}

// x.float().repeat_interleave(): each group serves several heads.
Tensor ForHeads(const Tensor& x, int64_t heads) {
  const int64_t groups = x.size(2);
  if (groups == 0) return x;
  const Tensor exact = To(x, DType::kFloat32);
  const Tensor spread = Expand(
      Unsqueeze(exact, 3),
      {exact.size(0), exact.size(1), groups, heads / groups, exact.size(3)});
  const Shape flat = {exact.size(0), exact.size(1), heads, exact.size(3)};
  return View(CloneContiguous(spread), flat);
}

// The same for one token: [b, g, n] -> [b, g, 1, n] -> [b, h, …].
Tensor ForHeadsOnce(Tensor x, int64_t heads, bool keeps_row) {
  const int64_t batch = x.size(0);
  const int64_t groups = x.size(1);
  const int64_t state = x.size(2);
  if (groups == 0) return x;
  x = Reshape(x, {batch, groups, 1, state});
  x = Contiguous(Expand(x, {batch, groups, heads / groups, state}));
  return keeps_row ? Reshape(x, {batch, heads, 1, state})
                   : Reshape(x, {batch, heads, state});
}

Tensor BiasedStep(const Tensor& step, const Tensor& bias) {
  const auto shifted = [&] { return Add(step, To(bias, step.dtype())); };
  return Softplus(shifted());
}

}  // namespace

Tensor ChunkScan(const ChunkScanInputs& inputs, Tensor* last_bhpn) {
  const int64_t batch = inputs.hidden_bshp.size(0);
  const int64_t tokens = inputs.hidden_bshp.size(1);
  const int64_t heads = inputs.hidden_bshp.size(2);
  const int64_t width = inputs.hidden_bshp.size(3);
  const int64_t chunk = inputs.chunk;
  Tensor step = BiasedStep(inputs.step_bsh, inputs.step_bias_h);
  // An infinity would say that there is no bound; Python passes one.
  constexpr double kMost = std::numeric_limits<double>::max();
  step = Clamp(step, std::max(inputs.least_step, -kMost),
               std::min(inputs.most_step, kMost));
  Tensor hidden = To(inputs.hidden_bshp, DType::kFloat32);
  Tensor b = ForHeads(inputs.b_bsgn, heads);
  Tensor c = ForHeads(inputs.c_bsgn, heads);
  const int64_t pad = (chunk - tokens % chunk) % chunk;
  const auto residual = [&] {
    const Tensor skip = Unsqueeze(inputs.skip_h, 1);
    return Mul(skip, PadTokens(hidden, pad));
  };
  const Tensor skipped = residual();
  const auto weigh = [&] {
    return Mul(hidden, To(Unsqueeze(step, 3), DType::kFloat32));
  };
  hidden = weigh();
  const auto decay = [&] {
    const Tensor exact = To(inputs.a_h, hidden.dtype());
    return Mul(exact, To(step, DType::kFloat32));
  };
  Tensor a = decay();
  // A list holds the four until all are there.
  {
    Tensor hidden_chunks = IntoChunks(hidden, pad, chunk);
    Tensor a_chunks = IntoChunks(a, pad, chunk);
    Tensor b_chunks = IntoChunks(b, pad, chunk);
    Tensor c_chunks = IntoChunks(c, pad, chunk);
    hidden = std::move(hidden_chunks);
    a = std::move(a_chunks);
    b = std::move(b_chunks);
    c = std::move(c_chunks);
  }
  a = Permute(a, {0, 3, 1, 2});
  const Tensor a_sum = Cumsum(a, -1);

  // Within each chunk.
  const Tensor lasting = Exp(SegmentSum(a));
  const Tensor scores = Einsum("bclhn,bcshn->bclsh", c, b);
  const Tensor mixed = Mul(scores, Permute(lasting, {0, 2, 3, 4, 1}));
  const Tensor inside = Einsum("bclsh,bcshp->bclhp", mixed, hidden);

  // The state that each chunk adds.
  const auto until_end = [&] {
    return Sub(Slice(a_sum, 3, -1, kToTheEnd), a_sum);
  };
  const Tensor decay_states = Exp(until_end());
  const Tensor decayed =
      Mul(b, Unsqueeze(Permute(decay_states, {0, -2, -1, 1}), 4));
  Tensor states = Einsum("bclhn,bclhp->bchpn", decayed, hidden);

  // From chunk to chunk.
  const Tensor before = ZerosLike(SliceRange(states, 1, 0, 1));
  states = Cat2(before, states, 1);
  const auto decay_of_chunks = [&] {
    const auto sums = [&] {
      return SegmentSum(ConstantPad(Select(a_sum, 3, -1), 1, 0, 0));
    };
    return Transpose(Exp(sums()), 1, 3);
  };
  const Tensor decay_chunk = decay_of_chunks();
  const Tensor new_states = Einsum("bzch,bzhpn->bchpn", decay_chunk, states);
  Tensor starts = Slice(new_states, 1, 0, -1);
  const Tensor last = Select(new_states, 1, -1);
  states = std::move(starts);

  // What the states at the chunks' starts give.
  const Tensor state_decay = Exp(a_sum);
  const Tensor read = Einsum("bclhn,bchpn->bclhp", c, states);
  const Tensor outside =
      Mul(read, Unsqueeze(Permute(state_decay, {0, 2, 3, 1}), 4));
  const auto sum = [&] { return Contiguous(Add(inside, outside)); };
  Tensor output = sum();
  output = Reshape(output, {batch, -1, heads, width});
  output = Add(output, skipped);
  if (pad > 0) output = SliceRange(output, 1, 0, tokens);
  if (last_bhpn != nullptr) *last_bhpn = last;
  return output;
}

Tensor ScanStep(const ScanStepInputs& inputs, const Tensor& state_bhpn) {
  const Tensor& hidden = inputs.hidden_bhp;
  const int64_t batch = hidden.size(0);
  const int64_t heads = hidden.size(1);
  const int64_t width = hidden.size(2);
  Tensor step = BiasedStep(inputs.step_bhp, inputs.step_bias_hp);
  step = Unsqueeze(step, 3);
  const auto raise = [&] {
    const Tensor exact = To(step, DType::kFloat32);
    return Mul(exact, To(inputs.a_hpn, DType::kFloat32));
  };
  const Tensor decay = Exp(raise());
  const Tensor b = ForHeadsOnce(inputs.b_bgn, heads, /*keeps_row=*/true);
  const Tensor step_b = Mul(step, b);
  const Tensor added = Mul(step_b, Unsqueeze(hidden, 3));
  const auto advance = [&] { return Add(Mul(state_bhpn, decay), added); };
  Tensor state = advance();
  CopyInto(state_bhpn, To(state, state_bhpn.dtype()));
  const Tensor c = ForHeadsOnce(inputs.c_bgn, heads, /*keeps_row=*/false);
  state = To(state, c.dtype());
  const Tensor states = View(state, {batch * heads, width, state.size(3)});
  const Tensor columns = View(c, {batch * heads, state.size(3), 1});
  Tensor out = Bmm(states, columns);
  out = View(out, {batch, heads, width});
  const auto skip = [&] {
    return To(Add(out, Mul(hidden, inputs.skip_hp)), out.dtype());
  };
  out = skip();
  if (!inputs.gate_bhp.empty()) out = Mul(out, Silu(inputs.gate_bhp));
  return To(out, hidden.dtype());
}

}  // namespace foretell
