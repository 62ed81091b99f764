#include "answers/train_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/flops.h"
#include "analysis/memory.h"
#include "analysis/occupancy.h"
#include "analysis/quantization/packed_linear.h"
#include "answers/claims.h"
#include "base/checked.h"
#include "base/library.h"
#include "engines/pytorch/device_memory.h"
#include "engines/pytorch/optimizer_memory.h"
#include "graph/operation_row.h"
#include "passes/fuse_loss.h"
#include "passes/hold_inputs.h"
#include "passes/logits.h"
#include "passes/older_loss.h"
#include "passes/quantize_weights.h"
#include "passes/shard_storages.h"

namespace foretell {
namespace {

// How far tensors' bytes may be off either way where the step is not claimed
// to be exact, by what was laid over it.
// Source: tools/fit/training_memory.py over the rows it names: 0.167 where
// weights are packed or the loss is fused (79 rows), 0.172 where cards divide
// the model (128 rows). Of plain jobs there are six rows whose card is sure:
// 0.06.
constexpr double kMarginPlain = 0.07;
constexpr double kMarginFused = 0.17;
constexpr double kMarginSharded = 0.18;

constexpr int64_t kMasterBytes = 4;

Refusal Refused(std::string what, std::string cure) {
  InputError error;
  error.what = std::move(what);
  error.cure = std::move(cure);
  return Refusal{{error}};
}

// The step of the job as it is compiled: what is not packed may be float32,
// with products in the packed weights' own dtype.
StepCase StepOf(const TrainingJob& job) {
  StepCase step = job.step;
  if (!job.optimizer.empty()) step.optimizer = "none";
  if (job.prepared_float32 && !step.autocast) {
    step.autocast = step.dtype;
    step.dtype = DType::kFloat32;
  }
  return step;
}

int64_t RoundUp(int64_t bytes) {
  const int64_t rest = bytes % kAllocatorRounding;
  return rest == 0 ? bytes : bytes + kAllocatorRounding - rest;
}

class Accountant {
 public:
  Accountant(CompiledStep& compiled, const StepCase& step,
             const TrainingJob& job)
      : compiled_(compiled),
        graph_(*compiled.model.built.graph),
        step_(step),
        job_(job) {}

  std::variant<TrainMemory, Refusal> Run() {
    out_.not_exact = ReasonsNotExact(compiled_, step_);
    if (!MarkLogits()) return TooLarge();
    if (auto refusal = LayOver()) return *std::move(refusal);
    for (Storage& storage : graph_.storages) {
      if (storage.bytes < 0) return TooLarge();
      storage.bytes = RoundUp(storage.bytes);
    }
    const auto memory = AnalyzeMemory(graph_, beside_);
    if (!memory) return TooLarge();
    CountTrained();
    AddOptimizer();
    ChoosePeak(*memory);
    out_.operations = static_cast<int64_t>(graph_.operations.size());
    if (!CountFlops()) return TooLarge();
    AddOutsideTensors();
    return std::move(out_);
  }

 private:
  static Refusal TooLarge() {
    return Refused("a size of this job passes 2^63 - 1 bytes",
                   "lower --batch or --seq");
  }

  bool MarkLogits() {
    const auto tokens = CheckedMul(step_.batch, step_.sequence);
    if (!tokens) return false;
    found_ = FindLogits(graph_, *tokens);
    is_logits_.resize(graph_.storages.size());
    for (const LogitsStorage& one : found_.storages) {
      is_logits_[one.storage.index] = true;
    }
    return true;
  }

  // The passes over the compiled step.
  std::optional<Refusal> LayOver() {
    const DType unpacked = step_.autocast.value_or(step_.dtype);
    const QuantizedWeights packed =
        QuantizeWeights(graph_, job_, [&](int64_t rows, int64_t columns) {
          return PackedWeightOf(rows, columns, unpacked);
        });
    beside_ = packed.beside;
    beside_.resize(graph_.operations.size());
    if (packed.layers > 0) {
      out_.not_exact.emplace_back(
          "the packed weights' kernels are a library's own");
    }
    if (!found_.storages.empty()) LayLoss();
    if (found_.storages.empty() && job_.loss != LossKind::kLibrary) {
      return Refused("this class has no head whose loss could be fused",
                     "leave --loss out");
    }
    if (job_.master_weights) WidenStates();
    if (job_.sharding != Sharding::kNone && job_.gpus > 1) {
      shared_ = ShardStorages(graph_, job_, compiled_.gradients);
      Add(shared_);
      if (HoldsInputs()) {
        held_ = HoldBlockInputs(
            graph_, found_.tokens * found_.hidden * BytesOf(step_.dtype));
        Add(held_);
      }
      out_.not_exact.emplace_back(
          "a rank's share is laid over one card's step, and its buffers are "
          "taken as the wrappers' defaults make them");
    }
    return std::nullopt;
  }

  // The states are those of the float32 copy.
  void WidenStates() {
    for (const Value& value : graph_.values) {
      Storage& storage = graph_.storages[value.storage.index];
      const auto elements = value.shape.Elements();
      if (storage.kind != StorageKind::kState || !elements) continue;
      storage.bytes = std::max(storage.bytes, *elements * kMasterBytes);
    }
  }

  // DeepSpeed's step makes float32 gradients of a rank's share; those in half
  // precision are let go after it. Measured: 20 bytes for each parameter of a
  // share at the step, 16 after it.
  // Source: deepspeed 0.14 to 0.18, runtime/zero/stage3.py (step, one sub-group
  // of 1e9 elements after the other), stage_1_and_2.py (step).
  int64_t WideGradients() const {
    const bool third = job_.sharding == Sharding::kZero3;
    const bool zero = third || job_.sharding == Sharding::kZero1 ||
                      job_.sharding == Sharding::kZero2;
    if (!zero || !job_.master_weights || job_.offload != Offload::kNone) {
      return 0;
    }
    constexpr int64_t kSubGroup = 1'000'000'000;
    const int64_t share = Share(out_.trained);
    return kMasterBytes * (third ? std::min(share, kSubGroup) : share);
  }

  // What a packed weight takes, and what is unpacked of it for a product.
  // Source: bitsandbytes 0.48, autograd/_functions.py (MatMul4Bit unpacks the
  // scales to float32 first where they are packed too).
  PackedWeight PackedWeightOf(int64_t rows, int64_t columns,
                              DType unpacked) const {
    Packing packing;
    packing.from_file = false;
    packing.compute_dtype = unpacked;
    PackedWeight out;
    if (job_.weights == WeightFormat::kGptq4) {
      packing.format = PackedFormat::kGptq;
    } else {
      const bool is_4bit = job_.weights == WeightFormat::kNf4;
      constexpr int64_t kBlock = 64;
      packing.format = is_4bit ? PackedFormat::kBnb4 : PackedFormat::kBnb8;
      packing.double_quantized = is_4bit && job_.double_quant;
      out.beside = rows * columns * BytesOf(unpacked);
      if (packing.double_quantized) out.beside += rows * columns / kBlock * 4;
    }
    const auto bytes = PackedLinearMemory(rows, columns, packing).any().value();
    if (bytes) out.bytes = static_cast<int64_t>(*bytes);
    return out;
  }

  void LayLoss() {
    if (job_.loss != LossKind::kLibrary) {
      Add(FuseLoss(graph_, found_, job_.loss));
      out_.not_exact.emplace_back("the loss is another library's kernel");
    }
    const auto version = ParseLibraryVersion(step_.transformers);
    if (!version || job_.loss == LossKind::kChunked) return;
    Add(AgeLoss(
        graph_, found_, *version,
        LossIsInOwnDtype(compiled_.model.built.family->model_types.front()),
        step_.autocast.has_value()));
  }

  void Add(const std::vector<int64_t>& more) {
    for (size_t i = 0; i < beside_.size(); ++i) beside_[i] += more[i];
  }

  bool DividesStates() const {
    return job_.gpus > 1 && job_.sharding != Sharding::kNone &&
           job_.sharding != Sharding::kDdp;
  }

  int64_t Share(int64_t bytes) const {
    return DividesStates() ? (bytes + job_.gpus - 1) / job_.gpus : bytes;
  }

  void CountTrained() {
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      if (parameter.tied_to || !value.requires_grad) continue;
      const int64_t elements = value.shape.Elements().value_or(0);
      bool is_matrix = value.shape.rank() >= 2;
      const RegionKind kind = graph_[parameter.region].kind;
      if (kind == RegionKind::kEmbedding || kind == RegionKind::kHead) {
        is_matrix = false;
      }
      const DType dtype = job_.master_weights ? DType::kFloat32 : value.dtype;
      trained_.push_back({elements, dtype, is_matrix});
      out_.trained += elements;
    }
    if (job_.master_weights) master_ = Share(out_.trained * kMasterBytes);
  }

  // Of an optimizer that is no graph: its states live all the time.
  void AddOptimizer() {
    if (job_.optimizer.empty()) return;
    const auto memory = OptimizerMemoryOf(job_.optimizer, trained_);
    if (!memory) return;
    out_.not_exact.emplace_back("the optimizer is another library's");
    states_ = Share(memory->states);
    out_.managed = Share(memory->managed);
    temporaries_ = memory->temporaries;
  }

  int64_t GradientBytes() const {
    int64_t out = 0;
    for (const StorageId id : compiled_.gradients) {
      out += graph_.storages[id.index].bytes;
    }
    return out;
  }

  // Gradients of earlier micro-steps live throughout, beside what the step
  // makes: what is not yet made of them at a moment is there all the same.
  int64_t Held(const BytesByKind& living) const {
    if (job_.accumulate <= 1) return 0;
    const int64_t all = GradientBytes();
    const int64_t now = living[static_cast<size_t>(MemoryKind::kGradients)];
    return std::max<int64_t>(0, all - now);
  }

  bool HoldsInputs() const {
    return job_.sharding == Sharding::kFsdp1 && job_.gpus > 1 &&
           step_.checkpoint && step_.lora && !found_.storages.empty();
  }

  void ChoosePeak(const StepMemory& memory) {
    const Occupancy occupancy(
        graph_, memory,
        {.gradients = compiled_.gradients,
         .states = compiled_.states,
         .returned = compiled_.returned,
         .cache = {},
         .recomputed = compiled_.model.built.builder->tape().recomputed});
    const PhaseMemory* best = nullptr;
    int64_t most = -1;
    for (const PhaseMemory& phase : memory.phases) {
      int64_t peak = phase.peak + states_ + master_;
      if (phase.phase != Phase::kOptimizer) {
        peak += Held(occupancy.At(phase));
      } else {
        peak += WideGradients();
      }
      out_.phases.push_back({phase.phase, peak});
      if (peak <= most) continue;
      most = peak;
      best = &phase;
    }
    if (best != nullptr) Explain(occupancy, *best);
    AddStepOfRule(memory, most);
  }

  void Explain(const Occupancy& occupancy, const PhaseMemory& phase) {
    out_.peak_phase = phase.phase;
    std::map<std::string, int64_t> terms;
    BytesByKind living = occupancy.At(phase);
    for (const StorageId id : occupancy.LivingAt(phase)) {
      if (!is_logits_[id.index]) continue;
      const int64_t bytes = graph_.storages[id.index].bytes;
      living[static_cast<size_t>(occupancy.KindOf(id))] -= bytes;
      terms["logits and loss"] += bytes;
    }
    for (size_t i = 0; i < kMemoryKinds; ++i) {
      terms[TermOf(static_cast<MemoryKind>(i))] += living[i];
    }
    if (phase.at.valid()) {
      const Operation& operation = graph_.operations[phase.at.index];
      out_.operation = operation.row->name;
      out_.module = graph_.PathOf(operation.region);
      const int64_t shared = shared_.empty() ? 0 : shared_[phase.at.index];
      terms["gathered and communication"] += shared;
      const int64_t held = held_.empty() ? 0 : held_[phase.at.index];
      terms["inputs that FSDP's hooks hold"] += held;
      terms["unpacked for an operation"] +=
          beside_[phase.at.index] - shared - held;
    }
    terms["optimizer states"] += states_;
    terms["master weights"] += master_;
    if (phase.phase == Phase::kOptimizer) {
      terms["float32 gradients"] += WideGradients();
    } else {
      terms["gradients"] += Held(occupancy.At(phase));
    }
    SetTerms(terms);
  }

  static const char* TermOf(MemoryKind kind) {
    switch (kind) {
      case MemoryKind::kParameters:
        return "weights";
      case MemoryKind::kGradients:
        return "gradients";
      case MemoryKind::kStates:
        return "optimizer states";
      case MemoryKind::kBuffers:
      case MemoryKind::kInputs:
        return "buffers and inputs";
      case MemoryKind::kKept:
      case MemoryKind::kCache:
        return "kept activations";
      case MemoryKind::kRecomputed:
        return "recomputed activations";
      case MemoryKind::kReturned:
      case MemoryKind::kTemporary:
        return "temporaries";
    }
    return "temporaries";
  }

  void SetTerms(const std::map<std::string, int64_t>& terms) {
    out_.terms.clear();
    out_.tensors = 0;
    for (const auto& [name, bytes] : terms) {
      if (bytes <= 0) continue;
      out_.terms.push_back({name, bytes});
      out_.tensors += bytes;
    }
    std::ranges::stable_sort(out_.terms, std::ranges::greater(),
                             &MemoryTerm::bytes);
  }

  // The step of an optimizer that is no graph.
  void AddStepOfRule(const StepMemory& memory, int64_t most) {
    if (job_.optimizer.empty()) return;
    const int64_t gradients = GradientBytes();
    const int64_t peak =
        memory.resident() + gradients + states_ + master_ + temporaries_;
    out_.phases.push_back({Phase::kOptimizer, peak});
    if (peak <= most) return;
    out_.peak_phase = Phase::kOptimizer;
    out_.operation.clear();
    out_.module.clear();
    SetTerms({{"weights", memory.parameters},
              {"buffers and inputs", memory.buffers + memory.inputs},
              {"gradients", gradients},
              {"optimizer states", memory.states + states_},
              {"master weights", master_},
              {"temporaries", temporaries_}});
  }

  bool CountFlops() {
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      for (const OperationFlops& entry : AnalyzeFlops(graph_, phase)) {
        if (!entry.flops.is_exact()) return false;
        const auto sum = CheckedAdd(out_.flops, entry.flops.exact());
        if (!sum) return false;
        out_.flops = *sum;
      }
    }
    return true;
  }

  double Margin() const {
    if (!shared_.empty()) return kMarginSharded;
    if (job_.loss != LossKind::kLibrary ||
        job_.weights != WeightFormat::kNone) {
      return kMarginFused;
    }
    return kMarginPlain;
  }

  void AddOutsideTensors() {
    if (job_.offload != Offload::kNone) MoveToHost();
    const auto tensors = static_cast<double>(out_.tensors);
    const Bytes held = out_.not_exact.empty()
                           ? Bytes::Exact(out_.tensors)
                           : Bytes::Estimated(tensors, tensors * (1 - Margin()),
                                              tensors * (1 + Margin()), "");
    const int64_t workspaces = CublasWorkspaceBytes(step_.capability);
    const auto real = static_cast<double>(workspaces);
    out_.workspaces = Bytes::Estimated(real, 0, 2 * real,
                                       "one for each thread that multiplies");
    out_.allocated = held + out_.workspaces;
    out_.slack = AllocatorSlack(out_.allocated);
    out_.reserved = out_.allocated + out_.slack;
    out_.outside = ContextBytes() + CommunicatorBytes(job_.gpus);
    out_.device = out_.reserved + out_.outside;
  }

  // States and master weights, and with them the parameters, live on the host.
  void MoveToHost() {
    const auto move = [&](std::string_view name) {
      std::erase_if(out_.terms, [&](const MemoryTerm& term) {
        if (term.name != name) return false;
        out_.host += term.bytes;
        out_.tensors -= term.bytes;
        return true;
      });
    };
    move("optimizer states");
    move("master weights");
    if (job_.offload == Offload::kParameters) move("weights");
    out_.not_exact.emplace_back("what is offloaded is taken as never here");
  }

  CompiledStep& compiled_;
  Graph& graph_;
  const StepCase& step_;
  const TrainingJob& job_;
  TrainMemory out_;
  Logits found_;
  std::vector<bool> is_logits_;  // by storage
  std::vector<int64_t> beside_;  // by operation
  std::vector<int64_t> shared_;  // of these, a rank's; empty for one card
  std::vector<int64_t> held_;    // of these, what hooks hold; often empty
  std::vector<TrainedTensor> trained_;
  int64_t states_ = 0;
  int64_t master_ = 0;
  int64_t temporaries_ = 0;
};

}  // namespace

std::vector<std::string_view> OptimizersOfOtherLibraries() {
  return OptimizersByRule();
}

std::variant<TrainMemory, Refusal> TrainMemoryOf(const ModelConfig& config,
                                                 const BuildOptions& build,
                                                 const TrainingJob& job) {
  const StepCase step = StepOf(job);
  BuildOptions options = build;
  options.dtype = step.dtype;
  auto compiled = CompileStep(config, options, step);
  if (auto* refusal = std::get_if<Refusal>(&compiled)) {
    return std::move(*refusal);
  }
  return Accountant(std::get<CompiledStep>(compiled), step, job).Run();
}

}  // namespace foretell
