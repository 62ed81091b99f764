// A model on cards under an engine, as the phases of serving take it.
//
// In: a configuration, or a shape that was stated; a card; the engine, how
// weights and cache are stored, the layout. Out: the job with every assumption
// in words, or what is missing. Pure.
#ifndef FORETELL_ANSWERS_SERVED_JOB_H_
#define FORETELL_ANSWERS_SERVED_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/timing/kernel_time.h"
#include "analysis/timing/serving_phases.h"
#include "answers/read_model.h"
#include "base/figure.h"
#include "spec/device.h"
#include "spec/model_config.h"

namespace foretell {

struct ServedRequest {
  const ModelConfig* config = nullptr;
  std::optional<ServedShape> shape;  // instead of the configuration's
  const Device* device = nullptr;
  std::string engine;     // of ServedEngines(): "vllm"
  std::string precision;  // "fp8", "awq", …; empty: as the checkpoint says
  std::string cache;      // "fp8", "auto"; empty: as the engine is served
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t data = 1;
  int64_t expert_ranks = 1;
  int64_t expert_tensor = 0;  // 0: what is left of the ranks
  double clock_share = 1;
};

struct ServedSetting {
  ServedJob job;
  Reach reach = Reach::kInside;  // of the constants to what they were fitted on
  std::string storage;           // "fp8, one byte an element"
  std::vector<std::string> assumed;
};

// The text says what is missing.
std::variant<ServedSetting, std::string> SettingOf(const ServedRequest& in);

// Bytes a second in one direction between cards, where they are linked by more
// than PCIe: the catalogue states both directions together.
std::optional<double> LinkOf(const Device& device);

// The shape of a configuration's model; the text says why there is none.
std::variant<ServedShape, std::string> ShapeOfConfig(const ModelConfig& config);

// The same of a model that was built.
std::variant<ServedShape, std::string> ShapeOfModel(const ReadModel& model,
                                                    const ModelConfig& config);

// `value` in seconds, or in tokens a second, with its 90 % interval: wider
// near the edge of what the constants were fitted on, and wider still beyond.
AnyFigure SpeedFigure(Unit unit, double value, ServedQuantity quantity,
                      Reach reach);

// An engine's constants by the words that people use for it and its version:
// "TensorRT-LLM (PyTorch backend)", "vLLM" "0.4.2".
std::string EngineNamed(const std::string& words, const std::string& version);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVED_JOB_H_
