#include "front/run_model.h"

#include <limits>
#include <utility>
#include <variant>

#include "answers/model.h"
#include "base/input_error.h"
#include "front/model_options.h"
#include "front/model_target.h"
#include "report/present_model.h"

namespace foretell {

Outcome RunModel(const Invocation& invocation) {
  ModelTarget target = LoadModelTarget(invocation);
  ModelView view;
  view.tensors = invocation.Has("tensors");
  view.equation = invocation.Has("explain");
  if (invocation.format() != Format::kText) {
    view.most_differences = std::numeric_limits<size_t>::max();
  }
  if (!target.config) {
    return {.document = PresentModel(
                AnswerHeaders(*target.checkpoint, target.no_config), view)};
  }
  ModelRequest request;
  request.config = std::move(*target.config);
  request.build = ReadBuildOptions(invocation);
  request.checkpoint = std::move(target.checkpoint);
  request.no_checkpoint = std::move(target.no_checkpoint);
  request.against = target.against;
  auto answer = AnswerModel(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    throw InputErrors(refusal->errors);
  }
  return {.document = PresentModel(std::get<ModelAnswer>(answer), view)};
}

}  // namespace foretell
