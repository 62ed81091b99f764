// A compiled step against the operators that PyTorch executed: the first that
// differs.
//
// Compared, operator by operator: its name, the module it runs in, every
// tensor that goes in and comes out (dtype, extents, and which tensors share a
// storage, up to the numbers that storages go by), and its FLOPs. Then, of
// every storage that dies while the step runs, between which operators it
// does: that is what names and autograd hold it, and so what memory it costs.
// As far as the trace goes: a forward alone, or with backward and optimizer.
#ifndef FORETELL_ANSWERS_COMPARE_TRACE_H_
#define FORETELL_ANSWERS_COMPARE_TRACE_H_

#include <string>

#include "spec/model_config.h"
#include "spec/trace.h"

namespace foretell {

// Builds the model of the trace's case from `config` and compiles its step.
// Empty where all operators agree, else the first that does not, as both sides
// have it, or why there is no step.
std::string CompareTrace(const Trace& trace, ModelConfig config);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_COMPARE_TRACE_H_
