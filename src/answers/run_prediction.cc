#include "answers/run_prediction.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace foretell {
namespace {

// Errors of a job's memory go by how it is divided and whether its weights are
// packed.
std::string MannerOf(const TrainingJob& job) {
  std::string out;
  switch (job.sharding) {
    case Sharding::kNone:
      out = "whole";
      break;
    case Sharding::kDdp:
      out = "ddp";
      break;
    case Sharding::kZero1:
    case Sharding::kZero2:
    case Sharding::kZero3:
      out = "zero";
      break;
    case Sharding::kFsdp1:
    case Sharding::kFsdp2:
      out = "fsdp";
      break;
  }
  if (job.weights != WeightFormat::kNone) out += ", packed weights";
  return out;
}

}  // namespace

RunPrediction PredictionOf(const SpeedRequest& request,
                           const SpeedAnswer& answer) {
  RunPrediction out;
  out.facts.command = "speed";
  out.facts.model = request.config.name;
  out.facts.card = request.device.name;
  out.facts.manner = request.engine;
  out.facts.cards = answer.cards;
  for (const SpeedPoint& point : answer.points) {
    const std::string at =
        answer.points.size() == 1
            ? ""
            : fmt::format("{} {}", point.concurrency,
                          point.concurrency == 1 ? "request" : "requests");
    out.figures.push_back({"ttft_ms", at, point.first_token.any()});
    out.figures.push_back({"tpot_ms", at, point.token.any()});
    out.figures.push_back({"output_tok_s", at, point.output_rate.any()});
  }
  return out;
}

RunPrediction PredictionOf(const TrainRequest& request,
                           const TrainMemory& memory, const TrainTime& time) {
  RunPrediction out;
  out.facts.command = "train";
  out.facts.model = request.config.name;
  out.facts.card = request.device.name;
  out.facts.manner = MannerOf(request.job);
  out.facts.cards = request.job.gpus;
  if (time.missing.empty()) out.figures.push_back({"step_ms", "", time.step});
  out.figures.push_back({"allocated_gib", "", memory.allocated.any()});
  out.figures.push_back({"reserved_gib", "", memory.reserved.any()});
  out.figures.push_back({"device_gib", "", memory.device.any()});
  return out;
}

std::variant<RunPrediction, Refusal> PredictTrain(const TrainRequest& request) {
  auto figures = FiguresOfRequest(request);
  if (auto* refusal = std::get_if<Refusal>(&figures)) {
    return std::move(*refusal);
  }
  const TrainFigures& found = std::get<TrainFigures>(figures);
  return PredictionOf(request, found.memory, found.time);
}

}  // namespace foretell
