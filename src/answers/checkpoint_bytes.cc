#include "answers/checkpoint_bytes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked.h"

namespace foretell {
namespace {

Count ElementsOf(const StoredTensor& tensor) {
  std::optional<int64_t> out = 1;
  for (const int64_t extent : tensor.shape) {
    if (out) out = CheckedMul(*out, extent);
  }
  return Count::Exact(out);
}

std::vector<LoaderMemory> LoadersOf(const Checkpoint& checkpoint,
                                    const CheckpointBytes& sums,
                                    const Bytes& largest_file) {
  const Bytes none = Bytes::Exact(0);
  switch (checkpoint.format) {
    case CheckpointFormat::kSafetensors:
      return {{"safetensors (safe_open, load_file)", none, sums.files,
               "maps each file, copies from there (safetensors 0.8, "
               "bindings/python/src/lib.rs)"}};
    case CheckpointFormat::kPyTorch:
      return {{"torch.load", largest_file, none,
               "reads every storage of a file; here the largest file's (torch "
               "2.15, serialization.py: _load)"},
              {"torch.load, mmap=True", none, sums.files,
               "maps each zip file (torch 2.15, serialization.py: load)"}};
    case CheckpointFormat::kGguf:
      return {{"llama.cpp", none, sums.files,
               "maps each file (src/llama-model-loader.cpp: init_mappings)"},
              {"llama.cpp --no-mmap", sums.tensors, none,
               "reads what stays on the CPU, all of it with -ngl 0 "
               "(src/llama-model-loader.cpp: load_all_data)"}};
    case CheckpointFormat::kOnnx:
      break;
  }
  return {};
}

}  // namespace

CheckpointBytes SumCheckpoint(const Checkpoint& checkpoint) {
  CheckpointBytes out;
  for (const CheckpointFile& file : checkpoint.files) {
    out.files += file.bytes ? Bytes::Exact(*file.bytes)
                            : Bytes::Unknown("the size of " + file.name);
  }
  if (checkpoint.names_only) {
    const std::string why = "the files' headers: only the index is there";
    out.tensors = Bytes::Unknown(why);
    out.elements = Count::Unknown(why);
    return out;
  }
  std::map<std::string, StoredType> types;
  std::vector<Bytes> by_file(checkpoint.files.size());
  std::set<std::tuple<int32_t, int64_t, int64_t>> seen;
  const bool shares = checkpoint.format == CheckpointFormat::kPyTorch;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    if (shares &&
        !seen.emplace(tensor.file, tensor.offset, tensor.bytes).second) {
      continue;
    }
    StoredType& type = types[tensor.dtype];
    const Bytes bytes = Bytes::Exact(tensor.bytes);
    const Count elements = ElementsOf(tensor);
    ++type.tensors;
    type.bytes += bytes;
    type.elements += elements;
    out.tensors += bytes;
    out.elements += elements;
    by_file[static_cast<size_t>(tensor.file)] += bytes;
  }
  for (auto& [name, type] : types) {
    type.dtype = name;
    out.types.push_back(std::move(type));
  }
  std::ranges::stable_sort(
      out.types, [](const StoredType& a, const StoredType& b) {
        return a.bytes.any().value() > b.bytes.any().value();
      });
  Bytes largest;
  for (const Bytes& bytes : by_file) {
    if (bytes.any().value() > largest.any().value()) largest = bytes;
  }
  out.loaders = LoadersOf(checkpoint, out, largest);
  return out;
}

}  // namespace foretell
