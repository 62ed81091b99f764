#include "answers/compile_step.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "graph/autocast.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/tape.h"
#include "passes/adapters.h"

namespace foretell {
namespace {

// What the class's forward takes: a label per token, or one per sequence; a
// multiple choice holds several sequences to choose from.
struct InputShapes {
  Shape ids;
  Shape labels;
};

InputShapes ShapesFor(std::string_view class_name, const StepCase& step) {
  const Shape tokens = {step.batch, step.sequence};
  if (class_name.ends_with("ForMultipleChoice")) {
    constexpr int64_t kChoices = 2;
    return {{step.batch, kChoices, step.sequence}, {step.batch}};
  }
  if (class_name.ends_with("ForSequenceClassification") ||
      class_name.ends_with("ForNextSentencePrediction")) {
    return {tokens, {step.batch}};
  }
  const int64_t labels = step.target > 0 ? step.target : step.sequence;
  return {tokens, {step.batch, labels}};
}

Tensor InputNamed(Builder& builder, const std::vector<StepInput>& inputs,
                  std::string_view name) {
  for (const StepInput& input : inputs) {
    if (input.name == name) return builder.Input(input.shape, input.dtype);
  }
  return {};
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

class Compiler {
 public:
  // `earlier` are gradients that micro-batches before this one have left.
  Compiler(CompiledStep& out, const StepCase& step,
           std::span<const GradientLayout> earlier = {})
      : out_(&out),
        step_(&step),
        builder_(*out.model.built.builder),
        earlier_(earlier) {}

  void Run(StopAfter stop) {
    Execution execution;
    execution.training = step_->mode == StepMode::kTrain && !step_->evaluates;
    execution.gradients = execution.training;
    // Attention's scores alone are laid over a step that keeps all.
    execution.checkpoint =
        step_->checkpoint &&
        step_->checkpoint_kind != CheckpointKind::kOnlyAttention;
    builder_.tape().set_policy(
        {step_->checkpoint_every,
         step_->checkpoint_kind == CheckpointKind::kByOperator});
    execution.capability = step_->capability;
    execution.flash = IsFlash(*step_);
    execution.inputs_take_gradient = step_->checkpoint && step_->lora;
    builder_.set_execution(execution);
    std::vector<LeafGradient> held;
    for (const GradientLayout& one : earlier_) {
      held.push_back(
          {one.leaf, builder_.State(one.shape, one.strides, one.dtype)});
    }
    builder_.StartPhase(Phase::kForward);
    std::vector<Tensor> returned;
    Tensor loss = RunForward(returned);
    for (const Tensor& tensor : returned) {
      out_->returned.push_back(StorageOf(tensor));
    }
    if (!loss.empty()) out_->returned.push_back(StorageOf(loss));
    if (!execution.training || stop == StopAfter::kForward) {
      builder_.Output(loss);
      return;
    }
    if (!step_->holds_output) returned.clear();
    builder_.StartPhase(Phase::kBackward);
    std::vector<LeafGradient> gradients = Backward(loss, std::move(held));
    returned.clear();
    loss = Tensor();
    Sort(gradients);
    for (const LeafGradient& one : gradients) {
      out_->gradients.push_back(StorageOf(one.gradient));
      const Value value = builder_.ValueOf(one.gradient.id());
      out_->gradient_layouts.push_back(
          {one.leaf, value.shape, value.strides, value.dtype});
    }
    if (stop == StopAfter::kBackward) return;
    RunOptimizer(gradients);
  }

 private:
  void RunOptimizer(std::vector<LeafGradient>& gradients) {
    const auto kind = ParseOptimizerKind(step_->optimizer);
    if (!kind) return builder_.Fail("no optimizer: " + step_->optimizer);
    if (*kind == OptimizerKind::kNone) return;
    builder_.StartPhase(Phase::kOptimizer);
    out_->optimizer =
        Optimize(builder_, {*kind, step_->first_step, true}, gradients);
    for (const OptimizerState& state : out_->optimizer.states) {
      const StorageId storage = StorageOf(state.tensor);
      out_->states.push_back(storage);
      out_->optimizer_bytes += out_->graph().storages[storage.index].bytes;
    }
  }

  StorageId StorageOf(const Tensor& tensor) const {
    return builder_.ValueOf(tensor.id()).storage;
  }

  Tensor RunForward(std::vector<Tensor>& returned) {
    BuiltModel& built = out_->model.built;
    const std::vector<StepInput> stated = InputsOf(built, *step_);
    ForwardInputs inputs;
    inputs.input_ids = InputNamed(builder_, stated, "input_ids");
    // The caller holds them also where the model does not take them.
    const Tensor labels = InputNamed(builder_, stated, "labels");
    if (step_->mode == StepMode::kTrain) inputs.labels = labels;
    const Tensor decoder_ids =
        InputNamed(builder_, stated, "decoder_input_ids");
    inputs.decoder_ids = decoder_ids;
    inputs.attention_mask = InputNamed(builder_, stated, "attention_mask");
    inputs.attention = IsFlash(*step_) ? "sdpa" : step_->attention;
    inputs.prefill = step_->mode == StepMode::kPrefill;
    std::vector<Tensor> cache;
    inputs.cache = &cache;
    if (step_->mode == StepMode::kDecode) {
      inputs.past = step_->sequence;
      if (inputs.decoder_ids.empty()) {
        inputs.input_ids = builder_.CutBefore(inputs.input_ids, -1, 1);
      } else {
        inputs.past = inputs.decoder_ids.size(-1);
        inputs.decoder_ids = builder_.CutBefore(inputs.decoder_ids, -1, 1);
      }
    }
    inputs.experts = step_->experts;
    inputs.returned = &returned;
    Tensor loss = [&] {
      const AutocastScope scope(builder_, step_->autocast);
      return built.model->Forward(inputs);
    }();
    // A class that is not told to go without returns one anyway.
    const bool returns_cache =
        step_->mode == StepMode::kForward && !cache.empty();
    if (inputs.HasCache() || returns_cache) CountCache(cache);
    if (step_->mode != StepMode::kTrain || loss.empty()) return loss;
    if (loss.shape().rank() == 0) return loss;
    // A class without a loss: the sum of its first output.
    returned.push_back(loss);
    return SumAll(To(loss, DType::kFloat32));
  }

  // A recurrent model's states are no tensors of a cache that it returns.
  void CountCache(const std::vector<Tensor>& cache) {
    const bool is_recurrent = std::ranges::any_of(
        out_->model.built.model->states, [](const LayerState& state) {
          return state.kind == LayerState::Kind::kRecurrent;
        });
    // Layers that look ahead keep nothing: a prefill is a forward.
    const bool keeps_nothing =
        out_->model.built.model->runs_without_cache ||
        std::ranges::all_of(out_->model.built.model->states,
                            [](const LayerState& state) {
                              return state.kind == LayerState::Kind::kNone;
                            });
    if (keeps_nothing && step_->mode == StepMode::kPrefill) return;
    if (cache.empty()) {
      if (is_recurrent) return;
      builder_.Fail("what this class does with a cache is not derived");
      return;
    }
    int64_t bytes = 0;
    // What was there before the step is a state that lives across steps.
    const std::vector<Storage>& storages = out_->graph().storages;
    for (uint32_t i = 0; i < storages.size(); ++i) {
      if (storages[i].kind == StorageKind::kState) {
        out_->cache.push_back(StorageId{i});
      }
    }
    for (const Tensor& tensor : cache) {
      out_->cache.push_back(StorageOf(tensor));
      const auto elements = tensor.shape().Elements();
      const auto size = elements
                            ? CheckedMul(*elements, BytesOf(tensor.dtype()))
                            : std::nullopt;
      const auto sum = size ? CheckedAdd(bytes, *size) : std::nullopt;
      if (!sum) builder_.Fail("the cache passes 2^63 - 1 bytes");
      bytes = sum.value_or(0);
    }
    out_->cache_bytes = bytes;
  }

  // In the order of the model's parameters.
  void Sort(std::vector<LeafGradient>& gradients) const {
    std::map<uint32_t, size_t> place;
    for (size_t i = 0; i < out_->graph().parameters.size(); ++i) {
      place.try_emplace(out_->graph().parameters[i].value.index, i);
    }
    std::erase_if(gradients, [&](const LeafGradient& one) {
      return !place.contains(one.leaf.index) || one.gradient.empty();
    });
    std::ranges::sort(gradients, {}, [&](const LeafGradient& one) {
      return place[one.leaf.index];
    });
  }

  CompiledStep* out_;
  const StepCase* step_;
  Builder& builder_;
  std::span<const GradientLayout> earlier_;
};

// What trains: before the forward is written.
std::optional<AdapterRefusal> ChooseTraining(ReadModel& model,
                                             const StepCase& step) {
  if (step.frozen.empty() && !step.lora) return std::nullopt;
  Freeze(*model.built.graph, step.frozen);
  if (step.lora) {
    const auto& types = model.built.family->model_types;
    const std::string_view type = types.empty() ? "" : types.front();
    if (auto refusal = AddAdapters(*model.built.builder, type, *step.lora)) {
      return refusal;
    }
  }
  model.parameters = AnalyzeParameters(*model.built.graph);
  return std::nullopt;
}

int64_t GradientBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.tied_to || !graph[parameter.value].requires_grad) continue;
    bytes += graph.storages[graph[parameter.value].storage.index].bytes;
  }
  return bytes;
}

// The step's version of the library decides what a family builds.
BuildOptions WithLibrary(BuildOptions build, const StepCase& step) {
  build.library = &LibraryFor(step.transformers);
  return build;
}

}  // namespace

std::vector<StepInput> InputsOf(const BuiltModel& built, const StepCase& step) {
  if (!step.inputs.empty()) return step.inputs;
  const InputShapes shapes = ShapesFor(built.class_name, step);
  std::vector<StepInput> out = {{"input_ids", DType::kInt64, shapes.ids},
                                {"labels", DType::kInt64, shapes.labels}};
  if (step.mode != StepMode::kTrain && built.model->takes_decoder_ids) {
    const int64_t tokens = step.target > 0 ? step.target : step.sequence;
    out.push_back({"decoder_input_ids", DType::kInt64, {step.batch, tokens}});
  }
  if (step.mask) {
    Shape shape = shapes.ids;
    // A decoded token's mask is of the cached ones, too.
    if (step.mode == StepMode::kDecode && !built.model->takes_decoder_ids) {
      shape.Set(shape.rank() - 1, step.sequence + 1);
    }
    out.push_back({"attention_mask", DType::kInt64, shape});
  }
  return out;
}

namespace {

// The gradients that the micro-batches before the last one leave: one backward
// shows where each lies. Nothing where there are none; a compile that fails
// fails again.
std::vector<GradientLayout> EarlierGradients(const ModelConfig& config,
                                             const BuildOptions& build,
                                             const StepCase& step) {
  if (step.accumulate <= 1 || step.mode != StepMode::kTrain) return {};
  StepCase first = step;
  first.accumulate = 1;
  PartialStep before =
      CompilePartly(config, build, first, StopAfter::kBackward);
  if (!before.compiled) return {};
  return std::move(before.compiled->gradient_layouts);
}

}  // namespace

PartialStep CompilePartly(const ModelConfig& config, const BuildOptions& build,
                          const StepCase& step, StopAfter stop) {
  PartialStep out;
  auto read = ReadModelOf(config, WithLibrary(build, step));
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    out.reason = refusal->errors.front().what;
    return out;
  }
  out.compiled.emplace();
  out.compiled->model = std::move(std::get<ReadModel>(read));
  if (const auto refusal = ChooseTraining(out.compiled->model, step)) {
    out.compiled.reset();
    out.reason = refusal->what;
    return out;
  }
  const std::vector<GradientLayout> earlier =
      EarlierGradients(config, build, step);
  Compiler(*out.compiled, step, earlier).Run(stop);
  out.reason = out.compiled->model.built.builder->failure();
  return out;
}

std::variant<CompiledStep, Refusal> CompileStep(const ModelConfig& config,
                                                const BuildOptions& build,
                                                const StepCase& step,
                                                StopAfter stop) {
  auto read = ReadModelOf(config, WithLibrary(build, step));
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  CompiledStep out{.model = std::move(std::get<ReadModel>(read))};
  // What was changed on a loaded configuration is not checked again.
  if (!config.is_loaded && AnyBlocks(out.model.log.findings)) {
    return RefusalOf(std::move(out.model.log.findings));
  }
  if (auto refusal = ChooseTraining(out.model, step)) {
    InputError error;
    error.place.key = "--lora";
    error.what = "the adapters cannot be added: " + refusal->what;
    error.cure = std::move(refusal->cure);
    return Refusal{{error}};
  }
  const std::vector<GradientLayout> earlier =
      EarlierGradients(config, build, step);
  Compiler(out, step, earlier).Run(stop);
  const std::string& failure = out.model.built.builder->failure();
  if (!failure.empty()) {
    InputError error;
    error.place.source = config.source;
    error.what = "the step cannot be written: " + failure;
    error.cure =
        "change what the reason names, in the configuration or by --seq and "
        "--batch; foretell model shows what was read";
    return Refusal{{error}};
  }
  out.gradient_bytes = GradientBytes(out.graph());
  return out;
}

}  // namespace foretell
