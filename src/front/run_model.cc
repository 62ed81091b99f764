#include "front/run_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "answers/model.h"
#include "answers/quantized_model.h"
#include "base/input_error.h"
#include "front/model_options.h"
#include "front/model_target.h"
#include "report/present_model.h"

namespace foretell {

namespace {

// "--quant awq,Q4_K_M": every name checked where it stands.
std::vector<std::string> QuantizationsOf(const Invocation& invocation) {
  std::vector<std::string> out;
  std::vector<InputError> errors;
  const std::vector<std::string_view> known = QuantizationNames();
  const std::vector<std::string> texts = invocation.Texts("quant");
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t start = 0; start <= texts[i].size();) {
      const size_t end = std::min(texts[i].find(',', start), texts[i].size());
      std::string name = texts[i].substr(start, end - start);
      if (!IsQuantization(name)) {
        errors.push_back({invocation.PlaceOf("quant", i, start),
                          name.empty() ? "names no quantization"
                                       : "is no quantization that is known",
                          fmt::format("one of {}", fmt::join(known, ", "))});
      }
      out.push_back(std::move(name));
      start = end + 1;
    }
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

}  // namespace

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
  request.quantizations = QuantizationsOf(invocation);
  auto answer = AnswerModel(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    throw InputErrors(refusal->errors);
  }
  return {.document = PresentModel(std::get<ModelAnswer>(answer), view)};
}

}  // namespace foretell
