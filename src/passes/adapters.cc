#include "passes/adapters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/nearest.h"

namespace foretell {
namespace {

void StopTraining(Graph& graph, Parameter& parameter) {
  parameter.trainable = false;
  graph.values[parameter.value.index].requires_grad = false;
}

// "layers.0.q_proj" is met by "q_proj" and by its whole name.
bool IsMetBy(std::string_view path, std::string_view target) {
  if (path == target) return true;
  return path.size() > target.size() && path.ends_with(target) &&
         path[path.size() - target.size() - 1] == '.';
}

class Injection {
 public:
  Injection(Builder& builder, const LoraSettings& settings)
      : builder_(&builder), graph_(&builder.graph()), settings_(&settings) {}

  std::optional<AdapterRefusal> Run() {
    if (auto refusal = Choose()) return refusal;
    for (Parameter& parameter : graph_->parameters) {
      StopTraining(*graph_, parameter);
    }
    for (const LinearLayer& layer : chosen_) Add(layer);
    graph_->regions.front().name = "base_model.model";
    return std::nullopt;
  }

 private:
  bool TakesAll() const {
    return settings_->targets.size() == 1 &&
           settings_->targets.front() == "all-linear";
  }

  std::optional<AdapterRefusal> Choose() {
    if (TakesAll()) {
      for (const LinearLayer& layer : graph_->linears) {
        if (layer.region != graph_->output_embeddings) chosen_.push_back(layer);
      }
    } else if (auto refusal = ChooseNamed()) {
      return refusal;
    }
    if (chosen_.empty()) return NoneMatched();
    std::ranges::sort(chosen_, {}, &LinearLayer::region);
    return std::nullopt;
  }

  // A module that is met must be one that an adapter can lie beside.
  std::optional<AdapterRefusal> ChooseNamed() {
    for (uint32_t i = 1; i < graph_->regions.size(); ++i) {
      const RegionId region{i};
      const std::string path = graph_->PathOf(region);
      const bool is_met = std::ranges::any_of(
          settings_->targets,
          [&](const auto& target) { return IsMetBy(path, target); });
      if (!is_met) continue;
      const auto layer =
          std::ranges::find(graph_->linears, region, &LinearLayer::region);
      if (layer == graph_->linears.end()) {
        return AdapterRefusal{fmt::format("{} is no linear layer", path),
                              fmt::format("name linear layers, as {}",
                                          fmt::join(NamesOfLayers(), ", "))};
      }
      chosen_.push_back(*layer);
    }
    return std::nullopt;
  }

  // The last parts of the names of all linear layers.
  std::set<std::string> NamesOfLayers() const {
    std::set<std::string> names;
    for (const LinearLayer& layer : graph_->linears) {
      if (layer.region == graph_->output_embeddings) continue;
      names.insert((*graph_)[layer.region].name);
    }
    return names;
  }

  AdapterRefusal NoneMatched() const {
    const std::set<std::string> names = NamesOfLayers();
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<std::string> near;
    for (const std::string& target : settings_->targets) {
      for (std::string& name : NearestNames(target, views, 1)) {
        near.push_back(std::move(name));
      }
    }
    return {fmt::format("no module is named {}",
                        fmt::join(settings_->targets, ", ")),
            near.empty()
                ? fmt::format("name some of {}", fmt::join(names, ", "))
                : fmt::format("did you mean {}? The model has {}",
                              fmt::join(near, ", "), fmt::join(names, ", "))};
  }

  void Add(const LinearLayer& layer) {
    const RegionKind kind = (*graph_)[layer.region].kind;
    Adapter adapter;
    adapter.region = layer.region;
    adapter.base = builder_->AddRegion(layer.region, "base_layer", kind);
    for (Parameter& parameter : graph_->parameters) {
      if (parameter.region == layer.region) parameter.region = adapter.base;
    }
    const auto child = [&](std::string_view name) {
      const RegionId outer = builder_->AddRegion(layer.region, name, kind);
      return builder_->AddRegion(outer, "default", kind);
    };
    const Value weight = (*graph_)[(*graph_)[layer.weight].value];
    const int64_t in = weight.shape[layer.is_conv1d ? 0 : 1];
    const int64_t out = weight.shape[layer.is_conv1d ? 1 : 0];
    const DType dtype = settings_->float32 && BytesOf(weight.dtype) == 2
                            ? DType::kFloat32
                            : weight.dtype;
    adapter.dropout = settings_->dropout;
    adapter.dropout_region = child("lora_dropout");
    adapter.a_region = child("lora_A");
    adapter.a = builder_->AddParameter(adapter.a_region, "weight",
                                       {settings_->rank, in}, dtype);
    adapter.b_region = child("lora_B");
    adapter.b = builder_->AddParameter(adapter.b_region, "weight",
                                       {out, settings_->rank}, dtype);
    adapter.scaling = settings_->alpha / static_cast<double>(settings_->rank);
    graph_->adapters.push_back(adapter);
  }

  Builder* builder_;
  Graph* graph_;
  const LoraSettings* settings_;
  std::vector<LinearLayer> chosen_;
};

}  // namespace

void Freeze(Graph& graph, std::span<const std::string> prefixes) {
  for (Parameter& parameter : graph.parameters) {
    if (parameter.tied_to) continue;
    const std::string name = graph.NameOf(parameter);
    const bool is_frozen = std::ranges::any_of(
        prefixes,
        [&](const std::string& prefix) { return name.starts_with(prefix); });
    if (is_frozen) StopTraining(graph, parameter);
  }
}

std::optional<AdapterRefusal> AddAdapters(Builder& builder,
                                          const LoraSettings& settings) {
  return Injection(builder, settings).Run();
}

}  // namespace foretell
