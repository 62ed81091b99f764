#include "front/run_train.h"

#include <utility>
#include <variant>

#include "answers/run_prediction.h"
#include "answers/train.h"
#include "answers/train_fits.h"
#include "front/hub_options.h"
#include "front/kept_runs.h"
#include "front/step_options.h"
#include "front/timeline_option.h"
#include "front/train_options.h"
#include "input/device_catalogue.h"
#include "report/present_train.h"

namespace foretell {

namespace {

// The adapters' settings come from options of their own.
InputErrors AtTrainOptions(const Invocation& invocation,
                           std::vector<InputError> errors) {
  for (InputError& error : errors) {
    if (error.place.key == "--lora") error.place.key = "--targets";
  }
  return AtOptions(invocation, std::move(errors));
}

Outcome RunFits(const Invocation& invocation, const TrainRequest& request) {
  std::vector<Device> cards;
  for (const std::string_view id : CardsOfFits()) {
    cards.push_back(FindDevice(id));
  }
  auto result = AnswerFits(request, cards);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw AtTrainOptions(invocation, std::move(refusal->errors));
  }
  return {.document = PresentFits(std::get<FitsAnswer>(result))};
}

}  // namespace

Outcome RunTrain(const Invocation& invocation) {
  TrainRequest request = ReadTrainRequest(invocation);
  request.config = LoadTarget(invocation);
  if (invocation.Has("fits")) return RunFits(invocation, request);
  const auto file = TimelineFileOf(invocation);
  if (file) request.most_points = kMostTimelinePoints;
  auto result = AnswerTrain(request);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    throw AtTrainOptions(invocation, std::move(refusal->errors));
  }
  const TrainAnswer& answer = std::get<TrainAnswer>(result);
  TrainView view;
  if (file && answer.is_compiled) {
    WriteTimeline(invocation, *file, TimelineOf(answer));
    view.timeline_file = file->path;
  }
  if (answer.is_compiled) {
    view.by_runs = CalibratedFor(
        invocation, PredictionOf(request, answer.memory, answer.time),
        request.config);
  }
  return {.document = PresentTrain(answer, view)};
}

}  // namespace foretell
