#include "answers/train_overlay.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/quantization/packed_linear.h"
#include "answers/train_rank.h"
#include "base/checked.h"
#include "base/library.h"
#include "engines/pytorch/device_memory.h"
#include "passes/fp8_linears.h"
#include "passes/fuse_kernels.h"
#include "passes/fuse_loss.h"
#include "passes/hold_inputs.h"
#include "passes/move_activations.h"
#include "passes/older_loss.h"
#include "passes/quantize_weights.h"
#include "passes/shard_storages.h"

namespace foretell {
namespace {

Refusal Refused(std::string what, std::string cure) {
  InputError error;
  error.what = std::move(what);
  error.cure = std::move(cure);
  return Refusal{{error}};
}

int64_t RoundUp(int64_t bytes) {
  const int64_t rest = bytes % kAllocatorRounding;
  return rest == 0 ? bytes : bytes + kAllocatorRounding - rest;
}

class Layer {
 public:
  Layer(CompiledStep& compiled, const StepCase& step, const TrainingJob& job,
        std::span<const int64_t> copies)
      : compiled_(compiled),
        graph_(*compiled.model.built.graph),
        step_(step),
        job_(job),
        copies_(copies) {}

  std::variant<Overlay, Refusal> Run() {
    if (!MarkLogits()) return TooLargeJob();
    out_.beside.resize(graph_.operations.size());
    LayWeights();
    if (!out_.logits.storages.empty()) LayLoss();
    if (out_.logits.storages.empty() && job_.loss != LossKind::kLibrary) {
      return Refused("this class has no head whose loss could be fused",
                     "leave --loss out");
    }
    LayKernels();
    if (job_.master_weights) WidenStates();
    if (job_.sharding != Sharding::kNone && job_.gpus > 1) LayShares();
    for (Storage& storage : graph_.storages) {
      if (storage.bytes < 0) return TooLargeJob();
      storage.bytes = RoundUp(storage.bytes);
    }
    if (job_.offload == Offload::kActivations && !step_.evaluates) MoveKept();
    if (job_.optimizer_in_backward) LetGradientsGo();
    return std::move(out_);
  }

 private:
  bool MarkLogits() {
    const auto tokens = CheckedMul(step_.batch, step_.sequence);
    if (!tokens) return false;
    out_.logits = FindLogits(graph_, *tokens);
    out_.is_logits.resize(graph_.storages.size());
    for (const LogitsStorage& one : out_.logits.storages) {
      out_.is_logits[one.storage.index] = true;
    }
    return true;
  }

  void LayWeights() {
    const DType unpacked = step_.autocast.value_or(step_.dtype);
    const QuantizedWeights packed =
        QuantizeWeights(graph_, job_, [&](int64_t rows, int64_t columns) {
          return PackedWeightOf(rows, columns, unpacked);
        });
    if (packed.layers > 0) {
      Add("unpacked for an operation", packed.beside);
      out_.not_exact.emplace_back(
          "the packed weights' kernels are a library's own");
    }
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
      Add("a chunk of the loss", FuseLoss(graph_, out_.logits, job_.loss));
      // What waits for a backward is not made without one.
      if (step_.evaluates && job_.loss == LossKind::kChunked) {
        graph_.storages[out_.logits.storages.front().storage.index].bytes = 0;
      }
      out_.not_exact.emplace_back("the loss is another library's kernel");
    }
    const auto version = ParseLibraryVersion(step_.transformers);
    if (!version || job_.loss == LossKind::kChunked) return;
    Add("logits and loss",
        AgeLoss(
            graph_, out_.logits, *version,
            LossIsInOwnDtype(compiled_.model.built.family->model_types.front()),
            step_.autocast.has_value()));
  }

  // The states are those of the float32 copy.
  void WidenStates() {
    constexpr int64_t kMasterBytes = 4;
    for (const OptimizerState& state : compiled_.optimizer.states) {
      const Value& value = graph_[state.tensor.id()];
      Storage& storage = graph_.storages[value.storage.index];
      const auto elements = value.shape.Elements();
      if (storage.kind != StorageKind::kState || !elements) continue;
      storage.bytes = std::max(storage.bytes, *elements * kMasterBytes);
    }
  }

  bool HoldsInputs() const {
    return job_.sharding == Sharding::kFsdp1 && step_.checkpoint &&
           step_.lora && !out_.logits.storages.empty();
  }

  void LayShares() {
    out_.is_shared = true;
    if (const auto rank = RankOf(job_, step_)) {
      std::ranges::move(ReasonsNotExact(graph_, *rank),
                        std::back_inserter(out_.not_exact));
      out_.share = DivideCompiled(compiled_, *rank, graph_, copies_);
    } else {
      LayOtherShares();
    }
    if (HoldsInputs()) {
      const Logits& logits = out_.logits;
      Add("inputs that FSDP's hooks hold",
          HoldBlockInputs(
              graph_, logits.tokens * logits.hidden * BytesOf(step_.dtype)));
    }
  }

  void LayOtherShares() {
    Add("gathered and communication",
        ShardStorages(graph_, job_, compiled_.gradients, copies_));
    out_.not_exact.emplace_back(
        "a rank's share is laid over one card's step, and its buffers are "
        "taken as the wrappers' defaults make them");
  }

  // Kernels in place of the library's operations.
  void LayKernels() {
    if (job_.kernels != FusedKernels::kNone || job_.compiled) {
      FusedParts parts;
      parts.products = job_.compiled || job_.kernels == FusedKernels::kUnsloth;
      FuseKernels(graph_, parts);
      out_.not_exact.emplace_back(
          job_.compiled
              ? "torch.compile decides itself what it keeps: norms and gates "
                "are taken as computed again"
              : "norms and MLPs are another library's kernels");
    }
    if (job_.fp8 != Fp8::kNone) {
      Add("fp8 copies", CastLinears(graph_, job_.fp8, KeptStorages()));
      out_.not_exact.emplace_back("fp8 products are a library's own");
    }
    if (step_.checkpoint &&
        step_.checkpoint_kind == CheckpointKind::kOnlyAttention) {
      Add("recomputed activations",
          RecomputeScores(graph_, KeptStorages(), step_.sequence).beside);
    }
  }

  void MoveKept() {
    MovedActivations moved = OffloadActivations(graph_, KeptStorages());
    out_.to_host = moved.bytes;
    Add("kept activations", std::move(moved.beside));
    out_.not_exact.emplace_back(
        "activations are taken as gone to the host, and back, as soon as five "
        "and one operations allow");
  }

  // Each lives while the operation runs that makes it, and its step after it.
  void LetGradientsGo() {
    std::vector<int64_t> bytes(graph_.operations.size());
    std::vector<bool> is_gradient(graph_.storages.size());
    for (const StorageId id : compiled_.gradients) {
      is_gradient[id.index] = true;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const ValueId id : graph_.OutputsOf(graph_.operations[i])) {
        const uint32_t storage = graph_[id].storage.index;
        if (!is_gradient[storage]) continue;
        bytes[i] += std::exchange(graph_.storages[storage].bytes, 0);
      }
    }
    Add("gradients", std::move(bytes));
    out_.not_exact.emplace_back(
        "each gradient is taken as let go right after it is made");
  }

  // What autograd keeps from the forward on.
  std::vector<bool> KeptStorages() const {
    std::vector<bool> out(graph_.storages.size());
    for (const Saved& saved : graph_.saved) {
      if (!saved.is_recomputed) out[graph_[saved.value].storage.index] = true;
    }
    return out;
  }

  void Add(std::string term, std::vector<int64_t> more) {
    for (size_t i = 0; i < more.size(); ++i) out_.beside[i] += more[i];
    out_.besides.push_back({std::move(term), std::move(more)});
  }

  CompiledStep& compiled_;
  Graph& graph_;
  const StepCase& step_;
  const TrainingJob& job_;
  std::span<const int64_t> copies_;
  Overlay out_;
};

}  // namespace

std::variant<Overlay, Refusal> LayOver(CompiledStep& compiled,
                                       const StepCase& step,
                                       const TrainingJob& job,
                                       std::span<const int64_t> copies) {
  return Layer(compiled, step, job, copies).Run();
}

Refusal TooLargeJob() {
  return Refused("a size of this job passes 2^63 - 1 bytes",
                 "lower --batch or --seq");
}

}  // namespace foretell
