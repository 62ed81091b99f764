// The names that a pickle of torch.save may use, and what they stand for.
//
// Source: torch 2.15, torch/_utils.py, torch/storage.py and
// torch/_weights_only_unpickler.py (_get_allowed_globals).
#ifndef FORETELL_INPUT_PICKLE_NAMES_H_
#define FORETELL_INPUT_PICKLE_NAMES_H_

#include <cstdint>
#include <string_view>

namespace foretell {

enum class PickleName : uint8_t {
  kRefused,
  kDict,             // collections.OrderedDict
  kTensor,           // (storage, offset, size, stride, …)
  kTensorWithDtype,  // (storage, offset, size, stride, grad, hooks, dtype, …)
  kParameter,        // (tensor, …): the tensor
  kSize,             // (tuple): the tuple
  kStorage,          // a class of storages, never called
  kDtype,            // torch.bfloat16, never called
  kOpaque,           // makes what is of no use here
};

struct PickleNameRow {
  std::string_view name;  // "torch._utils._rebuild_tensor_v2"
  PickleName meaning = PickleName::kRefused;
  std::string_view dtype = {};  // of a storage or a dtype
  int64_t bytes = 0;            // of its elements
};

// Of "module.name"; a row that refuses where it is none of them.
PickleNameRow PickleNameOf(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_INPUT_PICKLE_NAMES_H_
