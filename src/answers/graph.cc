#include "answers/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "answers/read_model.h"
#include "graph/text.h"

namespace foretell {

namespace {

struct InputShapes {
  Shape ids;
  Shape labels;
};

// What the class's forward takes: a label per token, or one per sequence; a
// multiple choice holds several sequences to choose from.
InputShapes ShapesFor(std::string_view class_name,
                      const GraphRequest& request) {
  const Shape tokens = {request.batch, request.sequence};
  if (class_name.ends_with("ForMultipleChoice")) {
    constexpr int64_t kChoices = 2;
    return {{request.batch, kChoices, request.sequence}, {request.batch}};
  }
  if (class_name.ends_with("ForSequenceClassification") ||
      class_name.ends_with("ForNextSentencePrediction")) {
    return {tokens, {request.batch}};
  }
  return {tokens, tokens};
}

// A model that its library refuses, or whose forward fails, has no graph.
Refusal RefusalOf(std::vector<Finding> findings) {
  Refusal refusal;
  for (Finding& finding : findings) {
    if (finding.severity != Severity::kBlock) continue;
    InputError error;
    error.place = std::move(finding.place);
    error.what = finding.rule + ": " + finding.what + "; " + finding.why;
    error.cure = finding.fix.empty() ? "correct the configuration"
                                     : std::move(finding.fix);
    refusal.errors.push_back(std::move(error));
  }
  return refusal;
}

}  // namespace

std::variant<GraphAnswer, Refusal> AnswerGraph(const GraphRequest& request) {
  auto read = ReadModelOf(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  ReadModel& model = std::get<ReadModel>(read);
  if (AnyBlocks(model.log.findings)) {
    return RefusalOf(std::move(model.log.findings));
  }
  Builder& builder = *model.built.builder;
  GraphAnswer out;
  {
    ForwardInputs inputs;
    const InputShapes shapes = ShapesFor(model.built.class_name, request);
    inputs.input_ids = builder.Input(shapes.ids, DType::kInt64);
    inputs.labels = builder.Input(shapes.labels, DType::kInt64);
    inputs.attention = request.attention;
    builder.Output(model.built.model->Forward(inputs));
  }
  if (!builder.failure().empty()) {
    InputError error;
    error.place.source = request.config.source;
    error.what = "the forward cannot be written: " + builder.failure();
    error.cure =
        "change what the reason names, in the configuration or by --seq and "
        "--batch; foretell model shows what was read";
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
