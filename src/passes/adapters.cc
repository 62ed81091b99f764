#include "passes/adapters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "passes/fused_targets.h"

namespace foretell {
namespace {

constexpr char kMagnitude[] = "lora_magnitude_vector";

void StopTraining(Graph& graph, Parameter& parameter) {
  parameter.trainable = false;
  graph.values[parameter.value.index].requires_grad = false;
}

// What peft refuses to adapt in these: their kernels read the weights
// themselves. Source: peft 0.21, tuners/tuners_utils.py
// (_check_lora_target_modules_mamba).
bool IsReadByKernel(std::string_view model_type, std::string_view module) {
  static constexpr std::string_view kTypes[] = {"falcon_h1", "mamba", "mamba2",
                                                "falcon_mamba", "nemotron_h"};
  return (module == "out_proj" || module == "conv1d") &&
         std::ranges::find(kTypes, model_type) != std::ranges::end(kTypes);
}

// "layers.0.q_proj" is met by "q_proj" and by its whole name.
bool IsMetBy(std::string_view path, std::string_view target) {
  if (path == target) return true;
  return path.size() > target.size() && path.ends_with(target) &&
         path[path.size() - target.size() - 1] == '.';
}

bool IsMetByAny(std::string_view path, const std::set<std::string>& targets) {
  return std::ranges::any_of(targets, [&](const std::string& target) {
    return IsMetBy(path, target);
  });
}

class Injection {
 public:
  Injection(Builder& builder, std::string_view model_type,
            const LoraSettings& settings)
      : builder_(&builder),
        graph_(&builder.graph()),
        settings_(&settings),
        model_type_(model_type),
        fused_(FusedTargetsOf(model_type)) {}

  std::optional<AdapterRefusal> Run() {
    if (settings_->dora && settings_->dropout > 0) {
      return AdapterRefusal{
          "DoRA with dropout computes the layer's own product again, which is "
          "not followed",
          "set the adapters' dropout to 0"};
    }
    if (auto refusal = Choose()) return refusal;
    for (Parameter& parameter : graph_->parameters) {
      StopTraining(*graph_, parameter);
    }
    // In the order of the modules: adapters train in that of their names.
    for (const auto& [region, chosen] : chosen_) {
      if (chosen.parameters.empty()) {
        Add(chosen.layer);
      } else {
        Wrap(region, chosen.parameters);
      }
    }
    if (auto refusal = Save()) return refusal;
    graph_->regions.front().name = "base_model.model";
    return std::nullopt;
  }

 private:
  // A linear layer, or parameters of another module.
  struct Chosen {
    LinearLayer layer;
    std::vector<ParameterId> parameters;
  };

  std::optional<AdapterRefusal> Choose() {
    std::set<std::string> targets(settings_->targets.begin(),
                                  settings_->targets.end());
    const bool takes_all = targets == std::set<std::string>{"all-linear"};
    if (takes_all) {
      targets.clear();
      // The layers' whole names, or, beside fused parameters, their last parts.
      for (const LinearLayer& layer : graph_->linears) {
        if (layer.region == graph_->output_embeddings) continue;
        targets.insert(fused_ ? (*graph_)[layer.region].name
                              : graph_->PathOf(layer.region));
      }
    }
    if (fused_) {
      if (auto refusal = ChooseFused(takes_all, targets)) return refusal;
    }
    if (auto refusal = ChooseModules(targets)) return refusal;
    if (chosen_.empty()) return NoneMatched();
    return std::nullopt;
  }

  // Takes the names of fused parameters out of `targets`.
  std::optional<AdapterRefusal> ChooseFused(bool takes_all,
                                            std::set<std::string>& targets) {
    std::set<std::string_view> old_names;
    for (const FusedTarget& one : *fused_) {
      const bool is_named = std::erase_if(targets, [&](const auto& target) {
                              return IsMetBy(target, one.old_name);
                            }) > 0;
      if (is_named || takes_all) old_names.insert(one.old_name);
    }
    for (const FusedTarget& one : *fused_) {
      const bool has_one = old_names.contains(one.old_name);
      for (const FusedTarget& other : *fused_) {
        if (other.parameter != one.parameter) continue;
        if (has_one && !old_names.contains(other.old_name)) {
          return AdapterRefusal{
              fmt::format("{} alone cannot be adapted: {} is fused of it and "
                          "{}",
                          one.old_name, one.parameter, other.old_name),
              fmt::format("name {} as well", other.old_name)};
        }
      }
      if (!has_one) continue;
      if (settings_->dropout > 0) {
        return AdapterRefusal{
            fmt::format("adapters of {}, a parameter, have no dropout",
                        one.parameter),
            "set the adapters' dropout to 0"};
      }
      ChooseParameters(one.parameter);
    }
    return std::nullopt;
  }

  void ChooseParameters(std::string_view name) {
    for (uint32_t i = 0; i < graph_->parameters.size(); ++i) {
      const Parameter& parameter = graph_->parameters[i];
      if (!IsMetBy(graph_->NameOf(parameter), name)) continue;
      std::vector<ParameterId>& of = chosen_[parameter.region].parameters;
      if (std::ranges::find(of, ParameterId{i}) == of.end()) {
        of.push_back(ParameterId{i});
      }
    }
  }

  // A module that is met must be one that an adapter can lie beside.
  std::optional<AdapterRefusal> ChooseModules(
      const std::set<std::string>& targets) {
    for (uint32_t i = 1; i < graph_->regions.size(); ++i) {
      const RegionId region{i};
      const std::string path = graph_->PathOf(region);
      if (!IsMetByAny(path, targets)) continue;
      const std::string& name = (*graph_)[region].name;
      if (IsReadByKernel(model_type_, name)) {
        return AdapterRefusal{
            fmt::format("peft does not adapt {} of a model of type {}", name,
                        model_type_),
            "name other layers, as in_proj"};
      }
      const auto layer =
          std::ranges::find(graph_->linears, region, &LinearLayer::region);
      if (layer == graph_->linears.end()) {
        return AdapterRefusal{fmt::format("{} is no linear layer", path),
                              fmt::format("name linear layers, as {}",
                                          fmt::join(NamesOfLayers(), ", "))};
      }
      chosen_[region].layer = *layer;
    }
    return std::nullopt;
  }

  // The last parts of the names of all that can be adapted.
  std::set<std::string> NamesOfLayers() const {
    std::set<std::string> names;
    for (const LinearLayer& layer : graph_->linears) {
      if (layer.region == graph_->output_embeddings) continue;
      names.insert((*graph_)[layer.region].name);
    }
    if (fused_) {
      for (const FusedTarget& one : *fused_) names.emplace(one.old_name);
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

  // modules_to_save: the module's parameters become the copy that trains, and
  // the original ones lie beside, frozen and never read.
  std::optional<AdapterRefusal> Save() {
    const std::set<std::string> names(settings_->saved.begin(),
                                      settings_->saved.end());
    std::set<std::string> found;
    const auto regions = static_cast<uint32_t>(graph_->regions.size());
    for (uint32_t i = 1; i < regions; ++i) {
      const std::string path = graph_->PathOf(RegionId{i});
      for (const std::string& name : names) {
        // By the end of its path, whatever stands before it: "norm" means
        // every layer norm, too. Source: peft 0.21, utils/other.py
        // (_set_trainable).
        if (!path.ends_with(name) || IsAdapters(RegionId{i})) continue;
        found.insert(name);
        if (!SaveModule(RegionId{i})) {
          return AdapterRefusal{
              fmt::format("{} shares its weight with another module, and a "
                          "copy of it would not",
                          path),
              "name a module whose weights are its own"};
        }
      }
    }
    for (const std::string& name : names) {
      if (found.contains(name)) continue;
      std::set<std::string> all;
      for (const Region& region : graph_->regions) all.insert(region.name);
      const std::vector<std::string_view> views(all.begin(), all.end());
      const auto near = NearestNames(name, views, 1);
      return AdapterRefusal{
          fmt::format("no module to save is named {}", name),
          near.empty() ? "name modules such as lm_head or embed_tokens"
                       : fmt::format("did you mean {}?", near.front())};
    }
    return std::nullopt;
  }

  // Within what an adapter is made of.
  bool IsAdapters(RegionId region) const {
    for (; region.valid(); region = (*graph_)[region].parent) {
      const std::string& name = (*graph_)[region].name;
      if (name.starts_with("lora_") || name == "base_layer") return true;
    }
    return false;
  }

  // False where a parameter is another's.
  bool SaveModule(RegionId module) {
    std::vector<uint32_t> own;
    for (uint32_t i = 0; i < graph_->parameters.size(); ++i) {
      RegionId at = graph_->parameters[i].region;
      while (at.valid() && at != module) at = (*graph_)[at].parent;
      if (at != module) continue;
      if (graph_->parameters[i].tied_to) return false;
      own.push_back(i);
    }
    const RegionKind kind = (*graph_)[module].kind;
    const RegionId original =
        builder_->AddRegion(module, "original_module", kind);
    const RegionId copies = builder_->AddRegion(
        builder_->AddRegion(module, "modules_to_save", kind), "default", kind);
    for (const uint32_t i : own) {
      const Value value = (*graph_)[graph_->parameters[i].value];
      const ParameterId frozen = builder_->AddParameter(
          original, graph_->parameters[i].name, value.shape, value.dtype);
      StopTraining(*graph_, graph_->parameters[frozen.index]);
      Parameter& copy = graph_->parameters[i];
      copy.trainable = true;
      graph_->values[copy.value.index].requires_grad = true;
      if (copy.region == module) copy.region = copies;
    }
    return true;
  }

  DType DTypeFor(const Value& weight) const {
    return settings_->float32 && BytesOf(weight.dtype) == 2 ? DType::kFloat32
                                                            : weight.dtype;
  }

  double Scaling() const {
    const auto rank = static_cast<double>(settings_->rank);
    return settings_->alpha /
           (settings_->rank_stabilized ? std::sqrt(rank) : rank);
  }

  Value WeightOf(ParameterId id) const {
    return (*graph_)[(*graph_)[id].value];
  }

  RegionId AddDefault(RegionId wrapper, std::string_view name) {
    const RegionKind kind = (*graph_)[wrapper].kind;
    const RegionId outer = builder_->AddRegion(wrapper, name, kind);
    return builder_->AddRegion(outer, "default", kind);
  }

  // The module below its wrapper, with all that it held.
  RegionId MoveDown(RegionId module) {
    const RegionId base =
        builder_->AddRegion(module, "base_layer", (*graph_)[module].kind);
    for (Parameter& parameter : graph_->parameters) {
      if (parameter.region == module) parameter.region = base;
    }
    for (Buffer& buffer : graph_->buffers) {
      if (buffer.region == module) buffer.region = base;
    }
    for (uint32_t i = 0; i < base.index; ++i) {
      Region& region = graph_->regions[i];
      if (region.parent == module) region.parent = base;
    }
    return base;
  }

  void Add(const LinearLayer& layer) {
    const Value weight = WeightOf(layer.weight);
    const int64_t in = weight.shape[layer.is_conv1d ? 0 : 1];
    const int64_t out = weight.shape[layer.is_conv1d ? 1 : 0];
    const DType dtype = DTypeFor(weight);
    Adapter adapter;
    adapter.region = layer.region;
    adapter.base = MoveDown(layer.region);
    adapter.dropout = settings_->dropout;
    adapter.dropout_region = AddDefault(layer.region, "lora_dropout");
    adapter.a_region = AddDefault(layer.region, "lora_A");
    adapter.a = builder_->AddParameter(adapter.a_region, "weight",
                                       {settings_->rank, in}, dtype);
    adapter.b_region = AddDefault(layer.region, "lora_B");
    adapter.b = builder_->AddParameter(adapter.b_region, "weight",
                                       {out, settings_->rank}, dtype);
    adapter.scaling = Scaling();
    if (settings_->dora) {
      builder_->AddParameter(AddDefault(layer.region, kMagnitude), "weight",
                             {out}, dtype);
    }
    graph_->adapters.push_back(adapter);
  }

  // One wrapper within another, the last parameter's outermost.
  void Wrap(RegionId module, const std::vector<ParameterId>& parameters) {
    std::vector<RegionId> levels = {module};
    for (size_t i = 0; i < parameters.size(); ++i) {
      levels.push_back(MoveDown(levels.back()));
    }
    const size_t first = graph_->parameter_adapters.size();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const size_t level = parameters.size() - 1 - i;
      graph_->parameter_adapters.push_back(
          Wrapper(module, levels[level], levels[level + 1], parameters[i]));
    }
    std::reverse(
        graph_->parameter_adapters.begin() + static_cast<std::ptrdiff_t>(first),
        graph_->parameter_adapters.end());
  }

  ParameterAdapter Wrapper(RegionId module, RegionId wrapper, RegionId base,
                           ParameterId parameter) {
    ParameterAdapter out;
    out.parameter = parameter;
    out.module = module;
    out.wrapper = wrapper;
    out.base = base;
    const Value weight = WeightOf(parameter);
    const bool is_stack = weight.shape.rank() == 3;
    out.slices = is_stack ? weight.shape[0] : 1;
    int64_t fused = 0;
    for (const FusedTarget& one : *fused_) {
      if (one.parameter == (*graph_)[parameter].name) ++fused;
    }
    const int64_t rank = settings_->rank * std::max<int64_t>(1, fused);
    const DType dtype = DTypeFor(weight);
    out.a =
        builder_->AddParameter(AddDefault(wrapper, "lora_A"), "weight",
                               {rank * out.slices, weight.shape[-1]}, dtype);
    out.b =
        builder_->AddParameter(AddDefault(wrapper, "lora_B"), "weight",
                               {weight.shape[-2], rank * out.slices}, dtype);
    // With the rank its alpha grows.
    out.scaling = Scaling();
    return out;
  }

  Builder* builder_;
  Graph* graph_;
  const LoraSettings* settings_;
  std::string_view model_type_;
  std::optional<std::span<const FusedTarget>> fused_;
  std::map<RegionId, Chosen> chosen_;
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
                                          std::string_view model_type,
                                          const LoraSettings& settings) {
  return Injection(builder, model_type, settings).Run();
}

}  // namespace foretell
