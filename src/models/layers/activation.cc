#include "models/layers/activation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "graph/autocast.h"
#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// Of ACT2CLS only `xielu` is missing: it brings parameters of a dtype of its
// own, whatever the model's.
constexpr std::array<std::pair<std::string_view, Activation>, 23> kNames = {{
    {"gelu", Activation::kGelu},
    {"gelu_10", Activation::kGeluClipped},
    {"gelu_accurate", Activation::kGeluNew},
    {"gelu_fast", Activation::kGeluFast},
    {"gelu_new", Activation::kGeluNew},
    {"gelu_python", Activation::kGeluErf},
    {"gelu_python_tanh", Activation::kGeluNew},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"hardswish", Activation::kHardSwish},
    {"laplace", Activation::kLaplace},
    {"leaky_relu", Activation::kLeakyRelu},
    {"linear", Activation::kLinear},
    {"mish", Activation::kMish},
    {"prelu", Activation::kPrelu},
    {"quick_gelu", Activation::kQuickGelu},
    {"relu", Activation::kRelu},
    {"relu2", Activation::kReluSquared},
    {"relu6", Activation::kRelu6},
    {"sigmoid", Activation::kSigmoid},
    {"silu", Activation::kSilu},
    {"sqrtsoftplus", Activation::kSqrtSoftplus},
    {"swish", Activation::kSilu},
    {"tanh", Activation::kTanh},
}};

// A name is assigned again wherever Python lets go of a value: what lives how
// long is part of what is executed.

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
Tensor GeluNew(const Tensor& x) {
  const Tensor half = MulScalar(x, 0.5);
  Tensor inner = PowScalar(x, 3);
  inner = MulScalar(inner, 0.044715);
  inner = Add(x, inner);
  inner = MulScalar(inner, std::sqrt(2 / std::numbers::pi));
  inner = Tanh(inner);
  inner = AddScalar(inner, 1);
  return Mul(half, inner);
}

// 0.5 x (1 + tanh(0.7978845608 x (1 + 0.044715 x x)))
Tensor GeluFast(const Tensor& x) {
  const Tensor half = MulScalar(x, 0.5);
  const auto product = [&] {
    const Tensor scaled = MulScalar(x, 0.7978845608);
    Tensor factor = MulScalar(x, 0.044715);
    factor = Mul(factor, x);
    factor = AddScalar(factor, 1);
    return Mul(scaled, factor);
  };
  Tensor inner = product();
  inner = Tanh(inner);
  inner = AddScalar(inner, 1);
  return Mul(half, inner);
}

// 0.5 x (1 + erf(x / sqrt(2)))
Tensor GeluErf(const Tensor& x) {
  const Tensor half = MulScalar(x, 0.5);
  Tensor inner = DivScalar(x, std::numbers::sqrt2);
  inner = Erf(inner);
  inner = AddScalar(inner, 1);
  return Mul(half, inner);
}

// 0.5 (1 + erf((x - mu) / (sigma sqrt(2)))), mu and sigma being the defaults of
// LaplaceActivation.
Tensor Laplace(const Tensor& x) {
  Tensor out = SubScalar(x, 0.707107);
  out = DivScalar(out, 0.282095 * std::numbers::sqrt2);
  out = Erf(out);
  out = AddScalar(out, 1);
  return MulScalar(out, 0.5);
}

// x sigmoid(1.702 x)
Tensor QuickGelu(const Tensor& x) {
  Tensor gate = MulScalar(x, 1.702);
  gate = Sigmoid(gate);
  return Mul(x, gate);
}

Tensor Prelu(Tensor x, Tensor weight) {
  const AutocastCall call(x.builder(), AutocastPolicy::kLower, {&x, &weight});
  Shape ones;
  for (int axis = 0; axis < x.shape().rank(); ++axis) ones.Append(1);
  return PreluKernel(x, View(weight, ones));
}

}  // namespace

std::optional<Activation> ParseActivation(std::string_view name) {
  for (const auto& [spelling, activation] : kNames) {
    if (spelling == name) return activation;
  }
  return std::nullopt;
}

Activation ActivationNamed(const ConfigView& config, std::string_view key,
                           std::string_view name) {
  if (const auto activation = ParseActivation(name)) return *activation;
  std::vector<std::string_view> known;
  for (const auto& entry : kNames) known.push_back(entry.first);
  const auto near = NearestNames(name, known);
  config.Problem(
      key,
      fmt::format("names no activation that is known: \"{}\"",
                  name.substr(0, 40)),
      near.empty() ? "write one of transformers' activations.py, such as silu, "
                     "gelu, gelu_pytorch_tanh or relu"
                   : fmt::format("write {}", fmt::join(near, " or ")));
  return Activation::kSilu;
}

ActivationModule::ActivationModule(const Module& at, Activation which)
    : module(at), kind(which) {
  if (kind == Activation::kPrelu) weight = at.Parameter("weight", {1});
}

Tensor ActivationModule::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  return weight ? Prelu(x, module.builder().Read(*weight)) : Activate(kind, x);
}

Tensor Activate(Activation kind, const Tensor& x) {
  switch (kind) {
    case Activation::kSilu:
      return Silu(x);
    case Activation::kGelu:
      return Gelu(x);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kGeluNew:
      return GeluNew(x);
    case Activation::kGeluFast:
      return GeluFast(x);
    case Activation::kGeluErf:
      return GeluErf(x);
    case Activation::kGeluClipped:
      return Clamp(Gelu(x), -10, 10);
    case Activation::kQuickGelu:
      return QuickGelu(x);
    case Activation::kHardSwish:
      return HardSwish(x);
    case Activation::kLaplace:
      return Laplace(x);
    case Activation::kLeakyRelu:
      return LeakyRelu(x);
    case Activation::kLinear:
      return x;
    case Activation::kMish:
      return Mish(x);
    case Activation::kPrelu:
      x.builder().Fail("prelu needs a parameter of its own");
      return x;
    case Activation::kRelu:
      return Relu(x);
    case Activation::kReluSquared:
      return PowScalar(Relu(x), 2);
    case Activation::kRelu6:
      return Relu6(x);
    case Activation::kSigmoid:
      return Sigmoid(x);
    case Activation::kSqrtSoftplus:
      return Sqrt(Softplus(x));
    case Activation::kTanh:
      return Tanh(x);
  }
  return x;
}

}  // namespace foretell
