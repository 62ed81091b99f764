// One backward node while it runs: the gradients that reach it, what was kept
// for it, and where it gives its own.
//
// A row's `gradient` function gets one of these and writes what the node's
// apply() executes: in the order of the formulas as torchgen sorts them (by
// the name of the argument: `other` before `self`), skipping inputs that need
// none. Intermediate results get names (`const Tensor scaled = ...`), since
// C++ temporaries of a formula live until its end. Reducing a gradient to the
// shape of its input and casting it to the input's dtype is the engine's work
// (passes/backward), not the rule's.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp.
//
//   void GradientOfMul(Gradient& g) {
//     if (g.Needs(1)) g.Give(1, Mul(g.grad(), g.input(0)));
//     if (g.Needs(0)) g.Give(0, Mul(g.grad(), g.input(1)));
//   }
#ifndef FORETELL_GRAPH_GRADIENT_H_
#define FORETELL_GRAPH_GRADIENT_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace foretell {

class Gradient {
 public:
  // `grads` by output, empty where none reached it; `kept` in the order of
  // Graph::SavedOf.
  Gradient(Builder& builder, OperationId operation,
           std::span<const Tensor> grads, std::span<const Tensor> kept);

  Builder& builder() const { return *builder_; }

  // The gradient of an output: empty where none reached it (a node of one
  // output always has it).
  const Tensor& grad(size_t output = 0) const { return grads_[output]; }
  // Whether an input takes a gradient.
  bool Needs(size_t input) const;
  // What the row's `saves` kept; a check where it did not.
  const Tensor& input(size_t index) const;
  const Tensor& output(size_t index) const;
  bool Keeps(size_t input) const;
  // An input that the row attaches to its node.
  Tensor Attached(size_t index) const;

  // Sizes, strides and dtypes are known without keeping a tensor.
  size_t input_count() const { return gradients_.size(); }
  size_t output_count() const { return grads_.size(); }
  Value InputFacts(size_t index) const;
  Value OutputFacts(size_t index) const;

  size_t attribute_count() const;
  int64_t Integer(size_t attribute) const;
  double Real(size_t attribute) const;
  bool Flag(size_t attribute) const;
  DType Type(size_t attribute) const;
  Shape Sizes(size_t attribute) const;

  // The gradient of an input.
  void Give(size_t input, Tensor gradient);
  std::vector<Tensor> TakeGradients() { return std::move(gradients_); }

 private:
  const Attribute& At(size_t attribute) const;
  const Tensor& Kept(size_t operand) const;
  const Operation& operation() const;

  Builder* builder_;
  OperationId operation_;
  std::span<const Tensor> grads_;
  std::span<const Tensor> kept_;
  std::vector<Tensor> gradients_;  // by input
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_GRADIENT_H_
