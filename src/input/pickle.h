// Reads what torch.save has pickled, and executes nothing.
//
// A pickle is a program for a stack machine that may call any function of
// Python. This machine knows the operations that build numbers, texts, tuples,
// lists and dictionaries, and a fixed list of names that stand for tensors
// (torch._utils._rebuild_tensor_v2, its storages, OrderedDict, …): calling one
// of those makes a value here. Any other operation or name is refused with the
// byte where it stands.
//
// In: bytes from an offset on. Out: a tree of values; `end` is the first byte
// behind it. Values are shared where the pickle shares them, so that a tree
// may hold a value at many places: whoever walks it counts its steps.
//
// Bounded: the number of values, the length of a text, the depth of the stack.
// Source: Python 3.13, Lib/pickle.py and pickletools.py; torch 2.15,
// torch/_utils.py (_rebuild_*), torch/serialization.py (persistent_id),
// torch/_weights_only_unpickler.py, which keeps such a list of its own.
//
// Throws InputErrors.
#ifndef FORETELL_INPUT_PICKLE_H_
#define FORETELL_INPUT_PICKLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_window.h"

namespace foretell {

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,     // whole
    kWhole,    // whole
    kBig,      // text: little-endian bytes of a whole number past 64 bits
    kReal,     // not kept
    kText,     // text
    kBytes,    // text
    kList,     // items: a list, a tuple or a set
    kDict,     // items: key, value, key, value, …
    kName,     // text: "torch.FloatStorage"
    kStorage,  // text: its key; whole: its elements; dtype
    kTensor,   // items: [storage]; numbers: offset, shape; dtype
    kOpaque,   // a value of no use here: a hook, a device
  };
  Kind kind = Kind::kNone;
  std::string text = {};
  std::string dtype = {};  // "bfloat16"; "uint8" for untyped storages
  int64_t whole = 0;
  std::vector<int32_t> items = {};  // indices of values
  std::vector<int64_t> numbers =
      {};  // of a tensor: offset in elements, then shape
};

struct Pickle {
  // Does not move its values as it grows.
  std::deque<PickleValue> values;
  int32_t root = 0;
  int64_t end = 0;  // the first byte behind it

  const PickleValue& operator[](int32_t index) const {
    return values[static_cast<size_t>(index)];
  }
};

Pickle ReadPickle(ByteWindow& window, int64_t offset);

// Bytes of an element of "float32", "bool", …; 0 for another name.
int64_t TorchElementBytes(std::string_view dtype);

}  // namespace foretell

#endif  // FORETELL_INPUT_PICKLE_H_
