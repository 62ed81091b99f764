// Which storages of a compiled step are as large as its logits: the head's
// product, its copies, its softmax and their gradients.
//
// In: a graph and the tokens of its batch. Out: the head's sizes and those
// storages in the order in which operations make them; none where the graph
// has no head that makes logits of every token.
#ifndef FORETELL_PASSES_LOGITS_H_
#define FORETELL_PASSES_LOGITS_H_

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "graph/graph.h"

namespace foretell {

struct LogitsStorage {
  StorageId storage;
  uint32_t operation = 0;  // that makes it
  DType dtype = DType::kFloat32;
};

struct Logits {
  int64_t tokens = 0;
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  bool head_trains = false;
  int64_t count() const { return tokens * vocabulary; }  // fits, where any
  std::vector<LogitsStorage> storages = {};
};

Logits FindLogits(const Graph& graph, int64_t tokens);

}  // namespace foretell

#endif  // FORETELL_PASSES_LOGITS_H_
