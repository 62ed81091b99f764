// `foretell model X --against CHECKPOINT`: the tensors that a configuration
// derives beside those that a checkpoint's headers tell, name by name.
//
// In: a model that was read, and a checkpoint. Out: how many agree, and every
// difference: a tensor that is missing, one too many, another shape, another
// element type. Names go through the library's own renaming (StoredAs), through
// its prefixes, and for GGUF through llama.cpp's (GgufSpellings). Ties need one
// of their names. Where a quantization_config says how weights are packed, what
// takes the place of each is compared by name, shape and element type
// (PackedPlan); else packed weights count as what they stand for where their
// bits add up. Scales and zero points are named, not counted as surplus.
//
// What a checkpoint holds beyond its class and is known to (layers that predict
// further tokens, old buffers) is explained and is no difference.
//
// Element types of a GGUF file are its own choice and are not compared, nor are
// those of buffers: casting a model casts them, building it in a dtype does
// not.
#ifndef FORETELL_ANSWERS_AGAINST_H_
#define FORETELL_ANSWERS_AGAINST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answers/read_model.h"
#include "spec/checkpoint.h"
#include "spec/model_config.h"

namespace foretell {

enum class DifferenceKind : uint8_t { kMissing, kSurplus, kShape, kDtype };
std::string_view NameOf(DifferenceKind kind);  // "missing", "surplus", …

// Tensors that differ alike and whose names differ only in indices.
struct TensorDifference {
  DifferenceKind kind = DifferenceKind::kMissing;
  std::string name;     // "model.layers.#.mlp.up_proj.weight", as stored
  std::string indices;  // "0-35"
  int64_t count = 1;
  std::string derived;  // "[2048, 768] BF16"; empty of a surplus one
  std::string stored;   // empty of a missing one
};

// Tensors of the file that no parameter is, and why they are there.
struct ExplainedTensors {
  std::string what;
  int64_t count = 0;
  int64_t bytes = 0;
};

struct AgainstAnswer {
  std::string names;  // how names were compared
  // Why nothing was compared; empty where it was.
  std::string cannot_tell;
  int64_t derived = 0;  // tensors of the model, ties once
  int64_t stored = 0;   // tensors of the checkpoint
  int64_t equal = 0;    // stored tensors that are as derived
  int64_t packed = 0;   // weights that are stored packed
  std::vector<TensorDifference> differences;  // in the order of kinds
  std::vector<ExplainedTensors> explained;

  int64_t CountOf(DifferenceKind kind) const;
  bool Differs() const { return !differences.empty(); }
};

AgainstAnswer CompareWithCheckpoint(const ModelConfig& config,
                                    const ReadModel& model,
                                    const Checkpoint& checkpoint);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_AGAINST_H_
