#include "front/model_target.h"

#include <fmt/format.h>

#include "base/input_error.h"
#include "front/hub_options.h"
#include "input/checkpoint.h"
#include "input/checkpoint_set.h"
#include "input/gguf_config.h"
#include "input/hub_id.h"
#include "input/model_config_source.h"
#include "input/model_lookup.h"
#include "input/other_file.h"
#include "input/source_disk.h"
#include "input/source_hub_files.h"

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

// A path where there is one, else a repository of the hub.
Checkpoint ReadNamedCheckpoint(const std::string& named,
                               const std::string& target,
                               const ModelLookup& how) {
  const std::string path = ExpandHome(named);
  const auto hub = ReadHubCheckpointName(named);
  if (IsModelPath(named) || !hub) return ReadCheckpointAt(path);
  ModelLookup lookup = how;
  // --revision is the target's; it is the checkpoint's, too, where both are of
  // one repository.
  if (ReadHubTarget(target).id != hub->id) lookup.revision.clear();
  const auto folder = OpenHubFolder(*hub, lookup);
  return hub->file.empty() ? ReadCheckpoint(*folder)
                           : ReadCheckpoint(*folder, hub->file);
}

void ReadTarget(const std::string& path, const ModelLookup& how,
                ModelTarget& out) {
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
  out.config = LookUpModel(path, how);
}

// Where weights may lie beside the configuration; empty where they cannot.
std::string FolderBeside(const std::string& target, const ModelTarget& read) {
  if (read.config && read.config->hub) {
    const std::string& path = read.config->hub->path;
    return path.empty() ? "" : FolderOf(path);
  }
  return KindOfPath(target) == PathKind::kFolder ? target : "";
}

}  // namespace

ModelTarget LoadModelTarget(const Invocation& invocation) {
  ModelTarget out;
  const std::string target = ExpandHome(invocation.Argument("TARGET"));
  const ModelLookup how = ReadModelLookup(invocation);
  ReadTarget(target, how, out);
  if (const auto against = invocation.Text("against")) {
    out.against = true;
    out.checkpoint = ReadNamedCheckpoint(*against, target, how);
    return out;
  }
  const std::string beside = FolderBeside(target, out);
  if (out.checkpoint || beside.empty() || !HasWeights(beside)) return out;
  try {
    out.checkpoint = ReadCheckpointAt(beside);
  } catch (const InputErrors& errors) {
    out.no_checkpoint =
        fmt::format("the headers of the weights cannot be read: {}",
                    errors.errors().front().what);
  }
  return out;
}

}  // namespace foretell
