#include "graph/ops/attention.h"

#include <array>
#include <utility>

#include "base/checked.h"
#include "graph/ops/attention_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

// As empty_like(query): the layout of the query, also for other extents.
OperationOutput LikeQuery(const Value& query, const Shape& shape) {
  const Value* const inputs[] = {&query};
  return {shape, ElementwiseStrides(inputs, shape), query.dtype, -1};
}

// The kernel writes [b, s, h, d] and hands it out as [b, h, s, d].
OperationOutput HeadsInside(const Shape& shape, DType dtype) {
  const int64_t heads = shape[1];
  const int64_t length = shape[2];
  const int64_t dim = shape[3];
  const Shape rows = ContiguousStrides({shape[0], length, heads, dim});
  return {shape, {rows[0], rows[2], rows[1], rows[3]}, dtype, -1};
}

std::string CheckHeads(const OperationArguments& args) {
  const Shape& q = args.input(0).shape;
  const Shape& k = args.input(1).shape;
  const Shape& v = args.input(2).shape;
  const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 &&
                    q[0] == k[0] && k[0] == v[0] && q[3] == k[3] &&
                    k[1] == v[1] && k[2] == v[2] && k[1] > 0 &&
                    q[1] % k[1] == 0;
  if (fits) return "";
  return "query " + q.ToString() + ", key " + k.ToString() + " and value " +
         v.ToString() + " do not attend";
}

Shape ResultShape(const OperationArguments& args) {
  Shape shape = args.input(0).shape;
  shape.Set(3, args.input(2).shape[3]);
  return shape;
}

std::string InferCudnn(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = CheckHeads(args);
  if (!reason.empty()) return reason;
  const Shape shape = ResultShape(args);
  outputs.push_back(LikeQuery(args.input(0), shape));
  const Shape sums = {shape[0], shape[1], shape[2], 1};
  outputs.push_back({sums, ContiguousStrides(sums), DType::kFloat32, -1});
  outputs.push_back({{}, {}, DType::kInt64, -1});  // the dropout's seed
  outputs.push_back({{}, {}, DType::kInt64, -1});  // and offset
  return "";
}

std::string InferEfficient(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = CheckHeads(args);
  if (!reason.empty()) return reason;
  const Shape shape = ResultShape(args);
  outputs.push_back(HeadsInside(shape, args.input(0).dtype));
  // The log-sum-exp is kept for the backward only, padded to 32 rows.
  const bool keeps = args.Flag(0);
  const Shape sums = {shape[0], shape[1],
                      keeps ? (shape[2] + 31) / 32 * 32 : 0};
  outputs.push_back({sums, ContiguousStrides(sums), DType::kFloat32, -1});
  outputs.push_back({{}, {}, DType::kInt64, -1});
  outputs.push_back({{}, {}, DType::kInt64, -1});
  return "";
}

std::string InferFlash(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = CheckHeads(args);
  if (!reason.empty()) return reason;
  const Shape shape = ResultShape(args);
  outputs.push_back(LikeQuery(args.input(0), shape));
  const Shape sums = {shape[0], shape[1], shape[2]};
  outputs.push_back({sums, ContiguousStrides(sums), DType::kFloat32, -1});
  outputs.push_back({{2}, {1}, DType::kUInt64, -1});  // the generator's state
  outputs.push_back({{}, {}, DType::kUInt64, -1});
  outputs.push_back({{0}, {1}, args.input(0).dtype, -1});  // a debug mask
  return "";
}

// Two products of [s, d] x [d, t] per head: 2 s t (d + d_v).
std::optional<int64_t> FlopsOfAttention(std::span<const Value> in,
                                        std::span<const Value> out) {
  const Shape& q = in[0].shape;
  const Shape pairs = {q[0], q[1], q[2], in[1].shape[2]};
  const auto count = pairs.Elements();
  const auto dims = CheckedAdd(q[3], out[0].shape[3]);
  const auto products =
      count && dims ? CheckedMul(*count, *dims) : std::nullopt;
  return products ? CheckedMul(*products, 2) : std::nullopt;
}

// As empty_like() of query, key and value.
std::string InferBackward(const OperationArguments& args, Outputs& outputs) {
  for (size_t i = 1; i <= 3; ++i) {
    outputs.push_back(LikeQuery(args.input(i), args.input(i).shape));
  }
  return "";
}

std::string InferEfficientBackward(const OperationArguments& args,
                                   Outputs& outputs) {
  for (size_t i = 1; i <= 3; ++i) {
    outputs.push_back(HeadsInside(args.input(i).shape, args.input(i).dtype));
  }
  if (!args.Flag(0)) return "";
  // Rows of the bias's gradient are written padded to 16 elements.
  const Value& bias = args.input(4);
  constexpr int64_t kAlignment = 16;
  Shape padded = bias.shape;
  padded.Set(-1, (padded[-1] + kAlignment - 1) / kAlignment * kAlignment);
  outputs.push_back({bias.shape, ContiguousStrides(padded), bias.dtype, -1});
  return "";
}

// Five products of one head's sizes, two of the forward's once more: the
// scores, then those of v, of the scores, of q and of k.
std::optional<int64_t> FlopsOfBackward(std::span<const Value> in,
                                       std::span<const Value>) {
  const Shape& q = in[1].shape;
  const Shape pairs = {q[0], q[1], q[2], in[2].shape[2]};
  const auto count = pairs.Elements();
  const auto of_keys = CheckedMul(q[3], 3);
  const auto of_values = CheckedMul(in[3].shape[3], 2);
  const auto dims =
      of_keys && of_values ? CheckedAdd(*of_keys, *of_values) : std::nullopt;
  const auto products =
      count && dims ? CheckedMul(*count, *dims) : std::nullopt;
  return products ? CheckedMul(*products, 2) : std::nullopt;
}

// All inputs, the result, its sums, and the numbers of the dropout.
// As autograd orders them: the bias, key, query, value.
constexpr Save kSavesAttention[] = {{.input = 3},  {.input = 1},  {.input = 0},
                                    {.input = 2},  {.output = 0}, {.output = 1},
                                    {.output = 2}, {.output = 3}};

constexpr OperationRow kCudnn = {
    .name = "aten._scaled_dot_product_cudnn_attention.default",
    .doc = "softmax(q k^T scale) v by cuDNN: [b, h, s, d_v], with its sums.",
    .infer = InferCudnn,
    .flops = FlopsOfAttention,
    .saves = kSavesAttention,
    .gradient = GradientOfCudnnAttention,
    .differentiable_outputs = 1};
constexpr OperationRow kEfficient = {
    .name = "aten._scaled_dot_product_efficient_attention.default",
    .doc = "softmax(q k^T scale + bias) v without the s x t matrix.",
    .infer = InferEfficient,
    .flops = FlopsOfAttention,
    .saves = kSavesAttention,
    .gradient = GradientOfEfficientAttention,
    .differentiable_outputs = 1};
constexpr OperationRow kFlash = {
    .name = "aten._scaled_dot_product_flash_attention.default",
    .doc = "softmax(q k^T scale) v by flash-attention: [b, h, s, d].",
    .infer = InferFlash,
    .flops = FlopsOfAttention,
    .saves = kSavesAttention,
    .gradient = GradientOfFlashAttention,
    .differentiable_outputs = 1};
constexpr OperationRow kCudnnBackward = {
    .name = "aten._scaled_dot_product_cudnn_attention_backward.default",
    .doc = "The gradients of q, k and v by cuDNN.",
    .infer = InferBackward,
    .flops = FlopsOfBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kEfficientBackward = {
    .name = "aten._scaled_dot_product_efficient_attention_backward.default",
    .doc = "The gradients of q, k, v and a bias without the s x t matrix.",
    .infer = InferEfficientBackward,
    .flops = FlopsOfBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kFlashBackward = {
    .name = "aten._scaled_dot_product_flash_attention_backward.default",
    .doc = "The gradients of q, k and v by flash-attention.",
    .infer = InferBackward,
    .flops = FlopsOfBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {
    &kCudnn,         &kEfficient,         &kFlash,
    &kCudnnBackward, &kEfficientBackward, &kFlashBackward};

std::vector<Tensor> Attend(const OperationRow& row, Tensor query, Tensor key,
                           Tensor value, Tensor bias,
                           std::span<const Attribute> attributes) {
  std::vector<Tensor> inputs;
  for (Tensor* input : {&query, &key, &value, &bias}) {
    if (!input->empty()) inputs.push_back(std::move(*input));
  }
  return inputs[0].builder().EmitMany(row, inputs, attributes);
}

}  // namespace

std::span<const OperationRow* const> AttentionOperations() { return kRows; }

Tensor CudnnAttention(Tensor query, Tensor key, Tensor value, Tensor bias,
                      bool keeps, double dropout, bool causal, double scale) {
  const Attribute attributes[] = {keeps, dropout, causal, scale};
  return Attend(kCudnn, std::move(query), std::move(key), std::move(value),
                std::move(bias), attributes)[0];
}

Tensor EfficientAttention(Tensor query, Tensor key, Tensor value, Tensor bias,
                          bool keeps, double dropout, bool causal,
                          double scale) {
  const Attribute attributes[] = {keeps, dropout, causal, scale};
  return Attend(kEfficient, std::move(query), std::move(key), std::move(value),
                std::move(bias), attributes)[0];
}

std::vector<Tensor> FlashAttention(Tensor query, Tensor key, Tensor value,
                                   double dropout, bool causal, double scale) {
  const Attribute attributes[] = {dropout, causal, scale};
  return Attend(kFlash, std::move(query), std::move(key), std::move(value),
                Tensor(), attributes);
}

std::vector<Tensor> CudnnAttentionBackward(std::span<const Tensor> inputs) {
  return inputs[0].builder().EmitMany(kCudnnBackward, inputs, {});
}

std::vector<Tensor> FlashAttentionBackward(std::span<const Tensor> inputs) {
  return inputs[0].builder().EmitMany(kFlashBackward, inputs, {});
}

std::vector<Tensor> EfficientAttentionBackward(std::span<const Tensor> inputs,
                                               bool wants_bias) {
  const Attribute attributes[] = {wants_bias};
  return inputs[0].builder().EmitMany(kEfficientBackward, inputs, attributes);
}

}  // namespace foretell
