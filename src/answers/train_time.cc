#include "answers/train_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "answers/served_job.h"
#include "answers/trained_job.h"

namespace foretell {
namespace {

constexpr double kHour = 3600;
constexpr double kMillion = 1e6;

TrainedSharing SharingOf(Sharding sharding) {
  switch (sharding) {
    case Sharding::kNone:
      return TrainedSharing::kNone;
    case Sharding::kDdp:
      return TrainedSharing::kCopies;
    case Sharding::kZero1:
    case Sharding::kZero2:
      return TrainedSharing::kStates;
    case Sharding::kZero3:
    case Sharding::kFsdp1:
    case Sharding::kFsdp2:
      return TrainedSharing::kParameters;
  }
  return TrainedSharing::kNone;
}

// PyTorch multiplies float32 in float32 unless it is told to use TF32.
TrainedFormat FormatOf(const TrainingJob& job) {
  if (job.fp8 != Fp8::kNone) return TrainedFormat::kFp8;
  const bool is_half =
      job.step.autocast.has_value() || job.step.dtype != DType::kFloat32;
  return is_half ? TrainedFormat::kHalf : TrainedFormat::kFp32;
}

// Bytes that AdamW's step reads and writes a parameter: parameter, gradient
// and both moments in, all but the gradient out.
double OptimizerBytes(const TrainingJob& job) {
  if (job.master_weights) return 30;
  const bool is_half = job.step.dtype != DType::kFloat32 && !job.float32_shares;
  return is_half ? 14 : 28;
}

class Teller {
 public:
  explicit Teller(const TrainTimeRequest& in) : in_(in) {}

  TrainTime Tell() {
    auto shape = ShapeOfModel(*in_.model, *in_.config);
    if (auto* why = std::get_if<std::string>(&shape)) {
      out_.missing = std::move(*why);
      return std::move(out_);
    }
    TrainedRequest request;
    request.shape = std::get<ServedShape>(shape);
    request.device = in_.device;
    request.format = FormatOf(*in_.job);
    request.loop =
        in_.job->compiled ? TrainedLoop::kCompiled : TrainedLoop::kEager;
    request.network_gbs = in_.costs->network_gbs.value_or(0);
    const ServedShape& found = request.shape;
    if (found.attention + found.mlp + found.experts <= 0) {
      out_.missing = "the model has no layers of a transformer";
      return std::move(out_);
    }
    auto setting = TrainedSettingOf(request);
    if (const auto* missing = std::get_if<std::string>(&setting)) {
      out_.missing = *missing + " is not known";
      return std::move(out_);
    }
    job_ = std::get<TrainedSetting>(setting).job;
    out_.assumed = std::get<TrainedSetting>(setting).assumed;
    SetJob();
    AddStep();
    AddGains();
    AddRun();
    AddAssumed();
    return std::move(out_);
  }

 private:
  void SetJob() {
    const TrainingJob& job = *in_.job;
    const StepCase& step = job.step;
    job_.sequences = static_cast<double>(step.batch);
    job_.sequence = static_cast<double>(step.sequence);
    job_.micro_steps = static_cast<double>(job.accumulate);
    job_.cards_all = static_cast<double>(job.gpus);
    job_.data = job_.cards_all;
    job_.sharing = SharingOf(job.sharding);
    job_.trained_share = in_.trained_share;
    job_.optimizer_bytes = OptimizerBytes(job);
    if (step.lora) job_.backward = 1;
    if (job.weights == WeightFormat::kInt8) job_.stored_bits = 8;
    if (job.weights == WeightFormat::kNf4 ||
        job.weights == WeightFormat::kGptq4) {
      job_.stored_bits = 4;
    }
    if (step.checkpoint) {
      if (step.checkpoint_kind == CheckpointKind::kOnlyAttention) {
        job_.recomputes_attention = true;
      } else {
        job_.recomputed = 1.0 / static_cast<double>(std::max<int64_t>(
                                    1, step.checkpoint_every));
      }
    }
    job_.offloads_optimizer = job.offload == Offload::kOptimizer ||
                              job.offload == Offload::kParameters;
    job_.writes_scores = step.attention == "eager";
    job_.has_newer_attention = step.attention == "flash3";
    job_.has_older_attention = !job_.writes_scores &&
                               !job_.has_newer_attention &&
                               (job_.cards == TrainedCards::kHopper ||
                                job_.cards == TrainedCards::kBlackwell);
  }

  AnyFigure Told(Unit unit, double value) const {
    return TrainedFigure(unit, value, job_);
  }

  void AddStep() {
    step_ = TrainedStepOf(job_, FittedTraining());
    out_.step = Told(Unit::kSeconds, step_.total);
    out_.rate = Told(Unit::kTokens, step_.tokens_a_second * job_.cards_all);
    const double flops = ModelFlopsOfToken(job_, true) / job_.peak;
    out_.utilisation = step_.tokens_a_second * flops;
    const double spread = *out_.rate.high() / *out_.rate.value();
    out_.low = out_.utilisation / spread;
    out_.high = std::min(1.0, out_.utilisation * spread);
    const double constant = FittedTraining()[TrainingConstant::kStep];
    const std::pair<const char*, double> phases[] = {
        {"forward", step_.forward},
        {"backward", step_.backward - step_.recompute},
        {"recomputed in the backward", step_.recompute},
        {"collectives that nothing hides", step_.exposed},
        {"optimizer", step_.optimizer},
        {"between steps", constant}};
    for (const auto& [name, seconds] : phases) {
      if (seconds > 0) {
        out_.phases.push_back({name, Told(Unit::kSeconds, seconds)});
      }
    }
    const std::pair<const char*, double> parts[] = {
        {"arithmetic", step_.arithmetic},
        {"memory", step_.memory},
        {"communication", step_.communication},
        {"host launches", step_.launches}};
    double most = 0;
    for (const auto& [name, seconds] : parts) {
      if (seconds > 0) {
        out_.parts.push_back({name, Told(Unit::kSeconds, seconds)});
      }
      if (seconds > most) {
        most = seconds;
        out_.limit = name;
      }
    }
  }

  void AddGains() {
    const auto add = [&](const char* resource,
                         const std::function<void(TrainedJob&)>& change) {
      TrainedJob faster = job_;
      change(faster);
      const double seconds = TrainedStepOf(faster, FittedTraining()).total;
      out_.gains.push_back({resource, seconds, step_.total / seconds});
    };
    constexpr double kTwice = 2;
    add("arithmetic", [](TrainedJob& job) {
      job.peak *= kTwice;
      job.peak_half *= kTwice;
    });
    add("memory bandwidth", [](TrainedJob& job) { job.bandwidth *= kTwice; });
    if (job_.cards_all > 1) {
      add("links", [](TrainedJob& job) { job.link *= kTwice; });
      add("network", [](TrainedJob& job) { job.network *= kTwice; });
    }
    TrainingConstants quick = FittedTraining();
    for (const TrainingConstant one :
         {TrainingConstant::kLayerLaunch, TrainingConstant::kExpertLaunch}) {
      quick.values[static_cast<size_t>(one)] /= kTwice;
    }
    const double seconds = TrainedStepOf(job_, quick).total;
    out_.gains.push_back({"host", seconds, step_.total / seconds});
  }

  static AnyFigure Scaled(const AnyFigure& figure, double factor) {
    return AnyFigure::Estimated(Unit::kCount, *figure.value() * factor,
                                *figure.low() * factor, *figure.high() * factor,
                                "");
  }

  std::optional<double> TokensOfRun() const {
    const RunCosts& costs = *in_.costs;
    if (costs.tokens) return *costs.tokens * costs.epochs;
    if (costs.samples) return *costs.samples * job_.sequence * costs.epochs;
    return std::nullopt;
  }

  void Add(const char* what, const char* unit, AnyFigure value) {
    out_.run.push_back({what, unit, std::move(value)});
  }

  static AnyFigure Missing(std::string why) {
    return AnyFigure::Unknown(Unit::kCount, std::move(why));
  }

  void AddRun() {
    const RunCosts& costs = *in_.costs;
    const auto tokens = TokensOfRun();
    const AnyFigure& step = out_.step;
    const double of_step =
        job_.sequences * job_.sequence * job_.micro_steps * job_.data;
    const double steps = tokens ? std::ceil(*tokens / of_step) : 0;
    constexpr char kNoTokens[] =
        "how much data is not said (--tokens, or --samples and --epochs)";
    constexpr char kNoPrice[] = "no price is said (--price)";
    if (tokens) {
      Add("steps", "steps",
          AnyFigure::Exact(Unit::kCount, static_cast<int64_t>(steps)));
      Add("run time", "hours", Scaled(step, steps / kHour));
      hours_ = Scaled(step, steps / kHour * job_.cards_all);
      Add("card hours", "hours", *hours_);
    } else {
      Add("run time", "hours", Missing(kNoTokens));
      Add("card hours", "hours", Missing(kNoTokens));
    }
    const AnyFigure a_million =
        Scaled(step, kMillion / of_step / kHour * job_.cards_all);
    Add("cost", "USD",
        !costs.price ? Missing(kNoPrice)
        : hours_     ? Scaled(*hours_, *costs.price)
                     : Missing(kNoTokens));
    Add("cost of a million tokens", "USD",
        costs.price ? Scaled(a_million, *costs.price) : Missing(kNoPrice));
    AddEnergy(kNoTokens);
    for (const ListPrice& price : costs.prices) {
      out_.prices.push_back(
          {price.provider + ", " + price.name,
           price.date.empty() ? "not stated" : price.date, price.usd_an_hour,
           hours_ ? Scaled(*hours_, price.usd_an_hour) : Missing(kNoTokens)});
    }
  }

  // Cards in training draw most of what they are rated at; the host and the
  // network are not in it.
  void AddEnergy(const char* no_tokens) {
    const RunCosts& costs = *in_.costs;
    constexpr char kNoPower[] = "the card's power is not known";
    constexpr double kLeast = 0.6;
    constexpr double kUsual = 0.85;
    constexpr double kWatts = 1e-3;
    std::optional<AnyFigure> energy;
    if (hours_ && in_.device->power_w) {
      const double kilo = *in_.device->power_w * kWatts;
      energy = AnyFigure::Estimated(
          Unit::kCount, *hours_->value() * kilo * kUsual,
          *hours_->low() * kilo * kLeast, *hours_->high() * kilo, "");
      out_.assumed.push_back(fmt::format(
          "a card draws {:.0f} to 100 % of its rated {:.0f} W; hosts and "
          "network are not counted",
          kLeast * 100, *in_.device->power_w));
    }
    const auto or_missing = [&](bool is_known, double factor,
                                const char* missing) {
      if (!hours_) return Missing(no_tokens);
      if (!energy) return Missing(kNoPower);
      if (!is_known) return Missing(missing);
      return Scaled(*energy, factor);
    };
    Add("energy of the cards", "kWh", or_missing(true, 1, ""));
    Add("energy with the building's", "kWh",
        or_missing(costs.pue.has_value(), costs.pue.value_or(1),
                   "the building's overhead is not said (--pue)"));
    constexpr double kKilo = 1e-3;
    const double grams = costs.grid ? costs.grid->grams_a_kwh * kKilo : 0;
    Add("CO2 of the cards", "kg",
        or_missing(costs.grid.has_value(), grams, "no grid is said (--grid)"));
    Add("CO2 with the building's", "kg",
        or_missing(costs.grid && costs.pue, grams * costs.pue.value_or(1),
                   "no grid or no overhead is said (--grid, --pue)"));
    if (costs.grid) {
      out_.assumed.push_back(fmt::format(
          "{}: {:.0f} g of CO2 a kWh{}, by {}", costs.grid->name,
          costs.grid->grams_a_kwh,
          costs.grid->year > 0 ? fmt::format(" in {}", costs.grid->year) : "",
          costs.grid->source));
    }
  }

  void AddAssumed() {
    out_.assumed.emplace_back("batches wait for no data");
    if (in_.job->padding_free || in_.job->mean_sequence > 0) {
      out_.assumed.emplace_back("every sample is as long as the longest");
    }
    if (in_.job->offload == Offload::kActivations) {
      out_.assumed.emplace_back("activations come back as fast as they go");
    }
    if (in_.job->preference != Preference::kNone) {
      out_.assumed.emplace_back(
          "the time is of a plain loss: a preference loss runs more");
    }
  }

  const TrainTimeRequest& in_;
  TrainedJob job_;
  TrainedStep step_;
  std::optional<AnyFigure> hours_;
  TrainTime out_;
};

}  // namespace

TrainTime TimeOfTraining(const TrainTimeRequest& in) {
  return Teller(in).Tell();
}

}  // namespace foretell
