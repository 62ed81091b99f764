#include "front/run_model.h"

#include <variant>

#include "answers/model.h"
#include "base/input_error.h"
#include "front/model_options.h"
#include "input/model_config_source.h"
#include "report/present_model.h"

namespace foretell {

Outcome RunModel(const Invocation& invocation) {
  ModelRequest request;
  request.config = LoadModelConfig(invocation.Argument("TARGET"));
  request.build = ReadBuildOptions(invocation);
  auto answer = AnswerModel(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    throw InputErrors(refusal->errors);
  }
  ModelView view;
  view.tensors = invocation.Has("tensors");
  view.equation = invocation.Has("explain");
  return {.document = PresentModel(std::get<ModelAnswer>(answer), view)};
}

}  // namespace foretell
