#include "input/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/figure.h"
#include "base/input_error.h"
#include "input/byte_window.h"
#include "input/checkpoint_gguf.h"
#include "input/checkpoint_index.h"
#include "input/checkpoint_limits.h"
#include "input/checkpoint_onnx.h"
#include "input/checkpoint_pytorch.h"
#include "input/checkpoint_safetensors.h"
#include "input/checkpoint_set.h"
#include "input/source_bytes.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

[[noreturn]] void Fail(std::string source, std::string what, std::string cure) {
  Place place;
  place.source = std::move(source);
  throw InputErrors({std::move(place), std::move(what), std::move(cure)});
}

CheckpointFormat FormatOf(ByteSource& source) {
  ByteWindow window(source);
  if (window.size() == 0) {
    Fail(window.name(), "is empty", "copy the file again");
  }
  const std::string start(
      window.At(0, std::min<int64_t>(window.size(), 300), "the file"));
  if (start.starts_with("GGUF")) return CheckpointFormat::kGguf;
  if (start.starts_with("version https://git-lfs")) {
    Fail(window.name(),
         "is a pointer of Git LFS and not the file that it stands for",
         "fetch it: git lfs pull");
  }
  if (start.starts_with("PK") || start.starts_with("\x80") ||
      (start.size() > 262 && start.substr(257, 5) == "ustar")) {
    return CheckpointFormat::kPyTorch;
  }
  if (start.size() > 8 && start[8] == '{') {
    return CheckpointFormat::kSafetensors;
  }
  if (window.name().ends_with(".onnx")) return CheckpointFormat::kOnnx;
  if (window.name().ends_with(".safetensors")) {
    return CheckpointFormat::kSafetensors;
  }
  if (start.starts_with("\x89HDF")) {
    Fail(window.name(), "is a HDF5 file, as Keras writes it",
         "pass the checkpoint as safetensors, GGUF, PyTorch or ONNX");
  }
  // ModelProto's first field is ir_version, a number: tag 8.
  if (start.starts_with('\x08')) return CheckpointFormat::kOnnx;
  Fail(window.name(), "is no checkpoint of a format that is known",
       "pass safetensors, GGUF, PyTorch or ONNX");
}

class Gatherer {
 public:
  explicit Gatherer(ByteFolder& folder) : folder_(folder) {}

  Checkpoint Take() {
    out_.source = folder_.name();
    return std::move(out_);
  }

  // Reads one file; its tensors and metadata join what was read before.
  void Add(const std::string& name) {
    const std::unique_ptr<ByteSource> source = folder_.Open(name);
    const CheckpointFormat format = FormatOf(*source);
    if (out_.files.empty()) {
      out_.format = format;
    } else if (format != out_.format) {
      Fail(source->name(),
           fmt::format("is {}, and the files before it are {}", NameOf(format),
                       NameOf(out_.format)),
           "put the files of one checkpoint alone into the folder");
    }
    const auto file = static_cast<int32_t>(out_.files.size());
    out_.files.push_back({name, source->size()});
    switch (format) {
      case CheckpointFormat::kSafetensors: {
        SafetensorsHeader header = ReadSafetensorsHeader(*source);
        Join(std::move(header.tensors), std::move(header.metadata), file);
        return;
      }
      case CheckpointFormat::kGguf:
        AddGguf(*source, file);
        return;
      case CheckpointFormat::kPyTorch:
        Join(ReadPyTorchHeader(*source).tensors, {}, file);
        return;
      case CheckpointFormat::kOnnx:
        AddOnnx(*source, file);
        return;
    }
  }

  void AddIndex(const std::string& name, const CheckpointIndex& index) {
    out_.index = name;
    out_.stated_bytes = index.stated_bytes;
    const std::vector<std::string> missing = MissingOf(index.files);
    if (missing.size() == index.files.size()) {
      TakeNames(index);
      return;
    }
    if (!missing.empty()) {
      Fail(JoinPath(folder_.name(), name),
           fmt::format("names {} files of which {} are not there: {}",
                       index.files.size(), missing.size(), Listed(missing)),
           "fetch the missing files");
    }
    for (const std::string& file : index.files) Add(file);
    CheckIndex(name, index);
  }

  // The same name in two files: which is loaded would be chance.
  void CheckNames() const {
    if (out_.files.size() < 2) return;
    std::unordered_map<std::string_view, int32_t> seen;
    seen.reserve(out_.tensors.size());
    for (const StoredTensor& tensor : out_.tensors) {
      const auto [at, is_new] = seen.emplace(tensor.name, tensor.file);
      if (is_new) continue;
      Fail(
          folder_.name(),
          fmt::format("holds {} twice: in {} and in {}", ShownName(tensor.name),
                      NameOfFile(at->second), NameOfFile(tensor.file)),
          "remove the file that does not belong to the checkpoint");
    }
  }

  void CheckGgufSet() const {
    if (out_.format != CheckpointFormat::kGguf) return;
    const auto files = static_cast<int64_t>(out_.files.size());
    if (split_.count != files ||
        split_.tensors != static_cast<int64_t>(out_.tensors.size())) {
      Fail(
          JoinPath(folder_.name(), NameOfFile(0)),
          fmt::format("says that the model has {} files and {} tensors; read "
                      "were {} files with {} tensors",
                      split_.count, split_.tensors, files, out_.tensors.size()),
          files == 1 && split_.count > 1
              ? "keep the names that gguf-split gave: "
                "NAME-00001-of-00003.gguf"
              : "fetch the files of one set again");
    }
  }

 private:
  static std::string Listed(const std::vector<std::string>& names) {
    constexpr size_t kMost = 3;
    const auto shown = static_cast<int64_t>(std::min(names.size(), kMost));
    std::string out = fmt::format(
        "{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (names.size() > kMost) {
      out += fmt::format(" and {} more", names.size() - kMost);
    }
    return out;
  }
  const std::string& NameOfFile(int32_t file) const {
    return out_.files[static_cast<size_t>(file)].name;
  }

  void Join(std::vector<StoredTensor> tensors,
            std::vector<CheckpointEntry> metadata, int32_t file) {
    if (static_cast<int64_t>(out_.tensors.size() + tensors.size()) >
        kMostTensors) {
      Fail(folder_.name(),
           "holds more than " + WithSeparators(kMostTensors) + " tensors",
           "pass the folder of one checkpoint");
    }
    for (StoredTensor& tensor : tensors) tensor.file = file;
    out_.tensors.insert(out_.tensors.end(),
                        std::make_move_iterator(tensors.begin()),
                        std::make_move_iterator(tensors.end()));
    // Every file of a set repeats what is said of the model.
    if (file == 0) out_.metadata = std::move(metadata);
  }

  void AddGguf(ByteSource& source, int32_t file) {
    GgufHeader header = ReadGgufHeader(source);
    if (header.split.index != file) {
      Fail(source.name(),
           fmt::format("says that it is file {} of its set, and its name says "
                       "{}",
                       header.split.index + 1, file + 1),
           "give the files the names that gguf-split gave them");
    }
    if (file == 0) split_ = header.split;
    if (header.split.count != split_.count) {
      Fail(source.name(),
           fmt::format("belongs to a set of {} files, the first to one of {}",
                       header.split.count, split_.count),
           "fetch the files of one set again");
    }
    Join(std::move(header.tensors), std::move(header.metadata), file);
  }

  void AddOnnx(ByteSource& source, int32_t file) {
    OnnxHeader header = ReadOnnxHeader(source);
    std::vector<std::optional<int64_t>> sizes;
    for (const std::string& name : header.beside) {
      if (!StaysInFolder(name)) {
        Fail(source.name(),
             "keeps weights in a file outside its folder: " + ShownName(name),
             "export the model again, with the weights beside it");
      }
      std::optional<int64_t> size;
      if (!MissingOf({name}).empty()) {
        out_.files.push_back({name, size});
        sizes.push_back(size);
        continue;
      }
      size = folder_.Open(name)->size();
      out_.files.push_back({name, size});
      sizes.push_back(size);
    }
    for (const StoredTensor& tensor : header.tensors) {
      if (tensor.file == 0) continue;
      const auto& size = sizes[static_cast<size_t>(tensor.file) - 1];
      const auto end = CheckedAdd(tensor.offset, tensor.bytes);
      if (size && (!end || *end > *size)) {
        Fail(source.name(),
             fmt::format("keeps {} in {}, behind the end of that file",
                         ShownName(tensor.name),
                         header.beside[static_cast<size_t>(tensor.file) - 1]),
             "fetch the file of weights again");
      }
    }
    std::vector<int32_t> files;
    for (StoredTensor& tensor : header.tensors) files.push_back(tensor.file);
    Join(std::move(header.tensors), std::move(header.metadata), file);
    for (size_t i = 0; i < files.size(); ++i) {
      out_.tensors[i].file = file + files[i];
    }
  }

  std::vector<std::string> MissingOf(const std::vector<std::string>& files) {
    std::vector<std::string> out;
    if (names_.empty()) names_ = folder_.Names();
    for (const std::string& file : files) {
      // What lies deeper is not listed: opening it tells.
      if (file.find('/') != std::string::npos) continue;
      if (!std::ranges::binary_search(names_, file)) out.push_back(file);
    }
    return out;
  }

  void TakeNames(const CheckpointIndex& index) {
    out_.names_only = true;
    out_.format = index.files.front().ends_with(".safetensors")
                      ? CheckpointFormat::kSafetensors
                      : CheckpointFormat::kPyTorch;
    for (const std::string& file : index.files) {
      out_.files.push_back({file, {}});
    }
    for (const auto& [name, file] : index.tensors) {
      StoredTensor tensor;
      tensor.name = name;
      tensor.file = file;
      out_.tensors.push_back(std::move(tensor));
    }
  }

  // Every tensor lies where the index says. One that lies in a file and is not
  // in the index is loaded all the same, since whole files are.
  void CheckIndex(const std::string& name, const CheckpointIndex& index) const {
    std::unordered_map<std::string_view, int32_t> places;
    places.reserve(out_.tensors.size());
    for (const StoredTensor& tensor : out_.tensors) {
      places.emplace(tensor.name, tensor.file);
    }
    for (const auto& [tensor, file] : index.tensors) {
      const auto found = places.find(tensor);
      if (found != places.end() && found->second == file) continue;
      Fail(JoinPath(folder_.name(), name),
           fmt::format("says that {} lies in {}, which does not hold it",
                       ShownName(tensor),
                       index.files[static_cast<size_t>(file)]),
           "fetch index and files of one revision");
    }
  }

  ByteFolder& folder_;
  Checkpoint out_;
  GgufSplit split_;
  std::vector<std::string> names_;
};

}  // namespace

Checkpoint ReadCheckpoint(ByteFolder& folder, const std::string& file) {
  Gatherer gatherer(folder);
  if (file.ends_with(".json")) {
    const std::unique_ptr<ByteSource> source = folder.Open(file);
    ByteWindow window(*source);
    const std::string text =
        window.Copy(0, window.size(), kMostIndexBytes, "the index");
    gatherer.AddIndex(file, ParseCheckpointIndex(text, source->name()));
  } else {
    for (const std::string& name : SetOf(file)) gatherer.Add(name);
    gatherer.CheckGgufSet();
  }
  gatherer.CheckNames();
  return gatherer.Take();
}

Checkpoint ReadCheckpoint(ByteFolder& folder) {
  const WeightsChoice choice = ChooseWeights(folder.Names());
  if (choice.file.empty()) Fail(folder.name(), choice.what, choice.cure);
  return ReadCheckpoint(folder, choice.file);
}

Checkpoint ReadCheckpointAt(const std::string& path) {
  if (KindOfPath(path) == PathKind::kFolder) {
    return ReadCheckpoint(*OpenDiskFolder(path));
  }
  Checkpoint out =
      ReadCheckpoint(*OpenDiskFolder(FolderOf(path)), LastNameOf(path));
  out.source = path;
  return out;
}

}  // namespace foretell
