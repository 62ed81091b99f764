// The operators that PyTorch executed in one step: a recorded trace.
//
// Made by tools/pytorch/record.py (`trace`); tests compare the graph of a
// forward with it, operator by operator.
#ifndef FORETELL_SPEC_TRACE_H_
#define FORETELL_SPEC_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "spec/recording.h"

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

struct TraceInput {
  std::string name;  // "input_ids", "labels"
  DType dtype = DType::kInt64;
  Shape shape;
};

struct Trace {
  std::string config;      // label of the configuration
  std::string class_name;  // that was built
  int64_t batch = 1;
  int64_t sequence = 1;
  int64_t target = 0;  // the decoder's length; 0: as the sequence
  DType dtype = DType::kFloat32;
  std::string attention;  // "eager" or "sdpa"
  std::string mode;       // "train", "forward", …
  std::vector<TraceInput> inputs;
  // Of grouped matrix products, which the counter leaves out of `flops`.
  int64_t grouped_forward_flops = 0;
  // A number of layers and the like, cut before the file was read.
  std::vector<Override> shallow;
  std::vector<Override> edits;      // see Recording
  std::vector<Override> overrides;  // see Recording
  std::string asked_class;          // may be empty
  std::vector<TraceOperation> operations;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_TRACE_H_
