#include "answers/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/library.h"

namespace foretell {
namespace {

// Whose sources the operations and passes follow.
constexpr char kTorch[] = "2.15";

bool IsVersion(const std::string& stated, std::string_view known) {
  return stated == known || stated.starts_with(std::string(known) + ".");
}

// Of a layer with an adapter.
bool HasBias(const Graph& graph) {
  return std::ranges::any_of(graph.parameters, [&](const Parameter& parameter) {
    return parameter.name == "bias" &&
           graph[parameter.region].name == "base_layer";
  });
}

}  // namespace

std::vector<std::string> ReasonsNotExact(const CompiledStep& compiled,
                                         const StepCase& step) {
  std::vector<std::string> out;
  if (!compiled.model.unread.empty()) {
    out.push_back(fmt::format("{} keys of the configuration are not read",
                              compiled.model.unread.size()));
  }
  if (!IsFollowed(step.transformers)) {
    out.push_back(fmt::format("transformers {} is taken as {}",
                              step.transformers,
                              LibraryFor(step.transformers).name));
  }
  const Library& library = LibraryFor(step.transformers);
  const bool is_newest = library.name == NewestLibrary().name;
  const Family& family = *compiled.model.built.family;
  if (!is_newest && family.oldest_library != library.name) {
    out.push_back(fmt::format("{} is followed as transformers {} has it",
                              family.title, NewestLibrary().name));
  }
  // Classes with another head make their base model in the dtype of the file.
  const std::string& class_name = compiled.model.built.class_name;
  if (!is_newest && !class_name.ends_with("ForCausalLM") &&
      !class_name.ends_with("LMHeadModel")) {
    out.push_back(
        fmt::format("only the class of the next token is followed under "
                    "transformers {}",
                    library.name));
  }
  if (!is_newest && step.mode != StepMode::kTrain) {
    out.push_back(
        fmt::format("only training steps are followed under transformers {}",
                    library.name));
  }
  if (!IsFollowedTorch(step.torch)) {
    out.push_back(fmt::format("torch {} is taken as {}", step.torch, kTorch));
  }
  if (step.checkpoint && step.checkpoint_kind != CheckpointKind::kFull) {
    out.emplace_back(
        "blocks that are checkpointed by operator have been compared with "
        "PyTorch for one class only");
  }
  if (step.lora && step.lora->dora &&
      (step.autocast || HasBias(compiled.graph()))) {
    out.emplace_back(
        "DoRA under autocast, or of layers with a bias, has not been compared "
        "with peft");
  }
  if (IsFlash(step)) {
    out.emplace_back(
        "flash-attention is no operation of PyTorch: its kernel is taken as "
        "PyTorch's flash kernel, whose FLOPs the counter would not count");
  }
  const bool reads_mask =
      family.reads_mask || !compiled.model.built.model->follows_mask;
  if (step.mode == StepMode::kDecode && step.autocast) {
    out.emplace_back(
        "the dtypes of a cache that was filled under autocast are taken as "
        "one");
  }
  if (step.mask && (!is_newest || reads_mask)) {
    out.emplace_back(
        "what the class makes of an attention mask beyond the attention's own "
        "is left out");
  }
  // Outside any module only a loss of routers counts tokens.
  const auto counts_tokens = [&](const Operation& one) {
    return one.row->name == "aten.histc.default" &&
           compiled.graph().PathOf(one.region).empty();
  };
  if (step.mask &&
      std::ranges::any_of(compiled.graph().operations, counts_tokens)) {
    out.emplace_back(
        "what a loss of routers makes of the attention mask is left out");
  }
  const bool lasts = std::ranges::any_of(
      compiled.graph().storages, [](const Storage& storage) {
        return storage.kind == StorageKind::kLasting;
      });
  if (lasts && step.optimizer != "none") {
    out.emplace_back(
        "longrope's second set of frequencies may not outlive the step");
  }
  if (family.name == "jamba" && step.lora) {
    out.emplace_back(
        "a recorded step of adapters on Jamba with one expert per token ran "
        "products that are not derived");
  }
  const auto reads_others = [](const LayerState& state) {
    return state.kind == LayerState::Kind::kNone;
  };
  const bool shares =
      std::ranges::any_of(compiled.model.built.model->states, reads_others);
  const bool is_gemma3n = family.name.starts_with("gemma3n");
  if (step.checkpoint &&
      (is_gemma3n || (shares && family.name.starts_with("gemma4")))) {
    out.emplace_back(
        "keys and values that checkpointed layers hand to later ones live "
        "longer than is derived");
  }
  if (!family.described_by.empty()) {
    out.push_back(
        fmt::format("the library has no such class; it is derived from {}",
                    family.described_by));
  }
  for (const std::string& what : compiled.graph().assumptions) {
    out.push_back("what depends on the data is assumed: " + what);
  }
  return out;
}

std::string_view FollowedTorch() { return kTorch; }

bool IsFollowedTorch(const std::string& stated) {
  return IsVersion(stated, kTorch);
}

bool ClaimsExact(const CompiledStep& compiled, const StepCase& step) {
  return ReasonsNotExact(compiled, step).empty();
}

}  // namespace foretell
