// One step of a model as a job states it: sizes, precision, kernels, what
// trains and with which optimizer. Plain settings under the recorder's words.
//
// Recordings state one (tools/pytorch/record.py lists the keys); the command
// line makes one from its flags.
#ifndef FORETELL_SPEC_STEP_CASE_H_
#define FORETELL_SPEC_STEP_CASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace foretell {

// Train: forward, loss, backward, optimizer. Forward: logits of all positions
// under no_grad. Prefill: the same with a cache, logits of the last position.
// Decode: one token against a cache of `sequence` tokens.
enum class StepMode : uint8_t { kTrain, kForward, kPrefill, kDecode };

struct StepInput {
  std::string name;  // "input_ids", "labels", "attention_mask"
  DType dtype = DType::kInt64;
  Shape shape;
};

// Low-rank adapters as peft 0.21 makes them.
struct LoraSettings {
  int64_t rank = 8;
  double alpha = 16;
  double dropout = 0;
  std::vector<std::string> targets;  // module names; "all-linear" alone
  bool float32 = true;               // adapters of half-precision models
  // Weight-decomposed (DoRA): a trained magnitude of each output, and the norm
  // of the whole adapted weight in every forward.
  bool dora = false;
  bool rank_stabilized = false;  // rsLoRA: alpha over the rank's square root
  // peft's modules_to_save: names of modules of which a copy trains as it is.
  std::vector<std::string> saved = {};
};

// What a checkpointed block does not run again.
enum class CheckpointKind : uint8_t {
  kFull,           // nothing: all of it runs again
  kByOperator,     // what torchtitan's choice of operators gave
  kOnlyAttention,  // all but attention's scores, as Megatron's selective
};

// In the order of the recorder's keys, not of sizes: one is made for a step.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct StepCase {
  StepMode mode = StepMode::kTrain;
  int64_t batch = 1;
  int64_t sequence = 128;
  int64_t target = 0;  // the decoder's length; 0: as the sequence
  // Stated shapes of what goes in; worked out from the class where empty.
  std::vector<StepInput> inputs;
  // How it is divided among cards ("fsdp2"); empty: one card. Figures of a
  // divided step are one rank's (spec/rank_case.h).
  std::string sharding;
  bool mask = false;              // a full attention mask is passed
  DType dtype = DType::kFloat32;  // of the parameters
  std::optional<DType> autocast;
  // "eager", "sdpa", "flash2", "flash3"
  std::string attention = "sdpa";
  std::string experts = "grouped_mm";  // "grouped_mm", "eager"
  bool checkpoint = false;             // blocks, non-reentrant
  int64_t checkpoint_every = 1;        // of so many blocks the last
  CheckpointKind checkpoint_kind = CheckpointKind::kFull;
  std::optional<LoraSettings> lora;
  std::vector<std::string> frozen;  // prefixes of parameter names
  std::string optimizer = "adamw_fused";
  // The forward and the loss of kTrain alone, in eval() and under no_grad.
  bool evaluates = false;
  bool first_step = false;  // the one that makes the optimizer's states
  // The training loop holds what the forward returns, logits included, until
  // the backward has run; else it holds the loss alone.
  bool holds_output = true;
  // Micro-batches whose gradients are added up before the optimizer's step; the
  // last of them is the one that is meant.
  int64_t accumulate = 1;
  int capability = 90;  // ten times the card's major number plus the minor
  std::string transformers = "5.23";
  std::string torch = "2.15";
};

// Attention by flash-attention's own kernels.
inline bool IsFlash(const StepCase& step) {
  return step.attention == "flash2" || step.attention == "flash3";
}

}  // namespace foretell

#endif  // FORETELL_SPEC_STEP_CASE_H_
