#include "analysis/timing/llamacpp_phases.h"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr double kMicroBatch = 512;  // llama.cpp: n_ubatch
constexpr double kMostBandwidth = 0.97;
// The head is kept wider than the rest (Q6_K beside Q4_K).
constexpr double kHeadWider = 1.2;
constexpr double kReserved = 1e9;
// A latent row is multiplied as it is: 576 numbers for keys, 512 for values.
constexpr double kLatentWider = (576.0 + 512.0) / 320.0;
constexpr double kHostLayer = 2e-5;  // handing over, each layer
// Products on the processor, FLOP/s, and weights sent to the card for a
// micro-batch instead, bytes/s; a prompt takes half of the slower.
constexpr double kHostPeak = 1.2e12;
constexpr double kHostLink = 20e9;

int WidthOf(double bytes) {
  constexpr double kSixteen = 1.5;
  constexpr double kEight = 7.0 / 8;
  constexpr double kFour = 0.5;
  return bytes >= kSixteen ? 0 : bytes > kEight ? 1 : bytes >= kFour ? 2 : 3;
}

struct Terms {
  const LlamaJob& job;
  const ServedShape& shape;
  const LlamaShared& shared;
  const LlamaBackendConstants& backend;
  int width;
  double bandwidth;
  double dense;
  double share;  // of a layer's experts that a token takes
  double head;   // bytes
  double all;    // bytes

  explicit Terms(const LlamaJob& in)
      : job(in),
        shape(in.shape),
        shared(LlamaSharedConstants()),
        backend(LlamaBackendOf(in.backend)),
        width(WidthOf(in.bytes)),
        bandwidth(in.bandwidth *
                  std::min(in.device.bandwidth * backend.bandwidth[width],
                           kMostBandwidth)),
        dense(in.shape.attention + in.shape.mlp),
        share(in.shape.expert_count > 1
                  ? in.shape.experts_per_token / in.shape.expert_count
                  : 0.0),
        head(in.shape.head * std::min(in.bytes * kHeadWider, 2.0)),
        all((dense + in.shape.experts) * in.bytes + head) {}

  double Met(double tokens) const {
    if (share <= 0) return 0;
    const double met =
        1 - std::pow(1 - share, std::max(tokens, 1.0) * shared.distinct);
    return shape.experts * std::max(met, share);
  }
  double Peak() const {
    return job.peak * job.device.prompt * backend.prompt[width] *
           backend.prompt_all;
  }
  double Fixed() const {
    return shape.layers * backend.layer +
           shape.expert_layers * shared.expert_layer +
           (shape.is_recurrent ? shape.layers * shared.recurrent_layer : 0.0) +
           backend.step;
  }
};

}  // namespace

double LlamaRoom(const LlamaJob& job) {
  return job.memory * job.devices * kLlamaUsable - kReserved;
}

double LlamaOnHost(const LlamaJob& job) {
  if (job.memory <= 0) return 0;
  const Terms terms(job);
  double share = std::clamp(1 - LlamaRoom(job) / terms.all, 0.0, 1.0);
  if (job.device_layers && *job.device_layers < job.shape.layers) {
    share = std::max(share, 1 - *job.device_layers / job.shape.layers);
  }
  return share;
}

PhaseTime LlamaStepTime(const LlamaJob& job, const LlamaLoad& load) {
  const Terms t(job);
  const double context = load.depth + load.tokens / 2;
  const double memory = (t.dense * job.bytes + t.head) / t.bandwidth +
                        t.Met(load.sequences) * job.bytes /
                            (t.bandwidth * t.shared.expert_bandwidth);
  const double cache =
      load.sequences *
      (2 * (t.shape.kept * context +
            t.shape.kept_in_windows * std::min(context, t.shape.window)) +
       t.shape.recurrent_bytes) /
      (job.bandwidth * std::min(job.device.bandwidth, kMostBandwidth) *
       t.shared.cache_bandwidth);
  const double arithmetic =
      2 * load.sequences *
      (t.dense + t.shape.experts * t.share + t.shape.head) / t.Peak();
  // Both at once, and neither wholly behind the other.
  const double both = std::cbrt(std::pow(memory, 3) + std::pow(arithmetic, 3));
  const double host = LlamaOnHost(job);
  const double read =
      (t.dense + t.shape.experts * t.share) * job.bytes + t.head;
  PhaseTime out;
  out.weights = memory * (1 - host);
  out.arithmetic = (both - memory) * (1 - host);
  out.cache = cache * (1 - host);
  out.launches = t.Fixed() * (1 - host);
  out.host_memory = host * (read / t.shared.host + t.shape.layers * kHostLayer);
  return out;
}

PhaseTime LlamaPromptTime(const LlamaJob& job, const LlamaLoad& load) {
  const Terms t(job);
  const double tokens = load.tokens * load.sequences;
  const double batch = std::min(load.tokens, kMicroBatch);
  const double steps = std::ceil(tokens / kMicroBatch);
  const double peak = t.Peak() * batch / (batch + t.shared.prompt_half) *
                      (job.is_early ? t.shared.early_prompt : 1.0);
  double arithmetic =
      2 * tokens * t.dense / peak +
      2 * tokens * t.shape.experts * t.share / (peak * t.shared.expert_prompt);
  if (t.shape.is_recurrent) arithmetic *= t.shared.recurrent_prompt;
  const double attention = 2 * tokens * (load.depth + load.tokens / 2) *
                           t.shape.attention_width *
                           (t.shape.is_latent ? kLatentWider : 1.0) /
                           (job.peak * job.device.prompt *
                            t.shared.attention_prompt * t.backend.prompt_all) *
                           (job.has_flash ? 1.0 : t.shared.without_flash);
  const double memory =
      steps * (t.dense + t.Met(batch)) * job.bytes / t.bandwidth;
  const double host = LlamaOnHost(job);
  constexpr double kHalf = 0.5;
  const double gain =
      job.devices > 1
          ? std::min(1 + t.shared.several * (std::min(job.devices, steps) - 1),
                     job.devices)
          : 1.0;
  const double on_device = (1 - host) / gain;
  PhaseTime out;
  out.weights = memory * on_device;
  out.arithmetic =
      (std::hypot(arithmetic, memory) - memory + attention) * on_device;
  out.launches = steps * t.Fixed() * on_device;
  out.host_memory =
      host * kHalf / gain *
      std::max(2 * tokens * (t.dense + t.shape.experts * t.share) / kHostPeak,
               steps * t.all / kHostLink);
  return out;
}

double LlamaGeneration(const LlamaJob& job, const LlamaLoad& load) {
  return load.sequences / LlamaStepTime(job, load).Total() *
         (job.is_tool ? LlamaSharedConstants().tool_generation : 1.0);
}

double LlamaPrompt(const LlamaJob& job, const LlamaLoad& load) {
  return load.tokens * load.sequences / LlamaPromptTime(job, load).Total() *
         (job.is_tool ? LlamaSharedConstants().tool_prompt : 1.0);
}

}  // namespace foretell
