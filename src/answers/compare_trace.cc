#include "answers/compare_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/flops.h"
#include "answers/compile_step.h"
#include "models/build.h"

namespace foretell {
namespace {

// The parts of two tensors, as one text per side.
std::string Describe(const TraceTensor& tensor) {
  return fmt::format("{}{}", ShortNameOf(tensor.dtype),
                     tensor.shape.ToString());
}

std::string Describe(const Value& value) {
  return fmt::format("{}{}", ShortNameOf(value.dtype), value.shape.ToString());
}

class Comparison {
 public:
  Comparison(const Graph& graph, const Trace& trace)
      : graph_(&graph), trace_(&trace) {
    std::vector<int64_t> freed;
    for (const TraceOperation& operation : trace.operations) {
      freed.insert(freed.end(), operation.freed.begin(), operation.freed.end());
      // The profiler's own marks touch no tensor.
      if (operation.name.starts_with("profiler.")) continue;
      if (IsHostsOwnCheck(operation)) continue;
      recorded_.push_back(&operation);
      freed_.push_back(std::exchange(freed, {}));
    }
  }

  std::string Run() {
    std::vector<Operation> derived;
    for (const Operation& operation : graph_->operations) {
      if (IsOperator(operation)) derived.push_back(operation);
    }
    const size_t both = std::min(derived.size(), recorded_.size());
    for (size_t i = 0; i < both; ++i) {
      const std::string difference = Compare(derived[i], *recorded_[i]);
      if (difference.empty()) continue;
      return fmt::format(
          "operator {} of {} ({}):\n  recorded, line {}: {}\n  derived: {}\n",
          i, recorded_.size(), difference, recorded_[i]->line,
          Text(*recorded_[i]), Text(derived[i]));
    }
    if (derived.size() > both) {
      return "derived, after the last recorded operator: " +
             Text(derived[both]);
    }
    const size_t left = recorded_.size() - both;
    if (left > 0) {
      return fmt::format(
          "recorded, after the last derived operator, line {}: "
          "{}",
          recorded_[both]->line, Text(*recorded_[both]));
    }
    const std::string deaths = CompareDeaths();
    if (!deaths.empty()) return deaths;
    const int64_t grouped =
        trace_->grouped_forward_flops +
        (HasPhase("backward") ? trace_->grouped_backward_flops : 0);
    if (grouped_ != grouped) {
      return fmt::format("FLOPs of grouped products: recorded {}, derived {}",
                         grouped, grouped_);
    }
    return "";
  }

 private:
  // Not a function of autograd's own, which runs none.
  static bool IsOperator(const Operation& operation) {
    return !operation.row->name.starts_with("autograd.");
  }

  // On a card one_hot looks at no numbers; on the host it reads the least and
  // the largest (torch 2.15, aten/src/ATen/native/Onehot.cpp).
  bool IsHostsOwnCheck(const TraceOperation& operation) {
    if (operation.name == "aten.aminmax.default") {
      for (const TraceTensor& tensor : operation.outputs) {
        of_checks_.insert(tensor.storage);
      }
      return true;
    }
    return operation.name == "aten._local_scalar_dense.default" &&
           of_checks_.contains(operation.inputs[0].storage);
  }

  // The recorder has no path ("?") for modules that the model never
  // registered: some losses, and activations made on the fly.
  bool HasPhase(std::string_view phase) const {
    return std::ranges::any_of(recorded_, [&](const TraceOperation* one) {
      return one->phase == phase;
    });
  }

  std::string Compare(const Operation& derived,
                      const TraceOperation& recorded) {
    if (derived.row->name != recorded.name) return "name";
    // Autograd's own operators run in no module.
    if (recorded.phase == "forward" && recorded.module != "?" &&
        graph_->PathOf(derived.region) != recorded.module) {
      return "module";
    }
    std::string difference =
        CompareTensors(graph_->InputsOf(derived), recorded.inputs, "input");
    if (!difference.empty()) return difference;
    difference =
        CompareTensors(graph_->OutputsOf(derived), recorded.outputs, "output");
    if (!difference.empty()) return difference;
    const auto flops = FlopsOf(*graph_, derived);
    if (!flops) return "FLOPs past 2^63";
    if (derived.row->name == "aten._grouped_mm.default") {
      // Counted beside the others (see Trace).
      grouped_ += *flops;
      return "";
    }
    if (*flops == recorded.flops) return "";
    return fmt::format("FLOPs: recorded {}, derived {}", recorded.flops,
                       *flops);
  }

  std::string CompareTensors(std::span<const ValueId> derived,
                             const std::vector<TraceTensor>& recorded,
                             std::string_view what) {
    if (derived.size() != recorded.size()) {
      return fmt::format("number of {}s", what);
    }
    for (size_t i = 0; i < recorded.size(); ++i) {
      const Value& value = (*graph_)[derived[i]];
      if (value.dtype != recorded[i].dtype ||
          !(value.shape == recorded[i].shape)) {
        return fmt::format("{} {}", what, i);
      }
      if (!SameStorage(value.storage, recorded[i].storage)) {
        return fmt::format("storage of {} {}", what, i);
      }
    }
    return "";
  }

  std::set<StorageId> Made() const {
    std::set<StorageId> made;
    for (const Operation& operation : graph_->operations) {
      for (const ValueId id : graph_->OutputsOf(operation)) {
        made.insert((*graph_)[id].storage);
      }
    }
    return made;
  }

  // For each storage, how many operators had run when its last name went.
  std::map<StorageId, size_t> Deaths() const {
    std::map<StorageId, size_t> alive;  // values of each storage
    std::vector<bool> is_made(graph_->values.size());
    for (const Operation& operation : graph_->operations) {
      for (const ValueId id : graph_->OutputsOf(operation)) {
        ++alive[(*graph_)[id].storage];
        is_made[id.index] = true;
      }
    }
    // What no operation makes, as an optimizer's states, is named already.
    for (size_t i = 0; i < is_made.size(); ++i) {
      if (!is_made[i]) ++alive[graph_->values[i].storage];
    }
    std::map<StorageId, size_t> deaths;
    size_t run = 0;
    for (const Step& step : graph_->steps) {
      if (step.kind == Step::Kind::kOperation) {
        if (IsOperator(graph_->operations[step.index])) ++run;
        continue;
      }
      const StorageId storage = graph_->values[step.index].storage;
      if (--alive[storage] == 0) deaths[storage] = run;
    }
    return deaths;
  }

  std::string CompareDeaths() const {
    std::map<StorageId, size_t> deaths = Deaths();
    const std::set<StorageId> made = Made();
    for (size_t i = 0; i < recorded_.size(); ++i) {
      for (const int64_t storage : freed_[i]) {
        const auto derived = to_derived_.find(storage);
        if (derived == to_derived_.end()) continue;
        // Only what operations made; a constant is Python's own.
        if (!made.contains(derived->second)) continue;
        const auto death = deaths.find(derived->second);
        const bool agrees = death != deaths.end() && death->second == i;
        if (agrees) deaths.erase(death);
        if (agrees) continue;
        return fmt::format(
            "storage {} dies before operator {} of {}, line {}, {}; derived: "
            "{}",
            storage, i, recorded_.size(), recorded_[i]->line,
            Text(*recorded_[i]),
            death == deaths.end()
                ? "never"
                : fmt::format("before operator {}", death->second));
      }
    }
    for (const auto& [storage, at] : deaths) {
      // What dies after the last operator does not show in the recording.
      if (at >= recorded_.size() || !made.contains(storage)) continue;
      return fmt::format(
          "storage {} dies in the derived step before operator {} of {}, line "
          "{}, {}; recorded: later or never",
          Name(storage), at, recorded_.size(), recorded_[at]->line,
          Text(*recorded_[at]));
    }
    return "";
  }

  // Each side's storage has one counterpart on the other.
  bool SameStorage(StorageId derived, int64_t recorded) {
    const auto [there, is_new] = to_recorded_.try_emplace(derived, recorded);
    const auto [back, is_new_back] = to_derived_.try_emplace(recorded, derived);
    return there->second == recorded && back->second == derived;
  }

  std::string Text(const TraceOperation& operation) const {
    std::string out = operation.module + " " + operation.name + " (";
    for (const TraceTensor& tensor : operation.inputs) {
      out += fmt::format("{}:{} ", tensor.storage, Describe(tensor));
    }
    out += ") ->";
    for (const TraceTensor& tensor : operation.outputs) {
      out += fmt::format(" {}:{}", tensor.storage, Describe(tensor));
    }
    return out;
  }

  // Storages under the numbers that the recording gives them, where it does.
  std::string Name(StorageId storage) const {
    const auto at = to_recorded_.find(storage);
    return at == to_recorded_.end() ? "new" : std::to_string(at->second);
  }

  std::string Text(const Operation& operation) const {
    std::string out = graph_->PathOf(operation.region) + " " +
                      std::string(operation.row->name) + " (";
    for (const ValueId id : graph_->InputsOf(operation)) {
      const Value& value = (*graph_)[id];
      out += fmt::format("{}:{} ", Name(value.storage), Describe(value));
    }
    out += ") ->";
    for (const ValueId id : graph_->OutputsOf(operation)) {
      const Value& value = (*graph_)[id];
      out += fmt::format(" {}:{}", Name(value.storage), Describe(value));
    }
    return out;
  }

  const Graph* graph_;
  const Trace* trace_;
  std::vector<const TraceOperation*> recorded_;
  std::vector<std::vector<int64_t>> freed_;  // before each of `recorded_`
  std::map<StorageId, int64_t> to_recorded_;
  std::map<int64_t, StorageId> to_derived_;
  int64_t grouped_ = 0;
  std::set<int64_t> of_checks_;
};

// The recorder cut the lists of kinds of layers as it cut their number.
void CutLayerLists(ConfigValue& root) {
  const ConfigValue* layers = root.Find("num_hidden_layers");
  const auto count = layers ? layers->AsInteger() : std::nullopt;
  if (!count || *count < 0) return;
  const auto kept = static_cast<size_t>(*count);
  for (const std::string_view key : {"layer_types", "layers_block_type"}) {
    ConfigValue* types = root.Find(key);
    if (types == nullptr || !types->is_array()) continue;
    auto& items = types->mutable_items();
    if (items.size() > kept) items.resize(kept);
  }
  // One letter for each layer.
  constexpr std::string_view kPattern = "hybrid_override_pattern";
  const ConfigValue* pattern = root.Find(kPattern);
  const auto text = pattern ? pattern->AsString() : std::nullopt;
  if (text && text->size() > kept) {
    root.Set(kPattern, ConfigValue::String(std::string(text->substr(0, kept))));
  }
}

StopAfter LastPhaseOf(const Trace& trace) {
  if (trace.operations.empty()) return StopAfter::kForward;
  const std::string& phase = trace.operations.back().phase;
  if (phase == "optimizer") return StopAfter::kOptimizer;
  return phase == "backward" ? StopAfter::kBackward : StopAfter::kForward;
}

}  // namespace

std::string CompareTrace(const Trace& trace, ModelConfig config) {
  ApplyOverrides(trace.shallow, config.root);
  CutLayerLists(config.root);
  ApplyOverrides(trace.edits, config.root);
  BuildOptions options;
  options.class_name = trace.class_name;
  options.dtype = trace.step.dtype;
  config = WithOverrides(std::move(config), trace.overrides, options);
  const PartialStep step =
      CompilePartly(config, options, trace.step, LastPhaseOf(trace));
  if (!step.compiled) return "no model; " + step.reason;
  const std::string difference =
      Comparison(step.compiled->graph(), trace).Run();
  if (step.reason.empty()) return difference;
  return "the step stopped: " + step.reason + "\n" + difference;
}

}  // namespace foretell
