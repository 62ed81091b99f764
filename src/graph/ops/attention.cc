#include "graph/ops/attention.h"

#include <array>
#include <utility>

#include "base/checked.h"
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

constexpr OperationRow kCudnn = {
    "aten._scaled_dot_product_cudnn_attention.default",
    "softmax(q k^T scale) v by cuDNN: [b, h, s, d_v], with its sums.",
    InferCudnn, FlopsOfAttention, kSavesResult};
constexpr OperationRow kEfficient = {
    "aten._scaled_dot_product_efficient_attention.default",
    "softmax(q k^T scale + bias) v without the s x t matrix.", InferEfficient,
    FlopsOfAttention, kSavesResult};
constexpr OperationRow kFlash = {
    "aten._scaled_dot_product_flash_attention.default",
    "softmax(q k^T scale) v by flash-attention: [b, h, s, d].", InferFlash,
    FlopsOfAttention, kSavesResult};

constexpr std::array kRows = {&kCudnn, &kEfficient, &kFlash};

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

}  // namespace foretell
