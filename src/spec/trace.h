// The operators that PyTorch executed in one step: a recorded trace.
//
// Made by tools/pytorch/record.py (`trace`); tests compare the graph of a
// forward with it, operator by operator.
#ifndef FORETELL_SPEC_TRACE_H_
#define FORETELL_SPEC_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "spec/model_config.h"
#include "spec/recording.h"
#include "spec/step_case.h"

namespace foretell {

struct TraceTensor {
  int64_t storage = 0;  // equal numbers share a storage
  DType dtype = DType::kFloat32;
  Shape shape;
};

struct TraceOperation {
  int64_t line = 0;    // in the file, from 1
  std::string phase;   // "forward", "backward", "optimizer"
  std::string module;  // "model.layers.0.self_attn"; empty for the root
  std::string name;    // "aten.mm.default"
  std::vector<TraceTensor> inputs;  // also those in lists, in order
  std::vector<TraceTensor> outputs;
  int64_t flops = 0;           // as torch.utils.flop_counter counts
  std::vector<int64_t> freed;  // storages that died since the one before
};

struct Trace {
  std::string config;      // label of the configuration
  std::string class_name;  // that was built
  StepCase step;
  // Of grouped matrix products, which the counter leaves out of `flops`.
  int64_t grouped_forward_flops = 0;
  int64_t grouped_backward_flops = 0;
  // A number of layers and the like, cut before the file was read.
  std::vector<Override> shallow;
  std::vector<Override> edits;      // see Recording
  std::vector<Override> overrides;  // see Recording
  std::string asked_class;          // may be empty
  std::vector<TraceOperation> operations;
};

// A trace with the configuration that it names.
struct TraceCase {
  std::string source;
  Trace trace;
  std::optional<ModelConfig> config;  // nothing of the case is applied to it
  std::string no_config;              // why there is none
};

}  // namespace foretell

#endif  // FORETELL_SPEC_TRACE_H_
