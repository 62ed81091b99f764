#include "answers/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "answers/read_model.h"
#include "graph/text.h"

namespace foretell {

std::variant<GraphAnswer, Refusal> AnswerGraph(const GraphRequest& request) {
  auto read = ReadModelOf(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  ReadModel& model = std::get<ReadModel>(read);
  Builder& builder = *model.built.builder;
  GraphAnswer out;
  {
    ForwardInputs inputs;
    const Shape shape = {request.batch, request.sequence};
    inputs.input_ids = builder.Input(shape, DType::kInt64);
    inputs.labels = builder.Input(shape, DType::kInt64);
    inputs.attention = request.attention;
    builder.Output(model.built.model->Forward(inputs));
  }
  if (!builder.failure().empty()) {
    InputError error;
    error.place.source = request.config.source;
    error.what = "the sizes do not go together: " + builder.failure();
    error.cure = "correct the sizes; foretell model lists what was read";
    return Refusal{{error}};
  }
  const Graph& graph = builder.graph();
  out.name = request.config.catalogue ? request.config.catalogue->id
                                      : request.config.source;
  out.class_name = model.built.class_name;
  out.text = ToText(graph);
  out.operations = static_cast<int64_t>(graph.operations.size());
  out.drops = std::ranges::count(graph.steps, Step::Kind::kDrop, &Step::kind);
  out.by_operation = AnalyzeFlops(graph);
  for (const OperationFlops& entry : out.by_operation) out.flops += entry.flops;
  out.findings = std::move(model.log.findings);
  return out;
}

}  // namespace foretell
