// What autograd records while a forward runs: which operation made a value,
// and the tensors that each operation keeps for its backward.
//
// A record lives while one of its outputs does, or a later record that its
// outputs went into; then it lets go of what it kept. So a branch that reaches
// no loss costs nothing once its last name is gone.
// Source of the rules: torch 2.15, torch/csrc/autograd/function.h (Node),
// saved_variable.cpp.
#ifndef FORETELL_GRAPH_TAPE_H_
#define FORETELL_GRAPH_TAPE_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"

namespace foretell {

class Tape {
 public:
  explicit Tape(Graph& graph) : graph_(&graph) {}

  // `operation` has a backward node; its inputs are already in the graph.
  void Record(OperationId operation);
  bool Has(OperationId operation) const;
  // The operation whose backward node takes the value's gradient; none for
  // parameters and for values that have no gradient.
  OperationId MakerOf(ValueId value) const;
  void SetMaker(ValueId value, OperationId operation);

  // Holds the next of Graph::saved; empty where something else will give it.
  void Keep(Tensor tensor) { kept_.push_back(std::move(tensor)); }
  // In the order of Graph::SavedOf.
  std::span<const Tensor> KeptBy(OperationId operation) const;
  void Release(OperationId operation);

  // The value has lost its last name.
  void LoseOutput(ValueId value);

 private:
  struct Entry {
    bool exists = false;
    int32_t references = 0;  // outputs with a name, and later records
  };
  void Drop(OperationId operation);
  std::vector<OperationId> MakersOfInputs(OperationId operation) const;

  Graph* graph_;
  std::vector<Entry> entries_;      // by operation
  std::vector<OperationId> maker_;  // by value
  std::vector<Tensor> kept_;        // by Graph::saved
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_TAPE_H_
