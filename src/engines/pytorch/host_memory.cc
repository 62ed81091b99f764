#include "engines/pytorch/host_memory.h"

#include <algorithm>

namespace foretell {
namespace {

constexpr double kGb = 1e9;
constexpr char kProcesses[] = "processes";
constexpr char kLoading[] = "loading the model";
constexpr char kSaving[] = "saving";

Bytes Between(double low, double middle, double high) {
  return Bytes::Estimated(middle, low, high, "");
}

double Real(int64_t bytes) { return static_cast<double>(bytes); }

HostTerm Processes(const HostJob& job) {
  constexpr double kLow = 2 * kGb;
  constexpr double kMiddle = 4 * kGb;
  constexpr double kHigh = 6 * kGb;
  const double ranks = Real(job.ranks);
  return {kProcesses, Between(kLow * ranks, kMiddle * ranks, kHigh * ranks),
          "Python, torch and CUDA's libraries of each rank"};
}

HostTerm Loading(const HostJob& job) {
  constexpr double kShard = 5 * kGb;
  const double weights = Real(job.weights);
  const double ranks = Real(job.ranks);
  const double shard = std::min(weights, kShard);
  if (job.loads_by_shard) {
    return {kLoading, Between(0, shard * ranks, 2 * shard * ranks),
            "a shard at a time goes to the card"};
  }
  if (job.first_rank_loads) {
    return {kLoading, Between(weights, weights, weights + shard),
            "the first rank alone makes the model"};
  }
  return {kLoading,
          Between(shard * ranks, weights * ranks, (weights + shard) * ranks),
          "each rank makes the model before it moves it to its card"};
}

void AddWorkers(const HostJob& job, std::vector<HostTerm>& out) {
  constexpr int64_t kTensors = 3;  // ids, labels, a mask
  constexpr int64_t kElement = 8;
  const int64_t ahead = std::max<int64_t>(1, job.workers * job.prefetch);
  const double batches =
      Real(job.batch_tokens * kTensors * kElement * ahead * job.ranks);
  out.push_back({"batches made ahead", Between(batches, batches, 2 * batches),
                 "ids, labels and masks of eight bytes a token"});
  if (job.workers == 0) return;
  constexpr double kLow = 0.2 * kGb;
  constexpr double kMiddle = 0.6 * kGb;
  constexpr double kHigh = 1.5 * kGb;
  const double workers = Real(job.workers * job.ranks);
  out.push_back({"dataset workers",
                 Between(kLow * workers, kMiddle * workers, kHigh * workers),
                 "each is a copy of the process, whose pages part as they are "
                 "written"});
}

HostTerm Saving(const HostJob& job) {
  constexpr double kShard = 5 * kGb;
  const double weights = Real(job.saves_adapters ? job.trained : job.weights);
  if (!job.gathers_to_save) {
    const double shard = std::min(weights, kShard);
    return {kSaving, Between(0, shard, 2 * shard),
            "the tensors of one file at a time"};
  }
  const double all = weights + Real(job.states);
  return {kSaving, Between(weights, all, all * 1.5),
          "the first rank gathers weights and states whole"};
}

}  // namespace

std::vector<HostTerm> HostTermsOf(const HostJob& job) {
  std::vector<HostTerm> out = {Processes(job), Loading(job)};
  if (job.offloaded > 0) {
    const double bytes = Real(job.offloaded * job.ranks);
    // Pinned memory comes in powers of two.
    out.push_back({"offloaded states and weights",
                   Between(bytes, bytes, 2 * bytes), "pinned, of each rank"});
  }
  if (job.activations > 0) {
    const double bytes = Real(job.activations * job.ranks);
    out.push_back({"offloaded activations", Between(bytes, bytes, 2 * bytes),
                   "pinned, of each rank"});
  }
  AddWorkers(job, out);
  out.push_back(Saving(job));
  return out;
}

Bytes HostPeakOf(const std::vector<HostTerm>& terms) {
  Bytes lasting = Bytes::Exact(0);
  Bytes loading = Bytes::Exact(0);
  Bytes saving = Bytes::Exact(0);
  for (const HostTerm& term : terms) {
    if (term.name == kLoading) {
      loading = term.bytes;
    } else if (term.name == kSaving) {
      saving = term.bytes;
    } else {
      lasting = lasting + term.bytes;
    }
  }
  const auto most = [](const Bytes& bytes) {
    return bytes.any().value().value_or(0);
  };
  // The offload's memory is taken once the model is there.
  return lasting + (most(loading) > most(saving) ? loading : saving);
}

std::vector<HostTerm> DiskTermsOf(const HostJob& job) {
  std::vector<HostTerm> out;
  const double weights = Real(job.saves_adapters ? job.trained : job.weights);
  // Headers of files, names.
  constexpr double kSlack = 1.001;
  out.push_back({job.saves_adapters ? "adapters" : "weights",
                 Between(weights, weights, weights * kSlack),
                 "model.safetensors"});
  const double states = Real(job.states);
  out.push_back({"optimizer states", Between(states, states, states * kSlack),
                 "optimizer.pt, to go on from"});
  return out;
}

}  // namespace foretell
