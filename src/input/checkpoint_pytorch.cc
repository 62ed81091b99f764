#include "input/checkpoint_pytorch.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/figure.h"
#include "input/byte_window.h"
#include "input/checkpoint_limits.h"
#include "input/memory_bytes.h"
#include "input/pickle.h"
#include "input/zip_directory.h"

namespace foretell {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kSave =
    "save its weights again: torch.save(model.state_dict(), FILE), or as "
    "safetensors";

struct StoragePlace {
  int64_t offset = 0;  // of all storages, end to end
  int64_t bytes = 0;
};
using Storages = std::unordered_map<std::string, StoragePlace>;

// Walks from the top to every tensor. A pickle may share a value among many
// places, so that steps are counted and not values.
class TensorWalk {
 public:
  TensorWalk(const Pickle& pickle, const Storages& storages,
             const ByteWindow& window, PyTorchHeader& out)
      : pickle_(pickle),
        storages_(storages),
        window_(window),
        out_(out),
        is_barren_(pickle.values.size()),
        most_steps_(static_cast<int64_t>(pickle.values.size()) *
                        kStepsOfAValue +
                    kFreeSteps) {}

  void Walk(int32_t index, const std::string& name, int depth) {
    if (++steps_ > most_steps_ || depth > kMostDepth) {
      window_.FailAt(ShownName(name),
                     "is one of too many values, or too deep among them",
                     std::string(kSave));
    }
    const PickleValue& value = pickle_[index];
    // What held no tensor once holds none in another place.
    if (is_barren_[static_cast<size_t>(index)]) return;
    const size_t before = out_.tensors.size();
    switch (value.kind) {
      case Kind::kTensor:
        Add(value, name);
        return;
      case Kind::kDict:
        for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
          Step(value.items[i + 1], name, KeyOf(pickle_[value.items[i]]), depth);
        }
        break;
      case Kind::kList:
        for (size_t i = 0; i < value.items.size(); ++i) {
          Step(value.items[i], name, std::to_string(i), depth);
        }
        break;
      default:
        break;
    }
    is_barren_[static_cast<size_t>(index)] = out_.tensors.size() == before;
  }

 private:
  // A tensor's name has at most as many parts as its module is deep.
  static constexpr int kMostDepth = 32;
  // A tree has as many steps as values; one value may be shared by some.
  static constexpr int64_t kStepsOfAValue = 8;
  static constexpr int64_t kFreeSteps = 1000;

  static std::string KeyOf(const PickleValue& key) {
    if (key.kind == Kind::kText) return key.text;
    if (key.kind == Kind::kWhole) return std::to_string(key.whole);
    return "?";
  }

  void Step(int32_t index, const std::string& name, const std::string& key,
            int depth) {
    const Kind kind = pickle_[index].kind;
    if (kind != Kind::kTensor && kind != Kind::kDict && kind != Kind::kList) {
      ++steps_;
      return;
    }
    const std::string full = name.empty() ? key : name + "." + key;
    if (static_cast<int64_t>(full.size()) > kMostNameBytes) {
      window_.FailAt(ShownName(full), "is too long for a name",
                     std::string(kSave));
    }
    Walk(index, full, depth + 1);
  }

  void Add(const PickleValue& value, const std::string& name) {
    const PickleValue& storage = pickle_[value.items[0]];
    const auto place = storages_.find(storage.text);
    const int64_t held = storage.whole * TorchElementBytes(storage.dtype);
    const std::string key = "tensor " + ShownName(name);
    if (place == storages_.end()) {
      window_.FailAt(key,
                     "lies in storage " + ShownName(storage.text) +
                         ", which the file lacks",
                     std::string(kSave));
    }
    if (place->second.bytes != held) {
      window_.FailAt(key,
                     fmt::format("lies in storage {}, which has {} bytes and "
                                 "not {}",
                                 ShownName(storage.text),
                                 WithSeparators(place->second.bytes),
                                 WithSeparators(held)),
                     std::string(kSave));
    }
    StoredTensor tensor;
    tensor.name = name;
    tensor.dtype = value.dtype;
    tensor.shape.assign(value.numbers.begin() + 1, value.numbers.end());
    const int64_t width = TorchElementBytes(value.dtype);
    std::optional<int64_t> bytes = width;
    for (const int64_t extent : tensor.shape) {
      if (bytes) bytes = CheckedMul(*bytes, extent);
    }
    // Expanded tensors (stride 0) repeat the elements of their storage.
    if (!bytes) {
      window_.FailAt(key, "has more elements than can be counted",
                     std::string(kSave));
    }
    tensor.bytes = *bytes;
    tensor.offset = place->second.offset + value.numbers[0] * width;
    if (static_cast<int64_t>(out_.tensors.size()) >= kMostTensors) {
      window_.FailAt(key, "is one of too many tensors", std::string(kSave));
    }
    out_.tensors.push_back(std::move(tensor));
  }

  const Pickle& pickle_;
  const Storages& storages_;
  const ByteWindow& window_;
  PyTorchHeader& out_;
  std::vector<bool> is_barren_;
  int64_t most_steps_;
  int64_t steps_ = 0;
};

// "archive/data.pkl" and "archive/data/0": the folder has the file's name.
PyTorchHeader ReadZip(ByteWindow& window) {
  ZipFile zip(window);
  std::optional<size_t> pickle_index;
  std::string folder;
  for (size_t i = 0; i < zip.entries().size(); ++i) {
    const std::string_view name = zip.entries()[i].name;
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view rest = name.substr(slash + 1);
    if (rest == "data.pkl" && !pickle_index) {
      pickle_index = i;
      folder = name.substr(0, slash + 1);
    }
    if (rest == "constants.pkl" || rest.starts_with("code/")) {
      window.FailAt(ShownName(name), "is part of TorchScript, a program",
                    std::string(kSave));
    }
  }
  if (!pickle_index) {
    window.FailAt("zip directory", "holds no data.pkl, as torch.save writes it",
                  "pass a file that torch.save wrote");
  }
  PyTorchHeader out;
  Storages storages;
  const std::string data = folder + "data/";
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.starts_with(data)) continue;
    // deflate never packs better than 1032 to 1 (zlib, Maximum Compression
    // Factor); torch does not compress at all.
    if (entry.is_stored ? entry.packed != entry.bytes
                        : entry.bytes / 1032 > entry.packed) {
      window.FailAt(ShownName(entry.name),
                    fmt::format("claims {} bytes in {} packed ones",
                                WithSeparators(entry.bytes),
                                WithSeparators(entry.packed)),
                    std::string(kSave));
    }
    const auto end = CheckedAdd(out.storage_bytes, entry.bytes);
    if (!end) {
      window.FailAt(ShownName(entry.name), "claims too many bytes",
                    std::string(kSave));
    }
    storages[entry.name.substr(data.size())] = {out.storage_bytes, entry.bytes};
    out.storage_bytes = *end;
  }
  MemoryBytes bytes(
      window.name() + ":" + ShownName(zip.entries()[*pickle_index].name),
      zip.Unpack(*pickle_index, kMostPickleBytes));
  ByteWindow inner(bytes);
  const Pickle pickle = ReadPickle(inner, 0);
  TensorWalk(pickle, storages, window, out).Walk(pickle.root, "", 0);
  return out;
}

// torch/serialization.py, MAGIC_NUMBER = 0x1950a86a20f9469cfc6c, as a pickle
// holds it.
constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
                                  10);

// Five pickles (magic, version, what machine, the object, the keys of its
// storages), then each storage: its number of elements and their bytes.
PyTorchHeader ReadLegacy(ByteWindow& window) {
  const Pickle magic = ReadPickle(window, 0);
  if (magic[magic.root].kind != Kind::kBig ||
      magic[magic.root].text != kMagic) {
    window.Fail(0, "is a pickle that torch.save did not write",
                "pass a file that torch.save wrote");
  }
  const Pickle version = ReadPickle(window, magic.end);
  const Pickle machine = ReadPickle(window, version.end);
  const Pickle object = ReadPickle(window, machine.end);
  const Pickle keys = ReadPickle(window, object.end);
  std::unordered_map<std::string_view, const PickleValue*> named;
  for (const PickleValue& value : object.values) {
    if (value.kind == Kind::kStorage) named.emplace(value.text, &value);
  }
  PyTorchHeader out;
  out.is_legacy = true;
  Storages storages;
  for (const int32_t index : keys[keys.root].items) {
    const auto found = named.find(keys[index].text);
    if (found == named.end()) continue;
    const int64_t bytes = found->second->whole;
    const auto all = CheckedMul(bytes, TorchElementBytes(found->second->dtype));
    const auto end = all ? CheckedAdd(out.storage_bytes, *all) : std::nullopt;
    window.CheckRange(keys.end, end.value_or(-1), "its storages");
    storages[std::string(found->first)] = {out.storage_bytes, *all};
    out.storage_bytes = *end;
  }
  TensorWalk(object, storages, window, out).Walk(object.root, "", 0);
  return out;
}

}  // namespace

PyTorchHeader ReadPyTorchHeader(ByteSource& source) {
  ByteWindow window(source);
  const std::string start(
      window.At(0, std::min<int64_t>(window.size(), 512), "the file"));
  if (start.starts_with("PK")) return ReadZip(window);
  if (start.starts_with("\x80")) return ReadLegacy(window);
  // A tar file has its mark at byte 257.
  const bool is_tar = start.size() > 262 && start.substr(257, 5) == "ustar";
  window.Fail(0,
              is_tar ? "is a tar file, as torch wrote before 0.1.10"
                     : "is no file that torch.save wrote",
              is_tar ? "load it with an old torch and save it again"
                     : "pass a file that torch.save wrote");
}

}  // namespace foretell
