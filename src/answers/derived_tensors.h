// Every tensor of a model's state_dict, one by one: parameters, persistent
// buffers, and the names that ties give.
//
// In: a built graph. Out: tensors in the order of parameters, then buffers;
// those that share a storage have the same `storage`.
#ifndef FORETELL_ANSWERS_DERIVED_TENSORS_H_
#define FORETELL_ANSWERS_DERIVED_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/graph.h"

namespace foretell {

struct DerivedTensor {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  uint32_t storage = 0;
  bool is_buffer = false;
};

std::vector<DerivedTensor> DerivedTensors(const Graph& graph);

// A name without its indices ("model.layers.#.norm.weight"), and they.
struct IndexedName {
  std::string name;
  std::vector<int64_t> indices;
};
IndexedName WithoutIndices(const std::string& name);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_DERIVED_TENSORS_H_
