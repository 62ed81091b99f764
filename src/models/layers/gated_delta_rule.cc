#include "models/layers/gated_delta_rule.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kChunk = 64;  // tokens
constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// The inputs in float32, heads before tokens.
struct Heads {
  Tensor query_bhsk;
  Tensor key_bhsk;
  Tensor value_bhsv;
  Tensor decay_bhs;
  Tensor beta_bhs;
};

// x.repeat_interleave(times, dim=2)
Tensor RepeatHeads(const Tensor& x_bsgk, int64_t times) {
  const Shape shape = {x_bsgk.size(0), x_bsgk.size(1), x_bsgk.size(2),
                       x_bsgk.size(3)};
  const Shape wide = {shape[0], shape[1], shape[2], times, shape[3]};
  Tensor spread = Expand(Unsqueeze(x_bsgk, 3), wide);
  spread = CloneContiguous(std::move(spread));
  return View(std::move(spread),
              {shape[0], shape[1], shape[2] * times, shape[3]});
}

Tensor Normalize(const Tensor& x) {
  const auto norm = [&] {
    const auto squares = [&] { return SumOver(Mul(x, x), -1, /*keep=*/true); };
    return Rsqrt(AddScalar(squares(), 1e-6));
  };
  const Tensor inverse = norm();
  return Mul(x, inverse);
}

// All old values go at once, when all new ones are there.
Heads Prepare(const GatedDeltaInputs& inputs) {
  Tensor query = inputs.query_bsgk;
  Tensor key = inputs.key_bsgk;
  const int64_t heads = inputs.value_bshv.size(2);
  const int64_t groups = key.size(2);
  if (heads != groups) {
    query = RepeatHeads(query, groups > 0 ? heads / groups : 1);
    key = RepeatHeads(key, groups > 0 ? heads / groups : 1);
  }
  const auto turn = [](const Tensor& x) {
    return ToContiguous(Transpose(x, 1, 2), DType::kFloat32);
  };
  Heads out;
  out.query_bhsk = turn(query);
  out.key_bhsk = turn(key);
  out.value_bhsv = turn(inputs.value_bshv);
  out.beta_bhs = turn(inputs.beta_bsh);
  out.decay_bhs = turn(inputs.decay_bsh);
  query = Tensor();
  key = Tensor();
  out.query_bhsk = Normalize(out.query_bhsk);
  out.key_bhsk = Normalize(out.key_bhsk);
  return out;
}

// Full chunks: the last one is filled up with zeros.
void FillLastChunk(Heads& heads) {
  const int64_t length = heads.query_bhsk.size(2);
  const int64_t missing = (kChunk - length % kChunk) % kChunk;
  const auto pad_rows = [&](const Tensor& x) {
    return ConstantPad(x, Shape{0, 0, 0, missing}, 0);
  };
  const auto pad = [&](const Tensor& x) {
    return ConstantPad(x, Shape{0, missing}, 0);
  };
  const auto pad_three = [&] {
    Tensor query = pad_rows(heads.query_bhsk);
    Tensor key = pad_rows(heads.key_bhsk);
    heads.value_bhsv = pad_rows(heads.value_bhsv);
    heads.query_bhsk = std::move(query);
    heads.key_bhsk = std::move(key);
  };
  pad_three();
  Tensor beta = pad(heads.beta_bhs);
  heads.decay_bhs = pad(heads.decay_bhs);
  heads.beta_bhs = std::move(beta);
}

Tensor InChunks(const Tensor& x) {
  Shape out = {x.size(0), x.size(1), -1, kChunk};
  if (x.shape().rank() == 4) out.Append(x.size(3));
  return Reshape(x, out);
}

// x @ y.transpose(-1, -2)
Tensor TimesTransposed(const Tensor& x, const Tensor& y) {
  const Tensor turned = Transpose(y, -1, -2);
  return Matmul(x, turned);
}

// exp(x).unsqueeze(-1)
Tensor ExpColumn(Tensor x) { return Unsqueeze(Exp(std::move(x)), -1); }

// How much of what each token of a chunk wrote the later ones still see.
Tensor PairwiseDecay(const Tensor& cumulated, const Tensor& later) {
  const auto difference = [&] {
    const Tensor rows = Unsqueeze(cumulated, 4);
    return Sub(rows, Unsqueeze(cumulated, 3));
  };
  Tensor out = difference();
  out = MaskedFill(out, later, -std::numeric_limits<double>::infinity());
  out = Exp(out);
  return out;
}

// [b, s, h, v] as it came, from [b, h, chunks, 64, v].
Tensor JoinChunks(Tensor out, int64_t tokens, DType dtype) {
  out = Reshape(out, {out.size(0), out.size(1), -1, out.size(4)});
  out = SliceRange(out, 2, 0, tokens);
  return ToContiguous(Transpose(out, 1, 2), dtype);
}

}  // namespace

Tensor ChunkGatedDelta(const GatedDeltaInputs& inputs, Tensor* last_bhkv) {
  Builder& builder = inputs.query_bsgk.builder();
  const DType dtype = inputs.query_bsgk.dtype();
  const int64_t tokens = inputs.key_bsgk.size(1);
  const Shape state_shape = {inputs.key_bsgk.size(0), inputs.value_bshv.size(2),
                             inputs.key_bsgk.size(3),
                             inputs.value_bshv.size(3)};
  Heads heads = Prepare(inputs);
  if (!builder.failure().empty()) return inputs.value_bshv;
  heads.query_bhsk = MulScalar(
      heads.query_bhsk, 1 / std::sqrt(static_cast<double>(state_shape[2])));
  FillLastChunk(heads);
  const Tensor v_beta = [&] {
    return Mul(heads.value_bhsv, Unsqueeze(heads.beta_bhs, -1));
  }();
  const Tensor k_beta = [&] {
    return Mul(heads.key_bhsk, Unsqueeze(heads.beta_bhs, -1));
  }();
  Tensor query = InChunks(heads.query_bhsk);
  Tensor key = InChunks(heads.key_bhsk);
  const Tensor k_beta_chunks = InChunks(k_beta);
  const Tensor v_beta_chunks = InChunks(v_beta);
  heads.query_bhsk = Tensor();
  heads.key_bhsk = Tensor();
  const Tensor decay = InChunks(heads.decay_bhs);
  const Tensor later = [&] {
    return Triu(Ones(builder, {kChunk, kChunk}, DType::kBool), 1);
  }();
  const Tensor cumulated = Cumsum(decay, 3);
  const Tensor pairwise = PairwiseDecay(cumulated, later);
  const Tensor system = [&] {
    return Mul(TimesTransposed(k_beta_chunks, key), pairwise);
  }();
  const Tensor inside = [&] {
    return Mul(TimesTransposed(query, key), pairwise);
  }();
  const Tensor decayed_k_beta = [&] {
    return Mul(k_beta_chunks, ExpColumn(cumulated));
  }();
  const Tensor new_values = SolveTriangular(system, v_beta_chunks, false);
  const Tensor k_cumulated = SolveTriangular(system, decayed_k_beta, false);
  Tensor state = inputs.state_bhkv.empty()
                     ? Zeros(builder, state_shape, new_values.dtype())
                     : inputs.state_bhkv;
  Tensor out = ZerosLike(new_values);
  query = Mul(query, ExpColumn(cumulated));
  const auto decay_to_end = [&] {
    const auto difference = [&] {
      return Sub(Slice(cumulated, 3, -1, kToTheEnd), cumulated);
    };
    return ExpColumn(difference());
  };
  key = Mul(key, decay_to_end());
  const Tensor chunk_decay =
      Unsqueeze(Unsqueeze(Exp(Select(cumulated, 3, -1)), 3), 4);
  const int64_t chunks = out.size(2);
  // Python's names outlive each turn of the loop.
  Tensor v_new;
  Tensor between;
  for (int64_t i = 0; i < chunks; ++i) {
    const auto correct = [&] {
      const Tensor values = Select(new_values, 2, i);
      return Sub(values, Matmul(Select(k_cumulated, 2, i), state));
    };
    v_new = correct();
    between = Matmul(Select(query, 2, i), state);
    const auto read = [&] {
      return Add(between, Matmul(Select(inside, 2, i), v_new));
    };
    {
      const Tensor written = read();
      out = WriteThrough(out, Select(out, 2, i), [&](Tensor view) {
              return CopyInto(std::move(view), written);
            }).base;
    }
    const auto advance = [&] {
      const Tensor lasting = Mul(state, Select(chunk_decay, 2, i));
      const Tensor turned = Transpose(Select(key, 2, i), -1, -2);
      return Add(lasting, Matmul(turned, v_new));
    };
    state = advance();
    if (!builder.failure().empty()) return inputs.value_bshv;
  }
  if (last_bhkv != nullptr) *last_bhkv = state;
  state = Tensor();
  return JoinChunks(std::move(out), tokens, dtype);
}

Tensor RecurrentGatedDelta(const GatedDeltaInputs& inputs, Tensor* last_bhkv) {
  Builder& builder = inputs.query_bsgk.builder();
  const DType dtype = inputs.query_bsgk.dtype();
  Heads heads = Prepare(inputs);
  if (!builder.failure().empty()) return inputs.value_bshv;
  const int64_t key_dim = heads.key_bhsk.size(3);
  heads.query_bhsk =
      DivScalar(heads.query_bhsk, std::sqrt(static_cast<double>(key_dim)));
  Tensor state = inputs.state_bhkv;
  Tensor out = ZerosLike(heads.value_bhsv);
  const int64_t tokens = heads.value_bhsv.size(2);
  // Python's names outlive each turn of the loop.
  Tensor decay;
  Tensor beta;
  Tensor known;
  Tensor delta;
  for (int64_t i = 0; i < tokens; ++i) {
    const Tensor query = Select(heads.query_bhsk, 2, i);
    const Tensor key = Select(heads.key_bhsk, 2, i);
    const Tensor value = Select(heads.value_bhsv, 2, i);
    decay = Unsqueeze(Unsqueeze(Exp(Select(heads.decay_bhs, 2, i)), 2), 3);
    state = Mul(state, decay);
    beta = Unsqueeze(Select(heads.beta_bhs, 2, i), -1);
    const auto read = [&](const Tensor& by) {
      return SumOver(Mul(state, Unsqueeze(by, -1)), -2, /*keep=*/false);
    };
    known = read(key);
    const auto correct = [&] { return Mul(Sub(value, known), beta); };
    delta = correct();
    const auto add = [&] {
      const Tensor column = Unsqueeze(key, -1);
      return Add(state, Mul(column, Unsqueeze(delta, -2)));
    };
    state = add();
    const Tensor written = read(query);
    CopyInto(Select(out, 2, i), written);
    if (!builder.failure().empty()) return inputs.value_bshv;
  }
  if (last_bhkv != nullptr) *last_bhkv = state;
  state = Tensor();
  out = Contiguous(Transpose(out, 1, 2));
  return To(out, dtype);
}

}  // namespace foretell
