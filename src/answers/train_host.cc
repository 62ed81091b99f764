#include "answers/train_host.h"

#include <fmt/format.h>

#include <algorithm>

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;
// Of the usual server.
constexpr int64_t kCardsOfHost = 8;

bool Divides(const TrainingJob& job) {
  return job.gpus > 1 &&
         (job.sharding == Sharding::kZero3 ||
          job.sharding == Sharding::kFsdp1 || job.sharding == Sharding::kFsdp2);
}

bool DividesStates(const TrainingJob& job) {
  return job.gpus > 1 && job.sharding != Sharding::kNone &&
         job.sharding != Sharding::kDdp;
}

HostJob HostJobOf(const TrainingJob& job, const TrainMemory& memory) {
  HostJob out;
  out.ranks = std::min(job.gpus, kCardsOfHost);
  const StepCase step = CompiledCaseOf(job);
  out.weights = memory.file_bytes;
  const bool wide = step.lora && step.lora->float32;
  out.trained = memory.trained * (wide ? 4 : BytesOf(step.dtype));
  out.states = memory.all_states * (DividesStates(job) ? job.gpus : 1);
  out.offloaded = memory.host + memory.managed;
  out.activations = memory.to_host;
  out.batch_tokens = step.batch * step.sequence;
  out.workers = job.workers;
  out.prefetch = job.prefetch;
  out.loads_by_shard = job.weights != WeightFormat::kNone;
  const bool is_fsdp =
      job.sharding == Sharding::kFsdp1 || job.sharding == Sharding::kFsdp2;
  out.first_rank_loads = is_fsdp && job.gpus > 1;
  out.gathers_to_save = Divides(job);
  out.saves_adapters = step.lora.has_value();
  return out;
}

}  // namespace

TrainHost HostOf(const TrainingJob& job, const TrainMemory& memory,
                 std::optional<double> host_gib) {
  const HostJob host = HostJobOf(job, memory);
  TrainHost out;
  out.memory = HostTermsOf(host);
  out.peak = HostPeakOf(out.memory);
  out.disk = DiskTermsOf(host);
  if (!host_gib) return out;
  const AnyFigure& peak = out.peak.any();
  const double has = *host_gib * kGib;
  if (peak.value().value_or(0) <= has) return out;
  Finding finding;
  finding.rule = "train/host";
  finding.severity =
      peak.low().value_or(0) > has ? Severity::kBlock : Severity::kWarn;
  finding.what = fmt::format("the host needs some {:.0f} GiB and has {:.0f}",
                             peak.value().value_or(0) / kGib, *host_gib);
  finding.why =
      "the kernel ends a process that takes more, without a message "
      "of PyTorch's";
  if (host.offloaded + host.activations > 0) {
    finding.fix = "--offload none";
  }
  out.finding = std::move(finding);
  return out;
}

}  // namespace foretell
