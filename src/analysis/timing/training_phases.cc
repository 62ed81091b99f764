#include "analysis/timing/training_phases.h"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

using C = TrainingConstant;

constexpr double kHalfBytes = 2;
constexpr double kGradientBytes = 2;

C CardsConstant(const TrainedJob& job) {
  switch (job.cards) {
    case TrainedCards::kVolta:
      return C::kVolta;
    case TrainedCards::kTuring:
      return C::kTuring;
    case TrainedCards::kAmpere:
      return job.is_small_ampere ? C::kSmallAmpere : C::kAmpere;
    case TrainedCards::kAda:
      return C::kAda;
    case TrainedCards::kHopper:
      return C::kHopper;
    case TrainedCards::kBlackwell:
      return C::kBlackwell;
    case TrainedCards::kCdna:
      return C::kCdna;
    case TrainedCards::kTpu:
      return C::kTpu;
    case TrainedCards::kNeuron:
      return C::kNeuron;
    case TrainedCards::kOther:
      return C::kOther;
  }
  return C::kOther;
}

C LoopConstant(TrainedLoop loop) {
  switch (loop) {
    case TrainedLoop::kEager:
      return C::kEagerLoop;
    case TrainedLoop::kCompiled:
      return C::kCompiledLoop;
    case TrainedLoop::kFused:
      return C::kFusedLoop;
    case TrainedLoop::kXla:
      return C::kXlaLoop;
  }
  return C::kEagerLoop;
}

class Stepper {
 public:
  Stepper(const TrainedJob& job, const TrainingConstants& constants)
      : job_(job), c_(constants) {
    recomputed_ = job.recomputed;
    if (!job.recomputed_stated) {
      recomputed_ = c_[job.is_megatron ? C::kUnstatedMegatron : C::kUnstated];
    }
    tokens_ = job.sequences * job.sequence / job.context;
    const double drift =
        job.is_megatron
            ? std::pow(c_[HasExperts() ? C::kExpertDrift : C::kDrift],
                       job.years)
            : 1.0;
    rate_ = job.peak_half * c_[CardsConstant(job)] *
            c_[LoopConstant(job.loop)] * drift *
            (job.is_megatron ? c_[C::kMegatron] : 1.0) *
            Saturation(tokens_, c_[C::kHalfTokens]);
    if (IsRack()) rate_ *= c_[C::kRack];
    if (job.is_power_limited) rate_ *= c_[C::kLimited];
    rate_ /=
        std::pow(c_[C::kScale], std::log2(std::max(job.cards_all / 8, 1.0)));
  }

  TrainedStep Run() {
    const double ranks = job_.tensor * job_.pipeline;
    const ServedShape& s = job_.shape;
    const double width =
        Saturation(s.hidden / std::sqrt(job_.tensor), c_[C::kHalfWidth]);
    const double blocks = rate_ * width * FormatGain();
    // A micro-step's forward on one rank, seconds.
    const double mixing =
        s.is_recurrent ? s.attention / c_[C::kRecurrent] : s.attention;
    double products = 2 * tokens_ * (mixing + s.mlp) / ranks / blocks;
    products += ExpertTime(blocks);
    // The vocabulary's product is in half precision, and in the last stage
    // alone: others wait for it there.
    const double head = 2 * tokens_ * s.head / job_.tensor / (rate_ * width);
    const double attention = AttentionTime();
    const double passes = PassTime();
    const double quicker =
        (job_.is_megatron ? std::pow(c_[C::kLaunchDrift], -job_.years) : 1.0) *
        (IsRack() ? c_[C::kRackLaunch] : 1.0);
    const double launch =
        quicker *
        (s.layers * c_[C::kLayerLaunch] +
         s.expert_layers * c_[C::kExpertLaunch]) /
        job_.pipeline *
        (job_.loop == TrainedLoop::kEager ? 1.0 : c_[C::kFusedLaunch]);
    const double widen = WidenTime(ranks);
    const double device =
        products + head / job_.pipeline + attention + passes + widen;
    // What is longer hides the other.
    const double forward = Longer(device, launch);
    const double again =
        recomputed_ * forward +
        (job_.recomputes_attention ? attention * (1 - recomputed_) : 0.0);
    const double backward_products =
        (products + head / job_.pipeline) * job_.backward;
    // Two and a half of the forward's: scores are computed again.
    constexpr double kAttentionBackward = 2.5;
    constexpr double kPassesBackward = 1.5;
    const double backward_device = backward_products +
                                   attention * kAttentionBackward +
                                   passes * kPassesBackward + widen;
    const double backward = Longer(backward_device, launch * 2);
    const double shown = ShownInside();
    const double micro = forward + backward + again + shown;
    TrainedStep out;
    const double m = std::max(job_.micro_steps, 1.0);
    out.forward = forward * m;
    out.backward = (backward + again) * m;
    out.recompute = again * m;
    out.bubble = job_.pipeline > 1 ? (job_.pipeline - 1) / job_.chunks * micro *
                                         c_[C::kBubble]
                                   : 0.0;
    out.optimizer = OptimizerTime();
    const double data = DataTime(micro * m);
    out.exposed = shown * m + data;
    out.total = out.forward + out.backward + out.exposed + out.bubble +
                out.optimizer + c_[C::kStep];
    const double arithmetic =
        m * (products + head / job_.pipeline + attention) * (1 + recomputed_) +
        m * (backward_products + attention * kAttentionBackward);
    const double memory = m * (passes * (1 + kPassesBackward + recomputed_) +
                               widen * (2 + recomputed_)) +
                          out.optimizer;
    out.communication = out.exposed + out.bubble;
    out.launches =
        std::max(0.0, out.total - out.communication - arithmetic - memory);
    // What attention recomputes is in neither: the shares are of the rest.
    const double rest = out.total - out.communication - out.launches;
    const double both = arithmetic + memory;
    out.arithmetic = both > 0 ? rest * arithmetic / both : 0.0;
    out.memory = both > 0 ? rest * memory / both : 0.0;
    const double all_tokens = job_.sequences * job_.sequence * m * job_.data;
    out.tokens_a_second = all_tokens / job_.cards_all / out.total;
    return out;
  }

 private:
  static double Saturation(double size, double half) {
    return size / (size + half);
  }
  // A smooth maximum: kernels of a step differ in which of both is longer.
  static double Longer(double device, double host) {
    constexpr double kSharp = 4;
    return std::pow(std::pow(device, kSharp) + std::pow(host, kSharp),
                    1 / kSharp);
  }
  // More cards than a machine of eight holds share links (NVL72).
  bool IsRack() const {
    constexpr double kMachine = 16;
    return job_.cards == TrainedCards::kBlackwell && job_.in_domain > kMachine;
  }
  bool HasExperts() const { return job_.shape.expert_count > 1; }

  double FormatGain() const {
    const double ratio = job_.peak / job_.peak_half;
    const double fp8 = job_.cards == TrainedCards::kHopper ? c_[C::kFp8Hopper]
                       : job_.cards == TrainedCards::kBlackwell
                           ? c_[C::kFp8Blackwell]
                           : c_[C::kFp8Other];
    switch (job_.format) {
      case TrainedFormat::kHalf:
        return 1;
      case TrainedFormat::kFp32:
        return ratio * c_[C::kFp32];
      case TrainedFormat::kTf32:
        return ratio * c_[job_.has_tf32 ? C::kTf32 : C::kFp32];
      case TrainedFormat::kFp8:
        return ratio * fp8;
      case TrainedFormat::kFp8Scaled:
        return ratio * fp8 * c_[C::kFp8Scaled];
      case TrainedFormat::kFp4:
        return ratio * c_[C::kFp4];
    }
    return 1;
  }

  double ExpertTime(double rate) const {
    const ServedShape& s = job_.shape;
    if (!HasExperts() || s.expert_layers <= 0) return 0;
    const double chosen = s.experts * s.experts_per_token / s.expert_count;
    // Width of one expert: its three products of hidden by width.
    const double inner =
        s.experts / s.expert_count / s.expert_layers / s.hidden / 3;
    return 2 * tokens_ * chosen / (job_.tensor * job_.pipeline) / rate /
           c_[C::kExperts] / Saturation(inner, c_[C::kExpertWidth]);
  }

  // Layers whose attention sees every token: widths tell no count, so that
  // layers with windows count by what they keep.
  double full_layers() const {
    const ServedShape& s = job_.shape;
    const double all = s.kept + s.kept_in_windows;
    return all > 0 ? s.layers * s.kept / all : s.layers;
  }

  double AttentionTime() const {
    const ServedShape& s = job_.shape;
    const double full = s.attention_width * job_.sequence;
    const double window = s.kept_in_windows / s.key_value_heads *
                          s.query_heads * std::min(s.window, job_.sequence);
    const double causal = job_.is_causal ? 0.5 : 1.0;
    const double flops =
        2 * tokens_ * (full * causal + window) / (job_.tensor * job_.pipeline);
    const double kind = job_.has_older_attention   ? c_[C::kAttentionOlder]
                        : job_.has_newer_attention ? c_[C::kAttentionNewer]
                                                   : 1.0;
    // Heads of 64 reach three quarters of what heads of 128 do.
    // Source: FlashAttention-3 (arXiv 2407.08608), figure 5.
    constexpr double kHead = 128;
    constexpr double kNarrow = 64;
    const double head = s.attention_width > 0 && !s.is_latent
                            ? s.attention_width / 2 /
                                  std::max(1.0, full_layers()) / s.query_heads
                            : kHead;
    const double older =
        kind * Saturation(head, kNarrow) / Saturation(kHead, kNarrow);
    return flops / (rate_ * c_[C::kAttention] * older *
                    Saturation(job_.sequence, c_[C::kAttentionHalf]));
  }

  double PassTime() const {
    const ServedShape& s = job_.shape;
    const double fused =
        job_.loop == TrainedLoop::kEager ? 1.0 : c_[C::kFusedPasses];
    // Sequence parallelism divides what is not inside tensor ranks too.
    double bytes = tokens_ * s.layers * s.hidden * c_[C::kPasses] * fused;
    bytes += tokens_ * s.expert_layers * s.hidden * s.experts_per_token *
             c_[C::kRouted];
    const bool is_narrow = job_.format == TrainedFormat::kFp8 ||
                           job_.format == TrainedFormat::kFp8Scaled ||
                           job_.format == TrainedFormat::kFp4;
    if (is_narrow) {
      bytes += tokens_ * s.layers * s.hidden * c_[C::kQuantize];
    }
    if (job_.writes_scores) {
      bytes +=
          tokens_ * job_.sequence * s.query_heads * s.layers * c_[C::kScores];
    }
    // Logits, written, read for the loss, turned into their gradient.
    constexpr double kLogits = 16;
    bytes += tokens_ * s.head / s.hidden * kLogits;
    return bytes / (job_.tensor * job_.pipeline) / job_.bandwidth;
  }

  double WidenTime(double ranks) const {
    if (job_.stored_bits >= 16) return 0;
    return job_.shape.stored / ranks * c_[C::kDequantize] / job_.bandwidth;
  }

  // What a rank of a ring moves a second. Rings through many machines use all
  // ports of a machine, each of its ranks one; `stride` ranks lie between two
  // of a ring.
  double Ring(double ranks, double stride) const {
    const double link = job_.link * c_[C::kLink];
    if (ranks * stride <= job_.in_domain) return link;
    const double ports = std::max(1.0, job_.in_domain / stride);
    return std::min(link, job_.network * c_[C::kNetwork] * ports);
  }

  // All to all: what leaves the machine leaves by the rank's own port.
  double Exchange(double ranks) const {
    const double link = job_.link * c_[C::kLink];
    if (ranks <= job_.in_domain) return link;
    const double outside = 1 - job_.in_domain / ranks;
    return std::min(link, job_.network * c_[C::kNetwork] / outside);
  }

  // Collectives inside a micro-step, forward and backward.
  double ShownInside() const {
    const ServedShape& s = job_.shape;
    const double layers = s.layers / job_.pipeline;
    const double row = tokens_ * s.hidden * kHalfBytes;
    double out = 0;
    if (job_.tensor > 1) {
      // Four sums of the whole row; each moves twice (r - 1) / r of it.
      const double moved = 8 * row * (job_.tensor - 1) / job_.tensor;
      out += layers * moved * (1 + 0.5 * recomputed_) / Ring(job_.tensor, 1) *
             c_[C::kTensorShown];
    }
    if (job_.experts_over > 1 && HasExperts()) {
      const double moved = 4 * row / job_.tensor * s.experts_per_token *
                           (job_.experts_over - 1) / job_.experts_over;
      // Expert ranks stand beside tensor ranks in a machine.
      out += s.expert_layers / job_.pipeline * moved /
             Exchange(job_.experts_over) * c_[C::kExpertShown];
    }
    if (job_.context > 1) {
      const double kept = (s.kept + s.kept_in_windows) * kHalfBytes /
                          (job_.tensor * job_.pipeline);
      out += 4 * tokens_ * (job_.context - 1) * kept /
             Ring(job_.context, job_.tensor) * c_[C::kContextShown];
    }
    return out;
  }

  double ParametersOfRank() const {
    const ServedShape& s = job_.shape;
    const double dense = s.attention + s.mlp + s.head;
    return dense / (job_.tensor * job_.pipeline) +
           s.experts /
               (job_.pipeline * std::max(job_.tensor, job_.experts_over));
  }

  double OptimizerTime() const {
    double parameters = ParametersOfRank() * job_.trained_share;
    if (job_.sharing == TrainedSharing::kStates ||
        job_.sharing == TrainedSharing::kParameters) {
      parameters /= std::max(job_.data * job_.context, 1.0);
    }
    if (job_.offloads_optimizer) return parameters * c_[C::kOffload];
    return parameters * job_.optimizer_bytes / job_.bandwidth;
  }

  // What is left of gradients' and parameters' collectives after `compute`.
  double DataTime(double compute) const {
    const double ranks = job_.data * job_.context;
    if (ranks <= 1 || job_.sharing == TrainedSharing::kNone) return 0;
    const double mine = ParametersOfRank();
    // Where a group divides parameters, groups sum gradients as copies do.
    const double group =
        job_.shard_ranks > 0 ? std::min(job_.shard_ranks, ranks) : ranks;
    const double within = mine * (group - 1) / group / Ring(group, job_.tensor);
    const double across = mine * (ranks - 1) / ranks / Ring(ranks, job_.tensor);
    const double gradients = kGradientBytes * job_.trained_share;
    double time = 0;
    switch (job_.sharing) {
      case TrainedSharing::kNone:
        break;
      case TrainedSharing::kCopies:
        time = across * 2 * gradients;
        break;
      case TrainedSharing::kStates:
        time = across * (gradients + kHalfBytes * job_.trained_share);
        break;
      case TrainedSharing::kParameters:
        time = job_.micro_steps * within * (2 * kHalfBytes + gradients);
        if (group < ranks) time += across * 2 * gradients / group;
        break;
    }
    // A share is always shown; past the compute, all that is left.
    return time * c_[C::kDataShown] +
           std::max(0.0, time * (1 - c_[C::kDataShown]) - compute);
  }

  const TrainedJob& job_;
  const TrainingConstants& c_;
  double recomputed_ = 0;
  double tokens_ = 0;  // of a micro-step, on one context rank
  double rate_ = 0;    // of half-precision products, operations a second
};

}  // namespace

TrainedStep TrainedStepOf(const TrainedJob& job,
                          const TrainingConstants& constants) {
  return Stepper(job, constants).Run();
}

double ModelFlopsOfToken(const TrainedJob& job, bool halves_causal) {
  const ServedShape& s = job.shape;
  const double window = s.kept_in_windows / s.key_value_heads * s.query_heads *
                        std::min(s.window, job.sequence);
  const double scores = 2 * (s.attention_width * job.sequence + window);
  const double causal = halves_causal && job.is_causal ? 0.5 : 1.0;
  // Frozen weights take no gradient of their own.
  return (1 + job.backward) * 2 * s.Active() + 3 * scores * causal;
}

}  // namespace foretell
