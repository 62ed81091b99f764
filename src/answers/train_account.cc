#include "answers/train_account.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/flops.h"
#include "analysis/folded_memory.h"
#include "analysis/memory.h"
#include "analysis/occupancy.h"
#include "answers/claims.h"
#include "answers/train_overlay.h"
#include "answers/train_timeline.h"
#include "base/checked.h"
#include "engines/pytorch/device_memory.h"
#include "engines/pytorch/optimizer_memory.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

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
// Under torch.compile and fp8, wide on purpose: no measured run of either is
// compared with. torchtitan's logs of an 8B model print 47.8 GiB compiled where
// the same step takes 81.8 without.
constexpr double kMarginCompiled = 0.3;

constexpr int64_t kMasterBytes = 4;
// The category beside MemoryKind's.
constexpr size_t kLogitsCategory = kMemoryKinds;
// What a rank holds beside the graph.
constexpr size_t kGatheredCategory = kMemoryKinds + 1;
constexpr size_t kBufferCategory = kMemoryKinds + 2;
static_assert(kBufferCategory < kFoldedCategories);

constexpr size_t Index(MemoryKind kind) { return static_cast<size_t>(kind); }

class Accountant {
 public:
  explicit Accountant(const AccountRequest& request)
      : request_(request),
        compiled_(*request.compiled),
        graph_(*request.compiled->model.built.graph),
        step_(*request.step),
        job_(*request.job) {}

  std::optional<std::variant<TrainMemory, Refusal>> Run() {
    copies_ = CopiesOfRegions(graph_, request_.repeats);
    out_.not_exact = ReasonsNotExact(compiled_, step_);
    auto laid = LayOver(compiled_, step_, job_, copies_);
    if (auto* refusal = std::get_if<Refusal>(&laid)) {
      return std::move(*refusal);
    }
    laid_ = std::move(std::get<Overlay>(laid));
    std::ranges::copy(laid_.not_exact, std::back_inserter(out_.not_exact));
    const auto memory = AnalyzeMemory(graph_, laid_.beside);
    if (!memory) return TooLargeJob();
    CountTrained();
    AddOptimizer();
    out_.to_host = laid_.to_host;
    const Occupancy occupancy(
        graph_, *memory,
        {.gradients = compiled_.gradients,
         .states = compiled_.states,
         .returned = compiled_.returned,
         .cache = {},
         .recomputed = compiled_.model.built.builder->tape().recomputed});
    if (!AddResident(occupancy)) return TooLargeJob();
    out_.all_states = Resident(MemoryKind::kStates) + states_ + out_.managed;
    MoveToHost();
    AddReference();
    if (!Fold(*memory, occupancy)) return std::nullopt;
    ChoosePeak();
    AddStays();
    if (request_.most_points > 0) {
      out_.timeline = TimelineOf(occupancy, graph_, laid_, request_.most_points,
                                 states_ + master_);
    }
    if (!CountFlops()) return TooLargeJob();
    AddOutsideTensors();
    return std::move(out_);
  }

 private:
  bool DividesStates() const {
    return job_.gpus > 1 && job_.sharding != Sharding::kNone &&
           job_.sharding != Sharding::kDdp;
  }

  int64_t Share(int64_t bytes) const {
    return DividesStates() ? (bytes + job_.gpus - 1) / job_.gpus : bytes;
  }

  int64_t CopiesOf(RegionId region) const { return copies_[region.index]; }

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
      const int64_t copies = CopiesOf(parameter.region);
      const DType dtype = job_.master_weights ? DType::kFloat32 : value.dtype;
      const int64_t columns = is_matrix ? value.shape[-1] : 0;
      trained_.push_back({elements, dtype, is_matrix, copies, columns});
      out_.trained += elements * copies;
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

  // What lives throughout, of the whole model, by category.
  bool AddResident(const Occupancy& occupancy) {
    std::vector<int64_t> times(graph_.storages.size(), 0);
    std::vector<int64_t> of_leaf(graph_.values.size(), 1);
    for (const Parameter& parameter : graph_.parameters) {
      const int64_t copies = CopiesOf(parameter.region);
      of_leaf[parameter.value.index] = copies;
      times[graph_[parameter.value].storage.index] = copies;
    }
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      // What a prepared model holds in float32 came from half precision.
      const int64_t size =
          BytesOf(job_.prepared_float32 ? job_.step.dtype : value.dtype);
      if (parameter.tied_to) continue;
      out_.file_bytes += value.shape.Elements().value_or(0) * size *
                         CopiesOf(parameter.region);
    }
    for (const Buffer& buffer : graph_.buffers) {
      times[graph_[buffer.value].storage.index] = CopiesOf(buffer.region);
    }
    for (const ValueId input : graph_.inputs) {
      times[graph_[input].storage.index] = 1;
    }
    for (size_t i = 0; i < graph_.storages.size(); ++i) {
      if (graph_.storages[i].kind == StorageKind::kState) times[i] = 1;
    }
    for (const OptimizerState& state : compiled_.optimizer.states) {
      int64_t& of = times[graph_[state.tensor.id()].storage.index];
      if (of > 0) of = of_leaf[state.leaf.index];
    }
    for (size_t i = 0; i < compiled_.gradients.size(); ++i) {
      const StorageId id = compiled_.gradients[i];
      const int64_t copies = of_leaf[compiled_.gradient_layouts[i].leaf.index];
      if (times[id.index] > 0) times[id.index] = copies;
      // Those of earlier micro-steps live throughout.
      if (graph_.storages[id.index].kind == StorageKind::kState) continue;
      gradients_ += graph_.storages[id.index].bytes * copies;
    }
    if (laid_.share) {
      gradients_ = job_.offload == Offload::kParameters
                       ? 0
                       : laid_.share->gradient_bytes;
    }
    for (uint32_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      const auto bytes = CheckedMul(graph_.storages[i].bytes, times[i]);
      int64_t& sum = resident_[Index(occupancy.KindOf({i}))];
      const auto total = bytes ? CheckedAdd(sum, *bytes) : std::nullopt;
      if (!total) return false;
      sum = *total;
    }
    return true;
  }

  bool Fold(const StepMemory& memory, const Occupancy& occupancy) {
    std::vector<uint8_t> categories(graph_.storages.size());
    for (uint32_t i = 0; i < categories.size(); ++i) {
      categories[i] = static_cast<uint8_t>(
          laid_.is_logits[i] ? kLogitsCategory : Index(occupancy.KindOf({i})));
    }
    FoldRequest request = {.memory = &memory,
                           .categories = categories,
                           .beside = laid_.beside,
                           .resident = resident_,
                           .repeats = request_.repeats};
    if (laid_.share) {
      request.shifts = laid_.share->shifts;
      request.shift_categories = {kGatheredCategory, kBufferCategory,
                                  Index(MemoryKind::kGradients)};
    }
    auto phases = FoldMemory(graph_, request);
    if (!phases) return false;
    phases_ = *std::move(phases);
    return true;
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

  void ChoosePeak() {
    const FoldedPhase* best = nullptr;
    int64_t most = -1;
    for (const FoldedPhase& phase : phases_) {
      int64_t peak = phase.peak + states_ + master_ + reference_;
      if (phase.phase == Phase::kOptimizer) peak += WideGradients();
      out_.phases.push_back({phase.phase, peak});
      if (peak <= most) continue;
      most = peak;
      best = &phase;
    }
    if (best != nullptr) Explain(*best);
    AddForwardOfReference(most);
    AddStepOfRule(most);
  }

  void Explain(const FoldedPhase& phase) {
    out_.peak_phase = phase.phase;
    std::map<std::string, int64_t> terms;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
      terms[TermOf(static_cast<MemoryKind>(i))] += phase.bytes[i];
    }
    terms["logits and loss"] += phase.bytes[kLogitsCategory];
    terms["gathered parameters"] += phase.bytes[kGatheredCategory];
    terms["communication buffers"] += phase.bytes[kBufferCategory];
    const bool between = !phase.at.valid() || phase.is_shift;
    if (between && phase.beside != 0) {
      terms["kept activations"] += phase.beside;
    }
    if (phase.at.valid()) {
      const Operation& operation = graph_.operations[phase.at.index];
      out_.operation = operation.row->name;
      out_.module =
          PathInWhole(graph_, request_.repeats, operation.region, phase.copies);
      for (const Beside& one : laid_.besides) {
        if (phase.is_shift) break;
        if (!one.bytes.empty()) terms[one.term] += one.bytes[phase.at.index];
      }
    }
    terms["optimizer states"] += states_;
    terms["master weights"] += master_;
    terms["reference model"] += reference_;
    if (phase.phase == Phase::kOptimizer) {
      terms["float32 gradients"] += WideGradients();
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

  int64_t Resident(MemoryKind kind) const { return resident_[Index(kind)]; }

  // It runs once the forward of the model itself has, whose activations wait.
  void AddForwardOfReference(int64_t& most) {
    if (request_.reference == nullptr || phases_.size() < 2) return;
    const FoldedBytes& waiting = phases_[1].start;
    std::map<std::string, int64_t> terms;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
      terms[TermOf(static_cast<MemoryKind>(i))] += waiting[i];
    }
    terms["logits and loss"] += waiting[kLogitsCategory];
    terms["optimizer states"] += states_;
    terms["master weights"] += master_;
    terms["reference model"] += reference_;
    terms["forward of the reference"] += request_.reference->above;
    int64_t peak = 0;
    for (const auto& [name, bytes] : terms) peak += bytes;
    TrainPhase& forward = out_.phases.front();
    forward.peak = std::max(forward.peak, peak);
    if (peak <= most) return;
    most = peak;
    out_.peak_phase = Phase::kForward;
    out_.operation = request_.reference->operation;
    out_.module = request_.reference->module;
    SetTerms(terms);
  }

  // The step of an optimizer that is no graph.
  void AddStepOfRule(int64_t most) {
    if (job_.optimizer.empty()) return;
    std::map<std::string, int64_t> terms;
    for (size_t i = 0; i < kMemoryKinds; ++i) {
      terms[TermOf(static_cast<MemoryKind>(i))] += resident_[i];
    }
    terms["gradients"] += gradients_;
    terms["optimizer states"] += states_;
    terms["master weights"] += master_;
    terms["reference model"] += reference_;
    terms["temporaries"] += temporaries_;
    int64_t peak = 0;
    for (const auto& [name, bytes] : terms) peak += bytes;
    out_.phases.push_back({Phase::kOptimizer, peak});
    if (peak <= most) return;
    out_.peak_phase = Phase::kOptimizer;
    out_.operation.clear();
    out_.module.clear();
    SetTerms(terms);
  }

  // Between two steps.
  void AddStays() {
    out_.states = Resident(MemoryKind::kStates) + states_ + master_;
    out_.gradients = gradients_ + Resident(MemoryKind::kGradients);
    out_.staying[Index(MemoryKind::kStates)] = out_.states;
    for (const MemoryKind kind :
         {MemoryKind::kBuffers, MemoryKind::kInputs, MemoryKind::kParameters}) {
      out_.staying[Index(kind)] = Resident(kind);
    }
    out_.staying[Index(MemoryKind::kParameters)] += reference_;
    out_.stays = SumOf(out_.staying);
    if (job_.gpus < 2) return;
    const bool gathers = job_.sharding == Sharding::kZero3 ||
                         job_.sharding == Sharding::kFsdp1 ||
                         job_.sharding == Sharding::kFsdp2;
    if (!gathers) return;
    for (const Parameter& parameter : graph_.parameters) {
      const Value& value = graph_[parameter.value];
      const int64_t bytes =
          value.shape.Elements().value_or(0) * BytesOf(value.dtype);
      out_.largest_gathered = std::max(out_.largest_gathered, bytes);
    }
  }

  bool CountFlops() {
    bool fits = true;
    ForEachOperation(graph_, [&](const Operation& operation, Phase phase) {
      const int64_t copies = CopiesOf(operation.region);
      out_.operations += copies;
      if (phase == Phase::kOptimizer || operation.row->flops == nullptr) return;
      const auto one = FlopsOf(graph_, operation);
      const auto all = one ? CheckedMul(*one, copies) : std::nullopt;
      const auto sum = all ? CheckedAdd(out_.flops, *all) : std::nullopt;
      fits = fits && sum.has_value();
      out_.flops = sum.value_or(0);
    });
    return fits;
  }

  double Margin() const {
    if (laid_.is_shared) return kMarginSharded;
    if (job_.compiled || job_.fp8 != Fp8::kNone) return kMarginCompiled;
    if (job_.loss != LossKind::kLibrary ||
        job_.weights != WeightFormat::kNone ||
        job_.preference != Preference::kNone ||
        job_.kernels != FusedKernels::kNone ||
        job_.offload == Offload::kActivations) {
      return kMarginFused;
    }
    return kMarginPlain;
  }

  void AddOutsideTensors() {
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

  // Another copy of the model, held as this one is.
  void AddReference() {
    if (job_.preference == Preference::kNone) return;
    out_.not_exact.emplace_back("the loss over answers is trl's own");
    const bool compares = job_.preference == Preference::kDpo ||
                          job_.preference == Preference::kKto;
    if (!compares || job_.reference != Reference::kModel) return;
    reference_ = Resident(MemoryKind::kParameters);
  }

  // States and master weights, and with them the parameters, live on the host.
  void MoveToHost() {
    if (job_.offload != Offload::kOptimizer &&
        job_.offload != Offload::kParameters) {
      return;
    }
    const auto move = [this](int64_t& bytes) {
      out_.host += std::exchange(bytes, 0);
    };
    move(resident_[Index(MemoryKind::kStates)]);
    move(states_);
    move(master_);
    if (job_.offload == Offload::kParameters) {
      move(resident_[Index(MemoryKind::kParameters)]);
    }
    out_.not_exact.emplace_back("what is offloaded is taken as never here");
  }

  const AccountRequest& request_;
  CompiledStep& compiled_;
  Graph& graph_;
  const StepCase& step_;
  const TrainingJob& job_;
  TrainMemory out_;
  Overlay laid_;
  std::vector<int64_t> copies_;  // by region
  FoldedBytes resident_ = {};
  std::vector<FoldedPhase> phases_;
  std::vector<TrainedTensor> trained_;
  int64_t gradients_ = 0;  // that the step makes
  int64_t states_ = 0;
  int64_t master_ = 0;
  int64_t reference_ = 0;
  int64_t temporaries_ = 0;
};

}  // namespace

std::optional<std::variant<TrainMemory, Refusal>> AccountOf(
    const AccountRequest& request) {
  return Accountant(request).Run();
}

}  // namespace foretell
