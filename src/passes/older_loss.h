// The loss of causal language models as transformers computed it before 4.49.
//
// In: a compiled graph, which follows a newer version, and its logits.
// Changed: the bytes of storages as large as the logits. Out: by operation,
// what lives beside while it runs.
//
//   to 4.48   the logits are shifted, which copies them, where later the
//             labels are; the copy lives as the log-softmax is made
//   to 4.45   the logits' float32 copy has taken their name by then
//   to 4.48   older classes compute the loss in the logits' own dtype
//             (`in_own_dtype`): the copy, the log-softmax and its gradient
//             have it, unless autocast computes the loss in float32
// Source: transformers 4.44 to 4.50, loss/loss_utils.py (ForCausalLMLoss) and
// models/*/modeling_*.py.
#ifndef FORETELL_PASSES_OLDER_LOSS_H_
#define FORETELL_PASSES_OLDER_LOSS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/library.h"
#include "graph/graph.h"
#include "passes/logits.h"
#include "spec/training_job.h"

namespace foretell {

// Of a model type, until 4.48.
bool LossIsInOwnDtype(std::string_view model_type);

// Nothing changes for a version from 4.49 on.
std::vector<int64_t> AgeLoss(Graph& graph, const Logits& logits,
                             LibraryVersion version, bool in_own_dtype,
                             bool autocast);

}  // namespace foretell

#endif  // FORETELL_PASSES_OLDER_LOSS_H_
