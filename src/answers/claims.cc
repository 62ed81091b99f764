#include "answers/claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace foretell {
namespace {

// Of the libraries whose sources the families and passes follow.
constexpr char kTransformers[] = "5.23";
constexpr char kTorch[] = "2.15";

bool IsVersion(const std::string& stated, std::string_view known) {
  return stated == known || stated.starts_with(std::string(known) + ".");
}

}  // namespace

std::vector<std::string> ReasonsNotExact(const CompiledStep& compiled,
                                         const StepCase& step) {
  std::vector<std::string> out;
  if (!compiled.model.unread.empty()) {
    out.push_back(fmt::format("{} keys of the configuration are not read",
                              compiled.model.unread.size()));
  }
  if (!IsVersion(step.transformers, kTransformers)) {
    out.push_back(fmt::format("transformers {} is taken as {}",
                              step.transformers, kTransformers));
  }
  if (!IsVersion(step.torch, kTorch)) {
    out.push_back(fmt::format("torch {} is taken as {}", step.torch, kTorch));
  }
  if (step.mask && step.attention == "eager") {
    out.emplace_back("an attention mask that eager attention adds is left out");
  }
  const bool lasts = std::ranges::any_of(
      compiled.graph().storages, [](const Storage& storage) {
        return storage.kind == StorageKind::kLasting;
      });
  if (lasts && step.optimizer != "none") {
    out.emplace_back(
        "longrope's second set of frequencies may not outlive the step");
  }
  for (const std::string& what : compiled.graph().assumptions) {
    out.push_back("what depends on the data is assumed: " + what);
  }
  return out;
}

bool ClaimsExact(const CompiledStep& compiled, const StepCase& step) {
  return ReasonsNotExact(compiled, step).empty();
}

}  // namespace foretell
