#include "answers/llama_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/timing/llamacpp_phases.h"
#include "answers/llama_job.h"
#include "answers/speed_parts.h"

namespace foretell {
namespace {

constexpr double kMilli = 1e3;
constexpr double kGib = 1073741824.0;
// The cache holds 16 bits unless told otherwise.
constexpr double kCacheBytes = 2;
// Slots that share a step were measured far less often than one stream.
constexpr double kSharedWider = 1.3;

// What the phases take at a load.
struct LlamaPoint {
  PhaseTime step;    // of all slots
  PhaseTime prompt;  // of one, by itself
  double interference = 0;
  double first_token = 0;
  double token = 0;
};

LlamaPoint PointAt(const LlamaJob& job, const SpeedRequest& in,
                   int64_t concurrency) {
  const auto slots = static_cast<double>(concurrency);
  const auto isl = static_cast<double>(in.isl);
  const auto osl = static_cast<double>(in.osl);
  const auto cached = static_cast<double>(in.cached);
  LlamaPoint out;
  out.step = LlamaStepTime(job, {osl, isl, slots});
  out.prompt = LlamaPromptTime(job, {isl - cached, cached, 1});
  // While a request generates, each other slot reads one prompt.
  out.interference = (slots - 1) * out.prompt.Total() / osl;
  out.first_token = out.prompt.Total() + out.step.Total();
  out.token = out.step.Total() + out.interference;
  return out;
}

AnyFigure Within(Unit unit, double value, double spread,
                 std::string_view range) {
  return AnyFigure::Estimated(unit, value, value * std::exp(-spread),
                              value * std::exp(spread),
                              fmt::format("{} the measured range", range));
}

class Answerer {
 public:
  Answerer(const SpeedRequest& in, const LlamaJob& job) : in_(in), job_(job) {}

  SpeedAnswer Run() {
    Describe();
    for (const int64_t concurrency : in_.concurrency) Add(concurrency);
    Explain();
    return std::move(out_);
  }

 private:
  void Describe() {
    out_.model = in_.config.name;
    out_.card = in_.device.name;
    out_.engine = fmt::format("llama.cpp on {}", BackendWords());
    out_.storage =
        fmt::format("{}, {:.2f} bits a weight", in_.precision, job_.bytes * 8);
    out_.cards = in_.pipeline;
    out_.layout = in_.pipeline > 1
                      ? fmt::format("layers over {} cards", in_.pipeline)
                      : "one device";
    out_.load = LoadWords(in_);
    out_.reach = job_.device.name == "other" ? "outside" : "inside";
    out_.assumed = {
        "flash attention is on, and the cache holds 16 bits",
        "steady state: every slot works, and a prompt holds the others up "
        "while it is read"};
    TellHost();
    TellCapacity();
  }

  std::string_view BackendWords() const {
    switch (job_.backend) {
      case LlamaBackend::kCuda:
        return "CUDA";
      case LlamaBackend::kRocm:
        return "ROCm";
      case LlamaBackend::kVulkan:
        return "Vulkan";
      case LlamaBackend::kMetal:
        return "Metal";
      case LlamaBackend::kCpu:
        return "the processor";
    }
    return "";
  }

  void TellHost() {
    const double host = LlamaOnHost(job_);
    if (host <= 0) return;
    out_.assumed.push_back(
        fmt::format("{:.0f} % of the weights are left to the processor{}",
                    host * 100, in_.card_layers ? "" : ": no more fit"));
  }

  double CacheOf(double tokens) const {
    return kCacheBytes * (job_.shape.kept * tokens +
                          job_.shape.kept_in_windows *
                              std::min(tokens, job_.shape.window)) +
           job_.shape.recurrent_bytes;
  }

  void TellCapacity() {
    if (job_.memory <= 0) {
      out_.capacity = "as many requests as the host's memory holds";
      return;
    }
    if (!in_.card_layers && LlamaOnHost(job_) > 0) {
      out_.capacity = "as many requests as the host's memory holds";
      out_.assumed.emplace_back(
          "the weights fill the card; for each further request some of them "
          "give way to its cache, which is not counted here");
      return;
    }
    const double weights =
        job_.shape.stored * job_.bytes * (1 - LlamaOnHost(job_));
    const double room = LlamaRoom(job_) - weights;
    const double each = CacheOf(static_cast<double>(in_.isl + in_.osl));
    capacity_ = std::max(0.0, std::floor(room / each));
    out_.capacity =
        *capacity_ < 1
            ? "none beside these layers: give the card fewer (--ngl)"
            : fmt::format("about {:.0f} requests of this load", *capacity_);
    out_.assumed.push_back(fmt::format(
        "{:.1f} GiB of the card's memory for the cache: {:.0f} % of what is "
        "printed on it, less 1 GB and the weights",
        std::max(room, 0.0) / kGib, kLlamaUsable * 100));
  }

  double Spread(double one, int64_t concurrency) const {
    constexpr double kOutsideWider = 1.5;
    return one * (concurrency > 1 ? kSharedWider : 1.0) *
           (out_.reach == "inside" ? 1.0 : kOutsideWider);
  }

  void Add(int64_t concurrency) {
    const LlamaPoint found = PointAt(job_, in_, concurrency);
    const auto slots = static_cast<double>(concurrency);
    const auto osl = static_cast<double>(in_.osl);
    // A token's time is mostly steps; how much of it is prompts decides which
    // spread it has.
    const double prompts = found.interference / found.token;
    const double token_spread = Spread(
        kLlamaGenerationSpread * (1 - prompts) + kLlamaPromptSpread * prompts,
        concurrency);
    const double rate =
        slots * osl / (found.first_token + (osl - 1) * found.token);
    SpeedPoint point;
    point.concurrency = concurrency;
    point.first_token =
        Seconds(Within(Unit::kSeconds, found.first_token,
                       Spread(kLlamaPromptSpread, concurrency), out_.reach));
    point.token =
        Seconds(Within(Unit::kSeconds, found.token, token_spread, out_.reach));
    point.output_rate =
        Tokens(Within(Unit::kTokens, rate, token_spread, out_.reach));
    point.user_rate = 1 / found.token;
    point.requests_a_second = rate / osl;
    point.limit = LimitOf(found.step, found.interference);
    if (in_.price) {
      point.cost = Within(Unit::kCount, CostOfMillion(in_, rate), token_spread,
                          out_.reach);
    }
    point.room = capacity_ ? RoomWords(*capacity_, 1, slots) : "fits";
    out_.points.push_back(std::move(point));
  }

  // The last load is explained: the largest is what people tune.
  void Explain() {
    out_.explained = in_.concurrency.back();
    const LlamaPoint last = PointAt(job_, in_, out_.explained);
    const auto figure_of = [this](double spread) {
      return [this, spread](double seconds) {
        return Within(Unit::kSeconds, seconds, spread, out_.reach);
      };
    };
    AddSpeedParts(last.step, 1, last.interference,
                  figure_of(Spread(kLlamaGenerationSpread, out_.explained)),
                  out_.token);
    AddSpeedParts(last.prompt, 1, 0, figure_of(Spread(kLlamaPromptSpread, 1)),
                  out_.prompt);
    AddGain("as it is", job_);
    LlamaJob changed = job_;
    changed.bandwidth *= 2;
    AddGain("twice the memory bandwidth", changed);
    changed = job_;
    changed.peak *= 2;
    AddGain("twice the arithmetic", changed);
    if (job_.memory <= 0) return;
    changed = job_;
    changed.memory *= 2;
    if (!in_.card_layers) AddGain("twice the card's memory", changed);
  }

  void AddGain(const char* resource, const LlamaJob& job) {
    const LlamaPoint point = PointAt(job, in_, out_.explained);
    out_.gains.push_back(
        {resource, point.first_token * kMilli, point.token * kMilli});
  }

  const SpeedRequest& in_;
  LlamaJob job_;
  std::optional<double> capacity_;
  SpeedAnswer out_;
};

// What other engines can and this one is not told of.
std::vector<InputError> Unsupported(const SpeedRequest& in) {
  std::vector<InputError> out;
  const auto refuse = [&](bool is_there, const char* option, const char* cure) {
    if (!is_there) return;
    Place place;
    place.source = "the command line";
    place.key = option;
    out.push_back(
        {std::move(place), "llama.cpp's speed is not told with it", cure});
  };
  refuse(in.tensor > 1 || in.data > 1 || in.expert_parallel, "--tp, --dp, --ep",
         "llama.cpp gives each card some of the layers: write --pp 2");
  refuse(in.drafts > 0, "--drafts", "leave it out");
  refuse(in.offload_gib > 0, "--offload",
         "say how many layers the card keeps: --ngl 20");
  refuse(!in.cache.empty() && in.cache != "auto" && in.cache != "bf16",
         "--kv-dtype", "leave it out: the cache holds 16 bits");
  return out;
}

}  // namespace

std::variant<SpeedAnswer, Refusal> AnswerLlamaSpeed(
    const SpeedRequest& request) {
  if (auto errors = Unsupported(request); !errors.empty()) {
    return Refusal{std::move(errors)};
  }
  SpeedRequest in = request;
  const bool is_assumed = in.precision.empty();
  if (is_assumed) in.precision = "Q4_K_M";
  if (!BitsOfRecipe(in.precision)) {
    Place place;
    place.source = "the command line";
    place.key = "--quant";
    return Refusal{{InputError{
        std::move(place),
        fmt::format("{} is none of llama.cpp's types", in.precision),
        "write --quant Q4_K_M, Q8_0 or F16"}}};
  }
  LlamaRequest llama;
  llama.config = &in.config;
  llama.device = &in.device;
  llama.recipe = in.precision;
  llama.backend = in.backend;
  llama.devices = in.pipeline;
  llama.device_layers = in.card_layers;
  auto job = LlamaJobOf(llama);
  if (const auto* why = std::get_if<std::string>(&job)) {
    Place place;
    place.source = in.config.source;
    return Refusal{
        {InputError{std::move(place), "the speed cannot be told: " + *why,
                    "name a device that is known, and a model "
                    "whose class is derived"}}};
  }
  SpeedAnswer answer = Answerer(in, std::get<LlamaJob>(job)).Run();
  if (is_assumed) {
    answer.assumed.insert(answer.assumed.begin(),
                          "the file is Q4_K_M, as --quant says nothing else");
  }
  return answer;
}

}  // namespace foretell
