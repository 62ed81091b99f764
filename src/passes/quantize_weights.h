// Linear layers whose weights are stored in few bits, as a compiled step holds
// them.
//
// In: a compiled graph, the job, and what a weight [rows, columns] takes when
// it is packed. Changed: the bytes of the weights' storages. Out: by operation,
// what is unpacked while it runs: bitsandbytes unpacks a whole weight for each
// product with it, in the forward and again in the backward; GPTQ's kernels
// unpack inside.
//
// Every linear layer is packed but the head of the logits and what trains.
// Parameters that no linear layer holds (experts stacked in one tensor) stay as
// they are, since the libraries replace linear layers only; unless the job says
// that its experts are linear layers, of which one at a time is unpacked.
// Source: transformers 5.23, quantizers/ (lm_head is left out).
#ifndef FORETELL_PASSES_QUANTIZE_WEIGHTS_H_
#define FORETELL_PASSES_QUANTIZE_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "spec/training_job.h"

namespace foretell {

struct PackedWeight {
  int64_t bytes = 0;   // 0: the format cannot hold such a size, which stays
  int64_t beside = 0;  // while an operation reads it
};
using PackWeight = std::function<PackedWeight(int64_t rows, int64_t columns)>;

struct QuantizedWeights {
  int64_t layers = 0;
  int64_t elements = 0;              // of the packed weights
  int64_t bytes = 0;                 // that they take now
  std::vector<int64_t> beside = {};  // by operation
};

QuantizedWeights QuantizeWeights(Graph& graph, const TrainingJob& job,
                                 const PackWeight& pack);

}  // namespace foretell

#endif  // FORETELL_PASSES_QUANTIZE_WEIGHTS_H_
