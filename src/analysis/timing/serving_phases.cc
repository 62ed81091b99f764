#include "analysis/timing/serving_phases.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/timing/closed_load.h"

namespace foretell {
namespace {

// Tokens of a prompt that one step takes: max_num_batched_tokens of vLLM's
// server on cards of 70 GB and more, max_num_tokens of TensorRT-LLM and
// chunked_prefill_size of SGLang are all 8192.
constexpr double kChunk = 8192;
// Chunks of queued prompts are never shorter than that in effect: several
// short ones share a step.
constexpr double kLeastChunk = 2048;
// No card attains more of its stated bandwidth, or of its peak.
constexpr double kMostBandwidth = 0.98;
constexpr double kMostPrefill = 0.95;
// Passes over the width of a layer's activations in a prompt: norms,
// residuals, rotations, the feed-forward's gate.
constexpr double kElementwise = 10;
// What engines leave of a card's memory: nine tenths, less what a profile run
// and the driver take (engines/vllm/memory_account.h tells it per launch).
constexpr double kMemoryShare = 0.9;
constexpr double kMemoryTaken = 2.5e9;
// Of an answer's length, what an engine reckons for a running request: half of
// it (vLLM takes blocks as they are needed), all of it (TensorRT-LLM's
// GUARANTEED_NO_EVICT), its first guess (SGLang's new_token_ratio); with a
// margin for the fullest moment where nothing is known.
constexpr double kOccupied = 0.55;
constexpr std::pair<std::string_view, double> kReckoned[] = {
    {"vllm", 0.5}, {"trtllm_pt", 1.0}, {"sglang", 0.7}};

double OccupiedBy(std::string_view engine) {
  for (const auto& [name, share] : kReckoned) {
    if (name == engine) return share;
  }
  return kOccupied;
}

constexpr double kMostBatch = 2048;
constexpr double kMostUse = 0.95;  // of prompts' share of time, in a queue

// vLLM until 0.6: max_seq_len_to_capture.
constexpr double kCaptured = 8192;

// Two costs that overlap in part: the longer one counts, and near equality
// somewhat more.
constexpr double kOverlap = 3;

struct Split {
  double memory = 0;
  double arithmetic = 0;
};

Split Overlapped(double memory, double arithmetic) {
  const double m = std::pow(memory, kOverlap);
  const double a = std::pow(arithmetic, kOverlap);
  if (m + a <= 0) return {};
  const double total = std::pow(m + a, 1 / kOverlap);
  return {total * m / (m + a), total * a / (m + a)};
}

class Phases {
 public:
  explicit Phases(const ServedJob& job)
      : job_(job),
        shape_(job.shape),
        shared_(ServedShared()),
        ranks_(std::max(job.tensor, 1.0)),
        doublings_(std::log2(ranks_)),
        has_experts_(job.shape.expert_count > 1) {
    bandwidth_ =
        job.bandwidth *
        std::min(job.card.bandwidth * job.engine.bandwidth, kMostBandwidth) *
        job.clock_share;
    link_ =
        job.link * (job.has_nvlink ? shared_.link_share : shared_.pcie_share);
    kernel_ = job.kind == WeightKind::kOnly4   ? shared_.weight4_bandwidth
              : job.kind == WeightKind::kOnly8 ? shared_.weight8_bandwidth
              : job.kind == WeightKind::kFour && !has_experts_
                  ? shared_.fp4_bandwidth
                  : 1.0;
    const double per_layer = has_experts_ && shape_.layers > 0
                                 ? (job.engine.expert_layer +
                                    job.engine.expert * shape_.expert_count) *
                                       shape_.expert_layers / shape_.layers
                                 : 0.0;
    layer_ = (job.engine.layer + per_layer +
              (shape_.is_latent ? shared_.latent_layer : 0) +
              (shape_.is_recurrent ? shared_.recurrent_layer : 0) +
              (shape_.has_indexer ? shared_.indexer_layer : 0)) *
             job.card.layer;
    const double kind = job.kind == WeightKind::kEight  ? shared_.fp8_prefill
                        : job.kind == WeightKind::kFour ? shared_.fp4_prefill
                        : job.kind == WeightKind::kOnly4
                            ? shared_.weight4_prefill
                            : 1.0;
    prefill_ = std::min(job.card.prefill * job.engine.prefill, kMostPrefill) *
               kind * job.clock_share;
  }

  PhaseTime Decode(double batch, double context, double longest) const {
    const double stage = std::max(batch / job_.pipeline, 1.0);
    const double checked = stage * (1 + job_.drafts);
    PhaseTime out = Linear(checked, checked, checked * job_.data);
    const double read =
        stage * ((shape_.kept * context +
                  shape_.kept_in_windows * std::min(context, shape_.window)) *
                     job_.cache_bytes / CacheRanks() * job_.engine.cache_reads *
                     Copies() +
                 shape_.recurrent_bytes / ranks_);
    out.cache = read / (bandwidth_ * shared_.cache_bandwidth);
    const double past = longest > kCaptured ? job_.engine.long_layer : 0.0;
    SetLaunches(shape_.layers * (layer_ + past), out);
    out.launches += job_.engine.step + job_.engine.request * batch;
    out.communication +=
        2 * shape_.layers * Reduce(checked * shape_.hidden * 2);
    if (job_.data > 1 && has_experts_) {
      out.communication +=
          shape_.expert_layers *
          (shared_.gather + checked * job_.data * shape_.hidden * 4 / link_);
    }
    if (job_.drafts > 0 && job_.draft_share > 0) {
      PhaseTime draft = Linear(stage, stage, stage * job_.data);
      const double share = job_.drafts * job_.draft_share;
      out.weights += draft.weights * share;
      out.arithmetic += draft.arithmetic * share;
      out.launches += shape_.layers * layer_ * share;
    }
    if (job_.offloaded_bytes > 0 && job_.host_link > 0) {
      out.host_memory = job_.offloaded_bytes / job_.host_link;
    }
    return out;
  }

  // `steps` of `chunk` tokens each carry the prompt.
  PhaseTime Prefill(double tokens, double prompt, double cached, double steps,
                    double chunk) const {
    const double attained = chunk / (chunk + shared_.prefill_half) * prefill_ /
                            (1 + shared_.tensor_prefill * doublings_);
    const double fixed_share = steps;
    PhaseTime out = Linear(1, 1, chunk);
    for (double* part : {&out.weights, &out.arithmetic}) *part *= fixed_share;
    out.arithmetic +=
        2 * tokens *
        (shape_.attention / job_.attention.peak + shape_.mlp / job_.mlp.peak) /
        ranks_ / attained;
    if (has_experts_) {
      out.arithmetic +=
          2 * tokens * job_.data * ExpertElements() * shape_.experts_per_token /
          ExpertRanks() /
          (job_.experts.peak * attained * shared_.expert_prefill) *
          shared_.imbalance;
    }
    out.arithmetic += 2 * tokens * (cached + prompt / 2) *
                      shape_.attention_width / ranks_ /
                      (job_.peak16 * shared_.attention_prefill);
    const double width = tokens * shape_.hidden * 2;
    if (ranks_ > 1) {
      out.communication =
          2 * shape_.layers * 2 * (ranks_ - 1) / ranks_ * width / link_;
    }
    out.weights += shape_.layers * shared_.elementwise * width * kElementwise /
                   bandwidth_ / std::sqrt(ranks_);
    SetLaunches(steps * (shape_.layers * layer_ + job_.engine.step), out);
    if (job_.offloaded_bytes > 0 && job_.host_link > 0) {
      out.host_memory = steps * job_.offloaded_bytes / job_.host_link;
    }
    return out;
  }

  // Of prompts in a queue, which share their steps.
  double Marginal(const ServedLoad& load) const {
    const double tokens = std::max(load.isl - load.cached, 1.0);
    return Prefill(tokens, tokens, load.cached, tokens / kChunk,
                   std::max(std::min(tokens, kChunk), kLeastChunk))
        .Total();
  }

  double Capacity(const ServedLoad& load) const {
    double weights =
        (shape_.attention * job_.attention.bytes + shape_.mlp * job_.mlp.bytes +
         2 * shape_.head * job_.head_bytes) /
            ranks_ +
        shape_.experts * job_.experts.bytes / ExpertRanks();
    weights = weights / job_.pipeline - job_.offloaded_bytes;
    const double left =
        job_.cache_room > 0
            ? job_.cache_room
            : std::max(job_.memory * kMemoryShare - weights - kMemoryTaken,
                       0.0);
    const double tokens = load.isl + load.osl;
    const double each =
        (shape_.kept * job_.cache_bytes *
             (load.isl + load.osl * OccupiedBy(job_.engine.name)) +
         shape_.kept_in_windows * job_.cache_bytes *
             std::min(tokens, shape_.window) +
         shape_.recurrent_bytes) /
        CacheRanks() / job_.pipeline;
    return left / std::max(each, 1.0);
  }

 private:
  // Eagerly launched attention of grouped heads appends to the cache by
  // copying it and widens it for every head: read and written, read and
  // written again and read, as many times as heads share a key.
  double Copies() const {
    return job_.is_eager ? 3 + 2 * shape_.query_heads / shape_.key_value_heads
                         : 1.0;
  }
  // In front of communication. What the card computes hides launches, or is
  // hidden by them, where the host runs ahead.
  void SetLaunches(double launches, PhaseTime& out) const {
    if (!job_.is_eager) {
      out.launches += launches;
      return;
    }
    const double card = out.weights + out.cache + out.arithmetic;
    const Split split = Overlapped(card, launches);
    const double share = card > 0 ? split.memory / card : 0;
    for (double* part : {&out.weights, &out.cache, &out.arithmetic}) {
      *part *= share;
    }
    out.launches += split.arithmetic;
  }

  double CacheRanks() const {
    return shape_.is_latent ? 1.0 : std::min(ranks_, shape_.key_value_heads);
  }
  double ExpertRanks() const {
    return std::max(job_.expert_ranks * job_.expert_tensor, 1.0);
  }
  double ExpertElements() const { return shape_.experts / shape_.expert_count; }

  double Reduce(double bytes) const {
    if (ranks_ <= 1) return 0;
    const double fixed =
        job_.has_nvlink ? shared_.reduce + shared_.reduce_doubling * doublings_
                        : shared_.reduce_pcie * doublings_;
    return fixed + 2 * (ranks_ - 1) / ranks_ * bytes / link_;
  }

  // The experts of a layer that so many tokens meet.
  double Distinct(double tokens) const {
    const double share = shape_.experts_per_token / shape_.expert_count;
    const double met =
        1 - std::pow(1 - share, std::max(tokens, 1.0) * shared_.distinct);
    return shape_.expert_count * std::max(met, share);
  }

  void Add(double elements, const ServedFormat& format, double rows,
           double kernel, PhaseTime& out) const {
    const Split split = Overlapped(
        elements * format.bytes / ranks_ / (bandwidth_ * kernel),
        2 * rows * elements / ranks_ / (format.peak * job_.card.arithmetic));
    out.weights += split.memory;
    out.arithmetic += split.arithmetic;
  }

  PhaseTime Linear(double rows, double head_rows, double expert_rows) const {
    PhaseTime out;
    Add(shape_.attention, job_.attention, rows, kernel_, out);
    Add(shape_.mlp, job_.mlp, rows, kernel_, out);
    Add(shape_.head, {job_.head_bytes, job_.peak16}, head_rows, 1, out);
    if (!has_experts_) return out;
    const Split split = Overlapped(
        ExpertElements() * Distinct(expert_rows) * job_.experts.bytes /
            ExpertRanks() / (bandwidth_ * shared_.expert_bandwidth),
        2 * expert_rows * ExpertElements() * shape_.experts_per_token /
            ExpertRanks() * shared_.imbalance /
            (job_.experts.peak * job_.card.arithmetic *
             shared_.expert_arithmetic));
    out.weights += split.memory;
    out.arithmetic += split.arithmetic;
    return out;
  }

  const ServedJob& job_;
  const ServedShape& shape_;
  const SharedConstants& shared_;
  double ranks_;
  double doublings_;
  bool has_experts_;
  double bandwidth_ = 0;
  double link_ = 0;
  double kernel_ = 1;
  double layer_ = 0;
  double prefill_ = 0;
};

double Chunks(double tokens) { return std::ceil(tokens / kChunk); }

// Prompts come first, and up to so many tokens of several: SGLang's
// max_prefill_tokens. The others' budget is a chunk.
bool IsPromptFirst(const EngineConstants& engine) {
  return engine.name == "sglang";
}
constexpr double kPromptBudget = 16384;

// The wait of a closed load's first tokens, followed over its steps.
double Followed(const Phases& phases, const ServedJob& job,
                const ServedLoad& load, double alone) {
  const double tokens = std::max(load.isl - load.cached, 1.0);
  const double mean = (1 + load.shortest) / 2;
  StepCosts costs;
  for (int doubling = 0; (1 << doubling) <= kMostBatch; ++doubling) {
    const double batch = 1 << doubling;
    costs.decode.push_back(
        phases.Decode(batch, load.isl + load.osl * 0.5, load.isl + load.osl)
            .Total() /
        job.tokens_a_step);
  }
  const double marginal = phases.Marginal(load);
  costs.prompt_token = marginal / tokens;
  costs.prompt_step = std::max(alone - marginal, 0.0) / Chunks(tokens);
  costs.is_mixed = !IsPromptFirst(job.engine);
  costs.budget = costs.is_mixed ? kChunk : kPromptBudget;
  costs.room =
      static_cast<int64_t>(std::clamp(phases.Capacity(load), 1.0, kMostBatch));
  costs.poll = load.poll;
  ClosedLoad closed;
  closed.clients = static_cast<int64_t>(
      std::round(std::max(load.concurrency / job.data, 1.0)));
  // `load` holds the mean lengths.
  closed.prompt = tokens / mean;
  closed.answer = load.osl / mean;
  closed.shortest = load.shortest;
  closed.waves = load.waves;
  return MeanFirstToken(costs, closed);
}

}  // namespace

PhaseTime DecodeTime(const ServedJob& job, double batch, double context,
                     double longest) {
  return Phases(job).Decode(batch, context, longest);
}

PhaseTime PrefillTime(const ServedJob& job, double tokens, double prompt,
                      double cached) {
  return Phases(job).Prefill(tokens, prompt, cached, Chunks(tokens),
                             std::min(tokens, kChunk));
}

double CacheCapacity(const ServedJob& job, const ServedLoad& load) {
  return Phases(job).Capacity(load);
}

ServedPoint ServedSteadily(const ServedJob& job, const ServedLoad& load) {
  const Phases phases(job);
  const EngineConstants& engine = job.engine;
  ServedPoint out;
  out.capacity = phases.Capacity(load);
  const double room = std::clamp(out.capacity, 1.0, kMostBatch);
  const double asked =
      load.rate > 0 ? 4.0 : std::max(load.concurrency / job.data, 1.0);
  const double tokens = std::max(load.isl - load.cached, 1.0);
  const double marginal = phases.Marginal(load);
  out.prefill = phases.Prefill(tokens, tokens, load.cached, Chunks(tokens),
                               std::min(tokens, kChunk));
  const double alone = out.prefill.Total();
  const double context = load.isl + load.osl * 0.5;
  double batch = std::min(asked, room);
  // An open load settles where arrivals and departures meet.
  constexpr int kSettled = 6;
  for (int i = 0; i < kSettled; ++i) {
    out.decode = phases.Decode(batch, context, load.isl + load.osl);
    out.interference =
        std::max(batch - 1, 0.0) / load.osl * marginal * engine.mix;
    out.token = out.decode.Total() / job.tokens_a_step + out.interference;
    if (load.rate <= 0) break;
    const double in_flight = std::min(
        std::max(load.rate / job.data * (alone + load.osl * out.token), 1.0),
        room);
    batch = (batch + in_flight) / 2;
  }
  out.batch = batch;
  const double cycle = load.osl * out.token;
  const double use = std::min(batch * marginal / (cycle + marginal), kMostUse);
  const double wait = 0.5 * use / (1 - use);
  const double read =
      load.rate > 0 ? alone * (1 + wait) : Followed(phases, job, load, alone);
  out.queue = std::max(read - alone, 0.0);
  out.first_token =
      read * engine.first_prompt + engine.first + engine.first_token * tokens +
      (engine.first_steps + (job.data > 1 ? engine.first_data : 0) +
       load.emitted_after) *
          out.decode.Total();
  const double whole =
      out.first_token + std::max(load.osl - 1, 0.0) * out.token;
  out.requests_a_second = batch * job.data / whole;
  return out;
}

double ServedAtOnce(const ServedJob& job, const ServedLoad& load) {
  const Phases phases(job);
  const double batch = std::max(load.concurrency / job.data, 1e-9);
  const double tokens = batch * std::max(load.isl - load.cached, 1.0);
  const double prompts =
      phases
          .Prefill(tokens, std::max(load.isl - load.cached, 1.0), load.cached,
                   Chunks(tokens), std::min(tokens, kChunk))
          .Total();
  const double step =
      phases.Decode(batch, load.isl + load.osl * 0.5, load.isl + load.osl)
          .Total() /
      job.tokens_a_step;
  return prompts + std::max(load.osl - 1, 0.0) * step + job.engine.first;
}

double ServedThroughput(const ServedJob& job, const ServedLoad& load) {
  const Phases phases(job);
  const double batch = std::clamp(phases.Capacity(load), 1.0, kMostBatch);
  const double step =
      phases.Decode(batch, load.isl + load.osl * 0.5, load.isl + load.osl)
          .Total() /
      job.tokens_a_step;
  const double seconds = load.osl * step + batch * phases.Marginal(load) *
                                               job.engine.mix / job.pipeline;
  return batch * job.data * load.osl / seconds;
}

}  // namespace foretell
