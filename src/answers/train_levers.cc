#include "answers/train_levers.h"

#include <fmt/format.h>

#include <utility>

namespace foretell {
namespace {

constexpr int64_t kRank = 16;  // of an adapter that nobody asked for

LoraSettings AdaptersOfAll() {
  LoraSettings out;
  out.rank = kRank;
  out.alpha = 2 * kRank;
  out.targets = {"all-linear"};
  return out;
}

// From what nothing that is trained depends on to what changes it.
class Changes {
 public:
  explicit Changes(const TrainingJob& job) : job_(job) {}

  std::vector<JobChange> Take() {
    AddKernels();
    AddRecomputation();
    AddBatch();
    AddReference();
    AddOtherHardware();
    AddOptimizers();
    AddAdapters();
    return std::move(out_);
  }

 private:
  template <class Change>
  void Add(std::string what, std::string option, std::string training,
           const Change& change) {
    TrainingJob changed = job_;
    change(changed);
    out_.push_back({std::move(what), std::move(option), std::move(training),
                    std::move(changed)});
  }

  void AddKernels() {
    if (job_.step.attention == "eager") {
      Add("fused attention", "--attn sdpa", "",
          [](TrainingJob& job) { job.step.attention = "sdpa"; });
    }
    if (job_.loss != LossKind::kChunked) {
      Add("head and loss in chunks", "--loss chunked", "",
          [](TrainingJob& job) { job.loss = LossKind::kChunked; });
    }
    if (job_.kernels == FusedKernels::kNone && !job_.compiled) {
      Add("fused norms and MLPs", "--kernels liger", "",
          [](TrainingJob& job) { job.kernels = FusedKernels::kLiger; });
    }
    if (!job_.optimizer_in_backward && job_.accumulate == 1 &&
        !job_.step.lora) {
      Add("optimizer in the backward", "--optimizer-in-backward",
          "no clipping by the norm of all gradients",
          [](TrainingJob& job) { job.optimizer_in_backward = true; });
    }
  }

  void AddRecomputation() {
    if (!job_.step.checkpoint) {
      Add("products kept, the rest run again", "--checkpoint selective", "",
          [](TrainingJob& job) {
            job.step.checkpoint = true;
            job.step.checkpoint_kind = CheckpointKind::kByOperator;
          });
      Add("every second block checkpointed", "--checkpoint every:2", "",
          [](TrainingJob& job) {
            job.step.checkpoint = true;
            job.step.checkpoint_every = 2;
          });
    }
    const bool is_full = job_.step.checkpoint &&
                         job_.step.checkpoint_every == 1 &&
                         job_.step.checkpoint_kind == CheckpointKind::kFull;
    const auto checkpoint = [](TrainingJob& job) {
      job.step.checkpoint = true;
      job.step.checkpoint_every = 1;
      job.step.checkpoint_kind = CheckpointKind::kFull;
    };
    if (!is_full) {
      Add("every block checkpointed", "--checkpoint full", "", checkpoint);
      if (job_.loss != LossKind::kChunked) {
        Add("both", "--checkpoint full --loss chunked", "",
            [&](TrainingJob& job) {
              checkpoint(job);
              job.loss = LossKind::kChunked;
            });
      }
    }
    if (job_.offload == Offload::kNone) {
      Add("activations on the host", "--offload activations", "",
          [](TrainingJob& job) { job.offload = Offload::kActivations; });
    }
  }

  void AddBatch() {
    if (job_.step.batch <= 1 || job_.optimizer_in_backward) return;
    const int64_t steps = job_.accumulate * job_.step.batch;
    Add("micro-batch 1, accumulated",
        fmt::format("--batch 1 --accumulate {}", steps), "",
        [&](TrainingJob& job) {
          job.step.batch = 1;
          job.accumulate = steps;
        });
  }

  void AddReference() {
    const bool compares = job_.preference == Preference::kDpo ||
                          job_.preference == Preference::kKto;
    if (!compares || job_.reference == Reference::kPrecomputed) return;
    Add("log-probabilities of the reference computed before",
        "--reference precomputed", "",
        [](TrainingJob& job) { job.reference = Reference::kPrecomputed; });
  }

  void AddOtherHardware() {
    if (job_.sharding == Sharding::kNone) {
      constexpr int64_t kCards = 8;
      Add(fmt::format("divided among {} cards", kCards),
          fmt::format("--fsdp 2 --gpus {}", kCards), "", [](TrainingJob& job) {
            job.sharding = Sharding::kFsdp2;
            job.gpus = kCards;
          });
    }
    const bool is_flat =
        job_.sharding == Sharding::kFsdp1 || job_.sharding == Sharding::kFsdp2;
    if (is_flat && job_.accumulate > 1 && !job_.reduces_each) {
      Add("gradients reduced in each micro-step", "--sync each", "",
          [](TrainingJob& job) { job.reduces_each = true; });
    }
    if (is_flat || job_.sharding == Sharding::kZero3) {
      Add(fmt::format("divided among {} cards", 2 * job_.gpus),
          fmt::format("--gpus {}", 2 * job_.gpus), "a larger global batch",
          [](TrainingJob& job) { job.gpus *= 2; });
    } else if (job_.sharding != Sharding::kNone && job_.gpus > 1) {
      Add("parameters divided too",
          job_.sharding == Sharding::kDdp ? "--fsdp 2" : "--zero 3", "",
          [](TrainingJob& job) {
            job.sharding = job.sharding == Sharding::kDdp ? Sharding::kFsdp2
                                                          : Sharding::kZero3;
          });
    }
    if (job_.offload == Offload::kNone && !job_.step.lora) {
      Add("optimizer on the host", "--offload optimizer", "",
          [](TrainingJob& job) { job.offload = Offload::kOptimizer; });
    }
  }

  void AddOptimizers() {
    if (job_.step.lora || job_.optimizer == "adamw_8bit") return;
    constexpr char kRounded[] = "moments are rounded to 8 bits";
    Add("moments of 8 bits", "--optimizer adamw_8bit", kRounded,
        [](TrainingJob& job) { job.optimizer = "adamw_8bit"; });
    Add("the same, paged to the host", "--optimizer paged_adamw_8bit", kRounded,
        [](TrainingJob& job) { job.optimizer = "paged_adamw_8bit"; });
  }

  void AddAdapters() {
    const auto adapt = [](TrainingJob& job) {
      if (!job.step.lora) job.step.lora = AdaptersOfAll();
      if (job.preference == Preference::kDpo ||
          job.preference == Preference::kKto) {
        job.reference = Reference::kAdapterOff;
      }
      job.optimizer_in_backward = false;
    };
    if (!job_.step.lora) {
      Add("adapters only", "--method lora --rank 16 --targets all-linear",
          "only low-rank adapters train", adapt);
    }
    if (job_.weights == WeightFormat::kNone && job_.fp8 == Fp8::kNone) {
      Add("adapters over 4-bit weights",
          "--method qlora --rank 16 --targets all-linear",
          "only low-rank adapters train, over weights rounded to 4 bits",
          [&](TrainingJob& job) {
            adapt(job);
            job.weights = WeightFormat::kNf4;
          });
    }
  }

  const TrainingJob& job_;
  std::vector<JobChange> out_;
};

}  // namespace

std::vector<JobChange> ChangesOf(const TrainingJob& job) {
  return Changes(job).Take();
}

}  // namespace foretell
