#include "front/run_graph.h"

#include <variant>

#include "answers/graph.h"
#include "base/dtype.h"
#include "base/input_error.h"
#include "front/model_options.h"
#include "input/model_config_source.h"
#include "report/present_graph.h"

namespace foretell {

Outcome RunGraph(const Invocation& invocation) {
  GraphRequest request;
  request.config = LoadModelConfig(invocation.Argument("TARGET"));
  request.build = ReadBuildOptions(invocation);
  if (request.build.dtype && BytesOf(*request.build.dtype) < 2) {
    throw InputErrors({invocation.PlaceOf("dtype"),
                       "has no matrix product in eager PyTorch",
                       "write float32, bfloat16 or float16"});
  }
  request.build.most_layers = invocation.Integer("layers");
  request.batch = invocation.Integer("batch").value_or(1);
  request.sequence = invocation.Integer("seq").value_or(128);
  request.attention = invocation.Text("attn").value_or("sdpa");
  auto answer = AnswerGraph(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    throw InputErrors(refusal->errors);
  }
  const GraphAnswer& graph = std::get<GraphAnswer>(answer);
  return {.document = PresentGraph(graph), .text = graph.text};
}

}  // namespace foretell
