#include "graph/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "graph/operation_row.h"

namespace foretell {
namespace {

// What each value is called: a parameter's, buffer's or input's own name, or
// its number.
std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names(graph.values.size());
  for (const Parameter& parameter : graph.parameters) {
    if (!parameter.tied_to) {
      names[parameter.value.index] = graph.NameOf(parameter);
    }
  }
  for (const Buffer& buffer : graph.buffers) {
    names[buffer.value.index] = graph.NameOf(buffer);
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    names[graph.inputs[i].index] = fmt::format("input.{}", i);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = fmt::format("%{}", i);
  }
  return names;
}

std::string ToText(const Attribute& attribute) {
  struct Writer {
    std::string operator()(int64_t value) const {
      return fmt::to_string(value);
    }
    std::string operator()(double value) const { return fmt::to_string(value); }
    std::string operator()(bool value) const {
      return value ? "true" : "false";
    }
    std::string operator()(DType value) const {
      return std::string(NameOf(value));
    }
    std::string operator()(const Shape& value) const {
      return value.ToString();
    }
  };
  return std::visit(Writer(), attribute);
}

std::string OperationText(const Graph& graph, const Operation& operation,
                          const std::vector<std::string>& names) {
  std::vector<std::string> arguments;
  for (const ValueId id : graph.InputsOf(operation)) {
    arguments.push_back(names[id.index]);
  }
  for (const Attribute& attribute : graph.AttributesOf(operation)) {
    arguments.push_back(ToText(attribute));
  }
  std::vector<std::string> outputs;
  for (const ValueId id : graph.OutputsOf(operation)) {
    outputs.push_back(names[id.index] + " " + DescribeValue(graph[id]));
  }
  return fmt::format("{}{}{}({})", fmt::join(outputs, ", "),
                     outputs.empty() ? "" : " = ", operation.row->name,
                     fmt::join(arguments, ", "));
}

}  // namespace

std::string DescribeValue(const Value& value) {
  return std::string(ShortNameOf(value.dtype)) + value.shape.ToString();
}

std::string ToText(const Graph& graph) {
  const std::vector<std::string> names = NamesOf(graph);
  std::string out;
  RegionId region;
  size_t phase = 0;
  for (uint32_t at = 0; at < graph.steps.size(); ++at) {
    for (; phase < graph.phases.size() && graph.phases[phase].first_step <= at;
         ++phase) {
      // What stands alone needs no heading.
      if (graph.phases.size() == 1) continue;
      out += fmt::format("--- {}\n", NameOf(graph.phases[phase].phase));
      region = RegionId();
    }
    const Step step = graph.steps[at];
    if (step.kind == Step::Kind::kDrop) {
      out += "  drop " + names[step.index] + "\n";
      continue;
    }
    const Operation& operation = graph.operations[step.index];
    if (operation.region != region) {
      region = operation.region;
      const std::string path = graph.PathOf(region);
      out += (path.empty() ? "(model)" : path) + "\n";
    }
    out += "  " + OperationText(graph, operation, names) + "\n";
  }
  return out;
}

}  // namespace foretell
