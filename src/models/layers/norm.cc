#include "models/layers/norm.h"

#include "graph/autocast.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/fused.h"
#include "graph/ops/reduction.h"

namespace foretell {

// GemmaRMSNorm._norm: the mean is a temporary here, no name.
Tensor OverRootMeanSquare(const Tensor& x, double epsilon) {
  return Mul(x, Rsqrt(AddScalar(MeanLast(PowScalar(x, 2)), epsilon)));
}

RmsNorm::RmsNorm(const Module& at, int64_t width, double eps, RmsScale scale_by)
    : module(at),
      weight(at.Parameter("weight", {width})),
      epsilon(eps),
      scale(scale_by) {}

Tensor RmsNorm::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  const DType dtype = input.dtype();
  if (scale == RmsScale::kOnePlusWeight) {
    Tensor output = OverRootMeanSquare(To(input, DType::kFloat32), epsilon);
    output =
        Mul(output,
            AddScalar(To(module.builder().Read(weight), DType::kFloat32), 1));
    return To(output, dtype);
  }
  Tensor hidden = To(input, DType::kFloat32);
  const Tensor variance = MeanLast(PowScalar(hidden, 2));
  hidden = Mul(hidden, Rsqrt(AddScalar(variance, epsilon)));
  if (scale == RmsScale::kWeightInFloat) {
    return To(Mul(module.builder().Read(weight), hidden), dtype);
  }
  return Mul(module.builder().Read(weight), To(hidden, dtype));
}

CenteredNorm::CenteredNorm(const Module& at, int64_t width, double eps)
    : CenteredNorm(at, Shape{width}, eps) {}

CenteredNorm::CenteredNorm(const Module& at, const Shape& widths, double eps)
    : module(at), weight(at.Parameter("weight", widths)), epsilon(eps) {}

Tensor CenteredNorm::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  const DType dtype = input.dtype();
  Tensor hidden = To(input, DType::kFloat32);
  const Tensor mean = MeanLast(hidden);
  const Tensor variance = MeanLast(PowScalar(Sub(hidden, mean), 2));
  const auto scale = [&] {
    const Tensor centered = Sub(hidden, mean);
    return Mul(centered, Rsqrt(AddScalar(variance, epsilon)));
  };
  hidden = scale();
  hidden = Mul(To(module.builder().Read(weight), DType::kFloat32), hidden);
  return To(hidden, dtype);
}

LayerNorm::LayerNorm(const Module& at, int64_t width, double eps,
                     LayerNormTerms terms)
    : module(at), epsilon(eps) {
  if (terms == LayerNormTerms::kNone) return;
  weight = at.Parameter("weight", {width});
  if (terms == LayerNormTerms::kBoth) bias = at.Parameter("bias", {width});
}

Tensor LayerNorm::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  return NativeLayerNorm(hidden, weight ? builder.Read(*weight) : Tensor(),
                         bias ? builder.Read(*bias) : Tensor(), epsilon);
}

PlainLayerNorm::PlainLayerNorm(const Module& at, int64_t /*width*/, double eps)
    : module(at), epsilon(eps) {}

Tensor PlainLayerNorm::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  const DType dtype = hidden.dtype();
  return To(NativeLayerNorm(To(hidden, DType::kFloat32), {}, {}, epsilon),
            dtype);
}

OnePlusLayerNorm::OnePlusLayerNorm(const Module& at, int64_t width, double eps)
    : module(at),
      weight(at.Parameter("weight", {width})),
      bias(at.Parameter("bias", {width})),
      epsilon(eps) {}

Tensor OnePlusLayerNorm::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Tensor x = hidden;
  Tensor scale = AddScalar(builder.Read(weight), 1);
  Tensor shift = builder.Read(bias);
  // The class casts what autocast would leave alone.
  if (const auto lower = builder.execution().autocast) {
    for (Tensor* one : {&x, &scale, &shift}) *one = To(*one, *lower);
  }
  const AutocastScope off(builder, std::nullopt);
  return NativeLayerNorm(x, scale, shift, epsilon);
}

}  // namespace foretell
