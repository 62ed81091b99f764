#include "models/layers/bloom_block.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "graph/gradient.h"
#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr double kRoot = 0.79788456;
constexpr double kCube = 0.044715;

// tanh(kRoot x (1 + kCube x x))
Tensor TanhPart(const Tensor& x) {
  Tensor straight = MulScalar(x, kRoot);
  Tensor square = MulScalar(x, kCube);
  square = Mul(std::move(square), x);
  Tensor bent = AddScalar(std::move(square), 1);
  Tensor inner = Mul(std::move(straight), std::move(bent));
  return Tanh(std::move(inner));
}

// bloom_gelu_back
void GradientOfBloomGelu(Gradient& g) {
  const Tensor& x = g.input(0);
  const Tensor tanh = TanhPart(x);
  const auto slope = [&] {
    Tensor half = MulScalar(x, 0.5);
    Tensor rest = Mul(tanh, tanh);
    rest = RsubScalar(std::move(rest), 1);
    constexpr double kThird = 0.1070322243;
    Tensor square = MulScalar(x, kThird);
    square = Mul(std::move(square), x);
    Tensor bent = AddScalar(std::move(square), kRoot);
    Tensor product = Mul(std::move(rest), std::move(bent));
    Tensor first = Mul(std::move(half), std::move(product));
    Tensor second = AddScalar(tanh, 1);
    second = MulScalar(std::move(second), 0.5);
    return Add(std::move(first), std::move(second));
  };
  const Tensor factor = slope();
  g.Give(0, Mul(factor, g.grad()));
}

// The result, under a record that leads to the input.
std::string InferFunction(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& result = args.input(1);
  outputs.push_back({result.shape, result.strides, result.dtype, 1});
  return "";
}

constexpr OperationRow kGeluFunction = {
    .name = "autograd.GeLUFunction",
    .doc =
        "What BloomGelu computed, as the function of its input: no operator.",
    .infer = InferFunction,
    .saves = kSavesInput,
    .gradient = GradientOfBloomGelu};

}  // namespace

Tensor BloomGelu(const Tensor& x) {
  Builder& builder = x.builder();
  const Execution outside = builder.execution();
  Execution inside = outside;
  inside.gradients = false;
  builder.set_execution(inside);
  const auto run = [&] {
    Tensor half = MulScalar(x, 0.5);
    Tensor one = TanhPart(x);
    one = AddScalar(std::move(one), 1);
    return Mul(std::move(half), std::move(one));
  };
  Tensor result = run();
  builder.set_execution(outside);
  if (!outside.gradients || !builder.ValueOf(x.id()).requires_grad) {
    return result;
  }
  return builder.Emit(kGeluFunction, {x, std::move(result)});
}

BloomAttention::BloomAttention(const Module& at, const BloomConfig& settings)
    : module(at),
      config(settings),
      query_key_value(at.Child("query_key_value", RegionKind::kLinear),
                      config.heads.hidden, 3 * config.heads.hidden, true),
      dense(at.Child("dense", RegionKind::kLinear), config.heads.hidden,
            config.heads.hidden, true),
      attention_dropout(at.Child("attention_dropout"),
                        config.attention_dropout) {}

Tensor BloomAttention::Forward(const Tensor& hidden, const Tensor& residual,
                               const Tensor& alibi, const Tensor& mask,
                               CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t heads = config.heads.heads;
  const int64_t dim = config.heads.head_dim;
  const Tensor fused = query_key_value.Forward(hidden);
  const Tensor apart = View(fused, {batch, length, heads, 3, dim});
  const auto part = [&](int64_t index) {
    return Transpose(Select(apart, 3, index), 1, 2);
  };
  Tensor q = part(0);
  Tensor k = part(1);
  Tensor v = part(2);
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  const Shape rows = {batch * heads, -1, dim};
  q = Reshape(q, rows);
  k = Transpose(Reshape(k, rows), -1, -2);
  v = Reshape(v, rows);
  const Tensor scores =
      Baddbmm(alibi, q, k, 1 / std::sqrt(static_cast<double>(dim)));
  Tensor weights = View(scores, {batch, heads, length, -1});
  if (!mask.empty()) weights = Add(weights, mask);
  Tensor shares = To(SoftmaxInFloat(weights, -1), q.dtype());
  shares = attention_dropout.Forward(shares);
  // Its block returns them too.
  module.builder().ReturnBeside(shares, 2);
  const Tensor shares_by_head = View(shares, {batch * heads, length, -1});
  Tensor out = Bmm(shares_by_head, v);
  const auto merge = [&] {
    const Tensor split = View(out, {batch, heads, length, dim});
    return Reshape(Permute(split, {0, 2, 1, 3}), {batch, length, heads * dim});
  };
  out = merge();
  const Tensor output = dense.Forward(out);
  return Add(residual, ApplyDropout(output, config.hidden_dropout));
}

BloomMlp::BloomMlp(const Module& at, const BloomConfig& config)
    : module(at),
      dropout(config.hidden_dropout),
      dense_h_to_4h(at.Child("dense_h_to_4h", RegionKind::kLinear),
                    config.heads.hidden, 4 * config.heads.hidden, true),
      gelu_impl(at.Child("gelu_impl")),
      dense_4h_to_h(at.Child("dense_4h_to_h", RegionKind::kLinear),
                    4 * config.heads.hidden, config.heads.hidden, true) {}

Tensor BloomMlp::Forward(const Tensor& input, const Tensor& residual) const {
  const Scope scope = module.Enter();
  const auto activate = [&] {
    const Tensor wide = dense_h_to_4h.Forward(input);
    const Scope inner = gelu_impl.Enter();
    return BloomGelu(wide);
  };
  const Tensor hidden = activate();
  const Tensor output = dense_4h_to_h.Forward(hidden);
  return Add(residual, ApplyDropout(output, dropout));
}

BloomBlock::BloomBlock(const Module& at, const BloomConfig& config)
    : module(at),
      residual_is_normed(config.residual_is_normed),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.heads.hidden, config.norm_epsilon),
      self_attention(at.Child("self_attention", RegionKind::kAttention),
                     config),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.heads.hidden, config.norm_epsilon),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor BloomBlock::Forward(const Tensor& hidden, const Tensor& alibi,
                           const Tensor& mask, CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden}, {alibi, mask});
  const Scope scope = module.Enter();
  Tensor normed = input_layernorm.Forward(hidden);
  Tensor residual = residual_is_normed ? normed : hidden;
  const Tensor attended =
      self_attention.Forward(normed, residual, alibi, mask, cached);
  normed = post_attention_layernorm.Forward(attended);
  residual = residual_is_normed ? normed : attended;
  return mlp.Forward(normed, residual);
}

}  // namespace foretell
