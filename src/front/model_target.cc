#include "front/model_target.h"

#include <fmt/format.h>

#include "base/input_error.h"
#include "input/checkpoint.h"
#include "input/checkpoint_set.h"
#include "input/gguf_config.h"
#include "input/model_config_source.h"
#include "input/other_file.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

bool HasWeights(const std::string& folder) {
  return !ChooseWeights(NamesInFolder(folder)).file.empty();
}

// The configuration that belongs to a file of weights.
void FindConfig(const std::string& folder, ModelTarget& out) {
  const Checkpoint& checkpoint = *out.checkpoint;
  if (checkpoint.format == CheckpointFormat::kGguf) {
    out.config = ConfigOfGguf(checkpoint);
    if (out.config) return;
    out.no_config = fmt::format(
        "the metadata of architecture {} is not read as a configuration",
        GgufArchitecture(checkpoint).empty() ? "(none)"
                                             : GgufArchitecture(checkpoint));
  }
  const std::string beside = JoinPath(folder, "config.json");
  if (KindOfPath(beside) == PathKind::kFile) {
    out.config = LoadModelConfig(beside);
  } else if (out.no_config.empty()) {
    out.no_config = "there is no config.json beside the weights";
  }
}

void ReadTarget(const std::string& path, ModelTarget& out) {
  const PathKind kind = KindOfPath(path);
  if (kind == PathKind::kFile &&
      (path.ends_with(".index.json") || IfWeights(path))) {
    out.checkpoint = ReadCheckpointAt(path);
    FindConfig(FolderOf(path), out);
    return;
  }
  if (kind == PathKind::kFolder && HasWeights(path) &&
      KindOfPath(JoinPath(path, "config.json")) != PathKind::kFile) {
    out.checkpoint = ReadCheckpointAt(path);
    FindConfig(path, out);
    return;
  }
  out.config = LoadModelConfig(path);
}

}  // namespace

ModelTarget LoadModelTarget(const Invocation& invocation) {
  ModelTarget out;
  const std::string target = ExpandHome(invocation.Argument("TARGET"));
  ReadTarget(target, out);
  if (const auto against = invocation.Text("against")) {
    out.against = true;
    out.checkpoint = ReadCheckpointAt(ExpandHome(*against));
    return out;
  }
  if (out.checkpoint || KindOfPath(target) != PathKind::kFolder ||
      !HasWeights(target)) {
    return out;
  }
  try {
    out.checkpoint = ReadCheckpointAt(target);
  } catch (const InputErrors& errors) {
    out.no_checkpoint =
        fmt::format("the headers of the weights cannot be read: {}",
                    errors.errors().front().what);
  }
  return out;
}

}  // namespace foretell
