// A training job as plain settings: one step of a model on each card, how the
// model is held there, and how the work is divided among cards.
//
// The command line makes one from its flags, a scorer from a record's
// settings. Sizes are of one micro-batch of one card.
#ifndef FORETELL_SPEC_TRAINING_JOB_H_
#define FORETELL_SPEC_TRAINING_JOB_H_

#include <cstdint>
#include <optional>
#include <string>

#include "spec/step_case.h"

namespace foretell {

enum class WeightFormat : uint8_t {
  kNone,  // in the parameters' dtype
  kNf4,   // bitsandbytes, and fp4, which takes the same bytes
  kInt8,  // bitsandbytes LLM.int8()
  kGptq4,
};

// How parameters, gradients and states are divided among the cards.
enum class Sharding : uint8_t {
  kNone,   // one card, or each for itself
  kDdp,    // whole copies
  kZero1,  // states divided
  kZero2,  // and gradients
  kZero3,  // and parameters, gathered for use
  kFsdp1,  // flat parameters
  kFsdp2,  // parameter by parameter
};

enum class LossKind : uint8_t {
  kLibrary,  // as the class computes it
  // One kernel over the logits, which are written once and turned into their
  // gradient in place.
  kFused,
  // The head and the loss together, some tokens at a time: no logits of all.
  kChunked,
};

enum class Offload : uint8_t {
  kNone,
  kOptimizer,
  kParameters,   // and the optimizer
  kActivations,  // what autograd keeps, fetched as the backward asks for it
};

// Losses over pairs of answers, as trl 1.16 computes them.
enum class Preference : uint8_t {
  kNone,
  kDpo,    // pairs in one batch, log-probabilities in chunks, a reference
  kKto,    // single answers, a reference, and a forward of mismatched ones
  kOrpo,   // pairs, all logits, no reference
  kSimpo,  // the same
};

// What a preference loss compares with.
enum class Reference : uint8_t {
  kModel,        // another copy of the model
  kAdapterOff,   // the model itself without its adapters
  kPrecomputed,  // log-probabilities that were computed before
};

// Whose kernels stand for the library's norms, MLPs and rotary embeddings.
enum class FusedKernels : uint8_t { kNone, kLiger, kUnsloth };

enum class Fp8 : uint8_t {
  kNone,
  kTransformerEngine,  // what a linear layer keeps is fp8
  kTorchao,            // products in fp8 of what stays in half precision
};

struct TrainingJob {
  StepCase step;  // its optimizer is one that `passes/optimizer` writes
  // The optimizer's name where it is another's (engines/pytorch/
  // optimizer_memory.h); then the step has none.
  std::string optimizer;
  WeightFormat weights = WeightFormat::kNone;
  bool double_quant = true;  // of kNf4: the scales are quantized too
  // Experts are linear layers of their own, as transformers 4 has them, so that
  // they are packed too; transformers 5 stacks them in one tensor.
  bool experts_are_linear = false;
  // peft's prepare_model_for_kbit_training: what is not quantized is float32.
  bool prepared_float32 = false;
  // A float32 copy of every parameter that trains, beside half precision.
  bool master_weights = false;
  LossKind loss = LossKind::kLibrary;
  int64_t accumulate = 1;  // micro-steps before the optimizer's
  Sharding sharding = Sharding::kNone;
  int64_t gpus = 1;
  // Of kFsdp1 and kFsdp2: what a rank holds of parameters, gradients and states
  // is float32, and the step runs in the step's dtype (MixedPrecision).
  bool float32_shares = false;
  // Of FSDP: gradients are reduced in this dtype; where absent, in the step's.
  std::optional<DType> reduce_dtype;
  // Of FSDP and DDP, with accumulation: each micro-step's gradients are reduced
  // at once. Else only the last's (no_sync), and a rank holds whole ones.
  bool reduces_each = true;
  // Of FSDP 1: the next block is gathered as the backward of one begins.
  bool prefetches = true;
  // Of FSDP: units beside the blocks, for the embedding and for norm and head.
  bool has_end_units = false;
  // Of FSDP 1 with adapters: what is frozen is flattened apart from what
  // trains; else both are one, and so is the whole gradient.
  bool frozen_apart = true;
  Offload offload = Offload::kNone;
  Preference preference = Preference::kNone;
  Reference reference = Reference::kModel;  // of kDpo and kKto
  FusedKernels kernels = FusedKernels::kNone;
  Fp8 fp8 = Fp8::kNone;
  bool compiled = false;  // torch.compile: an estimate
  // Each gradient is used, and let go, as soon as the backward has made it.
  bool optimizer_in_backward = false;
  // A batch is one row of so many samples, of this mean length; else each
  // sample has the step's length, padded or packed.
  bool padding_free = false;
  int64_t mean_sequence = 0;
  // Processes that load data, and the batches that each makes ahead.
  int64_t workers = 0;
  int64_t prefetch = 2;
  // Sequences of an evaluation's batch, 0: as in training; and of how many
  // batches the logits stay on the card, 0: of none.
  int64_t eval_batch = 0;
  int64_t eval_batches = 0;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_TRAINING_JOB_H_
