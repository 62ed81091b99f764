#include "answers/derived_tensors.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace foretell {
namespace {

DerivedTensor Make(const Graph& graph, std::string name, ValueId id) {
  const Value& value = graph[id];
  DerivedTensor out;
  out.name = std::move(name);
  out.shape.assign(value.shape.dims().begin(), value.shape.dims().end());
  out.dtype = value.dtype;
  out.storage = value.storage.index;
  return out;
}

}  // namespace

std::vector<DerivedTensor> DerivedTensors(const Graph& graph) {
  std::vector<DerivedTensor> out;
  out.reserve(graph.parameters.size());
  for (const Parameter& parameter : graph.parameters) {
    out.push_back(Make(graph, graph.NameOf(parameter), parameter.value));
  }
  for (const Buffer& buffer : graph.buffers) {
    if (!buffer.persistent) continue;
    out.push_back(Make(graph, graph.NameOf(buffer), buffer.value));
    out.back().is_buffer = true;
  }
  return out;
}

IndexedName WithoutIndices(const std::string& name) {
  IndexedName out;
  for (size_t start = 0; start <= name.size();) {
    size_t end = name.find('.', start);
    if (end == std::string::npos) end = name.size();
    const std::string_view part(name.data() + start, end - start);
    int64_t index = 0;
    const auto [stop, error] =
        std::from_chars(part.data(), part.data() + part.size(), index);
    if (start > 0) out.name += '.';
    if (!part.empty() && part.front() != '-' && error == std::errc() &&
        stop == part.data() + part.size()) {
      out.indices.push_back(index);
      out.name += '#';
    } else {
      out.name += part;
    }
    start = end + 1;
  }
  return out;
}

}  // namespace foretell
