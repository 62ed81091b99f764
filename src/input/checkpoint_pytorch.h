// The tensors of a file that torch.save wrote, read from its pickle, which is
// not executed (input/pickle.h), and the sizes of its storages.
//
// In: a source of bytes: the zip file that torch writes since 1.6, or the
// pickles one behind another that it wrote before. Out: every tensor that is
// reached through dictionaries and lists from the top, its name the keys joined
// by dots, in the order of the dictionaries. A file that holds more than
// weights (an optimizer's state) gives those tensors too.
//
// Refused: TorchScript, a tar of torch before 0.1.10, an operation or name that
// tensors are not made of, a storage that is missing or has other bytes than
// its tensors say.
// Source: torch 2.15, torch/serialization.py (_save, _legacy_save,
// _legacy_load), caffe2/serialize/inline_container.cc.
//
// Throws InputErrors.
#ifndef FORETELL_INPUT_CHECKPOINT_PYTORCH_H_
#define FORETELL_INPUT_CHECKPOINT_PYTORCH_H_

#include <vector>

#include "input/byte_source.h"
#include "spec/checkpoint.h"

namespace foretell {

struct PyTorchHeader {
  std::vector<StoredTensor> tensors;  // `file` is 0
  int64_t storage_bytes = 0;          // of all storages in the file
  bool is_legacy = false;
};

PyTorchHeader ReadPyTorchHeader(ByteSource& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_PYTORCH_H_
