// A family's forward against the operators that PyTorch executed.
//
// Compared, operator by operator: its name, the module it runs in, every
// tensor that goes in and comes out (dtype, extents, and which tensors share a
// storage, up to the numbers that storages go by), and its FLOPs. Then, of
// every storage that dies while the forward runs, between which operators it
// does: that is what names hold it, and so what memory it costs.
#ifndef FORETELL_TESTS_TRUTH_FORWARD_COMPARISON_H_
#define FORETELL_TESTS_TRUTH_FORWARD_COMPARISON_H_

#include <string>

#include "spec/model_config.h"
#include "spec/trace.h"

namespace foretell {

// Builds the model of the trace's case from `config` and writes its forward.
// Empty where all operators agree, else the first that does not, as both sides
// have it, or why there is no forward.
std::string CompareForward(const Trace& trace, ModelConfig config);

}  // namespace foretell

#endif  // FORETELL_TESTS_TRUTH_FORWARD_COMPARISON_H_
