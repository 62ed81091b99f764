// The part of `foretell model` that a checkpoint answers: its bytes, and
// whether its tensors are those that the configuration derives.
//
// In: a checkpoint's headers, and the model where there is one. Out: sums, the
// comparison, and a finding: one that blocks where the comparison was asked
// for (--against) and something differs, a warning where the checkpoint merely
// lies beside the configuration.
#ifndef FORETELL_ANSWERS_MODEL_CHECKPOINT_H_
#define FORETELL_ANSWERS_MODEL_CHECKPOINT_H_

#include <optional>
#include <string>
#include <vector>

#include "answers/against.h"
#include "answers/checkpoint_bytes.h"
#include "base/finding.h"
#include "spec/checkpoint.h"

namespace foretell {

struct ModelCheckpoint {
  std::string source;
  std::string format;  // "safetensors", "GGUF", …
  int64_t files = 0;
  int64_t tensors = 0;
  std::string index;
  std::optional<int64_t> stated_bytes;
  CheckpointBytes bytes;
  std::optional<AgainstAnswer> against;
};

// The rule that the finding stands under.
inline constexpr std::string_view kCheckpointRule = "model/checkpoint";

ModelCheckpoint DescribeCheckpoint(const Checkpoint& checkpoint);

// Nothing where all agree, or where nothing could be compared.
std::optional<Finding> CheckpointFinding(const ModelCheckpoint& checkpoint,
                                         bool is_asked);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_MODEL_CHECKPOINT_H_
