#include "answers/step_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/figure.h"

namespace foretell {
namespace {

InputError At(std::string option, std::string what, std::string cure) {
  InputError error;
  error.place.key = std::move(option);
  error.what = std::move(what);
  error.cure = std::move(cure);
  return error;
}

int64_t DeepestStack(const ReadModel& whole) {
  int64_t layers = 0;
  for (const LayerStack& stack : whole.built.model->stacks) {
    layers = std::max(layers, stack.layers);
  }
  return layers;
}

bool HasTwoSides(const ReadModel& whole) {
  const auto& stacks = whole.built.model->stacks;
  return std::ranges::find(stacks, "encoder", &LayerStack::name) !=
             stacks.end() &&
         std::ranges::find(stacks, "decoder", &LayerStack::name) !=
             stacks.end();
}

bool IsRecurrent(const ReadModel& whole) {
  return std::ranges::any_of(
      whole.built.model->states, [](const LayerState& state) {
        return state.kind == LayerState::Kind::kRecurrent;
      });
}

// Whether a tensor of all tokens has a size that 64 bits hold, whichever dim of
// the model it has beside them.
bool Fits(const Graph& graph, const StepCase& step) {
  constexpr int64_t kWidestElement = 8;
  int64_t widest = 1;
  for (const Parameter& parameter : graph.parameters) {
    const Shape& shape = graph[parameter.value].shape;
    for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis) {
      widest = std::max(widest, shape[axis]);
    }
  }
  auto size = CheckedMul(step.batch, std::max(step.sequence, step.target));
  if (size) size = CheckedMul(*size, kWidestElement);
  if (size) size = CheckedMul(*size, widest);
  return size.has_value();
}

// A table that is looked up by position: its classes' own names for it.
std::string PositionTable(const Graph& graph) {
  constexpr std::array<std::string_view, 3> kNames = {
      "wpe", "position_embeddings", "embed_positions"};
  for (const Parameter& parameter : graph.parameters) {
    const std::string_view name = graph[parameter.region].name;
    if (std::ranges::find(kNames, name) != kNames.end()) {
      return graph.PathOf(parameter.region);
    }
  }
  return "";
}

// Settings whose operations are not followed: told, not guessed.

}  // namespace

std::vector<InputError> CheckStep(const ReadModel& whole,
                                  const BuildOptions& build,
                                  const StepCase& step) {
  std::vector<InputError> out;
  const std::string& name = whole.built.class_name;
  const int64_t layers = DeepestStack(whole);
  if (build.most_layers && *build.most_layers > layers) {
    out.push_back(At("--layers",
                     fmt::format("is {}, and the configuration has {} layers",
                                 *build.most_layers, layers),
                     fmt::format("write at most {}, or change the layers in "
                                 "the configuration itself",
                                 layers)));
  }
  if (!Fits(*whole.built.graph, step)) {
    out.push_back(
        At("--batch",
           fmt::format("{} sequences of {} tokens make tensors past "
                       "2^63 - 1 bytes",
                       step.batch, std::max(step.sequence, step.target)),
           "lower --batch or --seq"));
  }
  if (step.target > 0 && !HasTwoSides(whole)) {
    out.push_back(
        At("--tgt",
           fmt::format("{} has no decoder beside an encoder: its labels are as "
                       "long as its input ({} tokens)",
                       name, step.sequence),
           "leave --tgt out, and write the length as --seq"));
  }
  // Without its fused kernel a scan runs some forty operations per token.
  constexpr int64_t kMostTokens = int64_t{1} << 20;
  const int64_t built = std::min(layers, build.most_layers.value_or(layers));
  if (IsRecurrent(whole) &&
      step.sequence > kMostTokens / std::max<int64_t>(built, 1)) {
    out.push_back(At(
        "--seq",
        fmt::format("{} without its fused kernel runs token after token: {} "
                    "tokens in {} layers are more operations than this writes",
                    name, WithSeparators(step.sequence), built),
        fmt::format("write at most {}, or fewer --layers",
                    kMostTokens / std::max<int64_t>(built, 1))));
  }
  return out;
}

StepRuleInput RuleInputOf(const ReadModel& whole, const StepCase& step) {
  StepRuleInput out;
  out.class_name = whole.built.class_name;
  out.sequence = std::max(step.sequence, step.target);
  out.context = whole.built.model->context_length.tokens;
  out.context_source = whole.built.model->context_length.where;
  out.position_table = PositionTable(*whole.built.graph);
  return out;
}

std::variant<ReadModel, Refusal> ReadWhole(const ModelConfig& config,
                                           BuildOptions build) {
  build.most_layers.reset();
  return ReadModelOf(config, build);
}

}  // namespace foretell
