#include "front/run_train.h"

#include <utility>
#include <variant>

#include "answers/train.h"
#include "front/step_options.h"
#include "front/train_options.h"
#include "input/model_config_source.h"
#include "report/present_train.h"

namespace foretell {

Outcome RunTrain(const Invocation& invocation) {
  TrainRequest request = ReadTrainRequest(invocation);
  request.config = LoadModelConfig(invocation.Argument("TARGET"));
  auto result = AnswerTrain(request);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw AtOptions(invocation, std::move(refusal->errors));
  }
  return {.document = PresentTrain(std::get<TrainAnswer>(result))};
}

}  // namespace foretell
