// The set `weights_bytes`: what a published checkpoint holds.
//
// A row states either its stored elements as the hub counts them in the
// headers of its safetensors files, or the bytes that its index states. Both
// come from the configuration alone: the class's parameters, each storage
// once. Where a class has no family, the row is a miss, not left out.
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "answers/read_model.h"
#include "answers/score/score_sets.h"
#include "base/dtype.h"

namespace foretell {
namespace {

constexpr char kElements[] = "elements";
constexpr char kBytes[] = "bytes";

std::vector<Predicted> Missed(const std::string& why) {
  return {{kElements, AnyFigure::Unknown(Unit::kParameters, why)},
          {kBytes, AnyFigure::Unknown(Unit::kBytes, why)}};
}

// "equals lm_head.weight", where one folded tensor, or all of its copies,
// explains the difference.
std::string NameDifference(const ParameterAnalysis& parameters,
                           int64_t difference) {
  const int64_t size = std::abs(difference);
  const char* side = difference > 0 ? "stored beside the class's own"
                                    : "of the class, not stored";
  for (const TensorGroup& group : parameters.tensors) {
    const auto all = group.Elements();
    if (!all || group.count == 0) continue;
    if (*all == size) {
      return fmt::format("as much as {} (all of it), {}", group.name, side);
    }
    if (*all / group.count == size) {
      return fmt::format("as much as one {}, {}", group.name, side);
    }
  }
  return "";
}

}  // namespace

Prediction PredictWeightsBytes(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  BuildOptions options;
  if (const auto dtype = input.settings.Text("dtype")) {
    options.dtype = ParseDType(*dtype);
  }
  const auto read = ReadModelOf(*input.config, options);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return Missed(refusal->errors.front().what);
  }
  const ReadModel& model = std::get<ReadModel>(read);
  return std::vector<Predicted>{
      {kElements, model.parameters.total.any()},
      {kBytes, WeightBytes(model.parameters, model.built.dtype).any()}};
}

std::vector<Measured> MeasureWeightsBytes(const ConfigValue& row) {
  std::vector<Measured> out;
  const auto add = [&](std::string_view field, const char* quantity) {
    const ConfigValue* value = FieldAt(row, field);
    if (value == nullptr) return;
    const auto number = value->AsReal();
    if (number && *number > 0) {
      out.push_back(MeasuredNumber(quantity, *number, {quantity}));
    }
  };
  add("total_params", kElements);
  add("total_size_bytes", kBytes);
  return out;
}

std::string ExplainWeightsBytes(const ScoreInput& input, const Score& score) {
  if (input.config == nullptr || score.quantity != kElements || !score.ratio) {
    return score.note;
  }
  const auto read = ReadModelOf(*input.config, {});
  const auto* model = std::get_if<ReadModel>(&read);
  if (model == nullptr || !model->parameters.total.is_exact()) {
    return score.note;
  }
  const auto derived = model->parameters.total.exact();
  const auto stored =
      static_cast<int64_t>(static_cast<double>(derived) / *score.ratio + 0.5);
  return NameDifference(model->parameters, stored - derived);
}

}  // namespace foretell
