#include "answers/score/training_speed_job.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/served_job.h"
#include "answers/trained_job.h"

namespace foretell {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool HasAny(std::string_view text,
            std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return Has(text, part); });
}

// A decoder of stated sizes, each layer with two products to and from its
// feed-forward.
std::optional<ServedShape> StatedShape(const ScoreSettings& s) {
  const auto layers = s.Integer("arch.layers");
  const auto hidden = s.Integer("arch.hidden");
  const auto heads = s.Integer("arch.heads");
  const auto words = s.Integer("arch.vocab");
  if (!layers || !hidden || !heads || !words || *heads <= 0) return {};
  ServedShape out = ShapeOfPlainDecoder(
      {.layers = *layers, .hidden = *hidden, .query_heads = *heads}, *words);
  const double square = out.hidden * out.hidden * out.layers;
  const auto kept =
      static_cast<double>(s.Integer("arch.kv_heads").value_or(*heads)) /
      out.query_heads;
  out.attention = square * (2 + 2 * kept);
  out.kept *= kept;
  if (const auto inner = s.Real("arch.ffn")) {
    out.mlp = 2 * out.layers * out.hidden * *inner;
  }
  out.stored = out.attention + out.mlp + out.head;
  return out;
}

std::variant<ServedShape, LeftOut> ShapeOfRow(const ScoreInput& input) {
  if (const auto stated = StatedShape(input.settings)) return *stated;
  if (input.config == nullptr) return LeftOut{input.no_config};
  auto shape = ShapeOfConfig(*input.config);
  if (auto* why = std::get_if<std::string>(&shape)) {
    return LeftOut{std::move(*why)};
  }
  ServedShape& found = std::get<ServedShape>(shape);
  if (found.attention + found.mlp + found.experts <= 0) {
    return LeftOut{"the model has no layers of a transformer"};
  }
  return found;
}

bool IsMegatron(std::string_view framework) {
  return HasAny(framework, {"Megatron", "NeMo", "Primus"}) &&
         !Has(framework, "Megatron-DeepSpeed");
}

TrainedLoop LoopOf(std::string_view framework, bool is_compiled) {
  if (HasAny(framework, {"MaxText", "Pax", "T5X", "JAX", "Neuron"})) {
    return TrainedLoop::kXla;
  }
  if (HasAny(framework, {"Megatron", "NeMo", "Primus", "llm.c", "kernels"})) {
    return TrainedLoop::kFused;
  }
  return is_compiled ? TrainedLoop::kCompiled : TrainedLoop::kEager;
}

// Releases by year and month: "26.06" is June of 2026. Zero is January 2025.
double YearsOf(std::string_view version) {
  int year = 0;
  int month = 0;
  if (version.size() < 5 || version[2] != '.') return 0;
  const auto read = [](std::string_view text, int& out) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (!read(version.substr(0, 2), year) || !read(version.substr(3, 2), month)) {
    return 0;
  }
  return year - 25 + (month - 1) / 12.0;
}

TrainedSharing SharingOf(std::string_view words, TrainedLoop loop,
                         bool is_megatron, double ranks) {
  if (HasAny(words, {"FSDP FULL", "FSDP2", "HSDP", "ZeRO-3", "zero3"})) {
    return TrainedSharing::kParameters;
  }
  if (HasAny(words, {"ZeRO-1", "ZeRO-2", "zero1", "zero2", "optimizer"})) {
    return TrainedSharing::kStates;
  }
  if (Has(words, "FSDP")) return TrainedSharing::kParameters;
  if (Has(words, "DDP")) return TrainedSharing::kCopies;
  if (is_megatron) return TrainedSharing::kStates;
  if (loop == TrainedLoop::kXla) return TrainedSharing::kParameters;
  return ranks > 1 ? TrainedSharing::kCopies : TrainedSharing::kNone;
}

// "FSDP group 64", "FSDP 8"; 0: all ranks.
double GroupOf(std::string_view words) {
  for (const std::string_view before : {"FSDP group ", "FSDP "}) {
    if (!words.starts_with(before)) continue;
    const std::string_view rest = words.substr(before.size());
    int64_t count = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error == std::errc() && count > 0) return static_cast<double>(count);
  }
  return 0;
}

void SetCheckpoints(std::string_view words, TrainedJob& job) {
  job.recomputed_stated = !words.empty();
  if (words.starts_with("none") || words.empty()) return;
  if (words.starts_with("full")) {
    job.recomputed = 1;
  } else if (words.starts_with("select")) {
    job.recomputes_attention = true;
  } else if (words.starts_with("per-op") || words.starts_with("moe")) {
    // Every second product is kept (torchtitan, selective "op"); experts
    // alone, which are most of what such a layer multiplies.
    job.recomputed = 0.5;
  }
}

class Reader {
 public:
  explicit Reader(const ScoreInput& input) : s_(input.settings) {}

  std::variant<TrainedJob, LeftOut> Read(const ScoreInput& input) {
    if (input.device == nullptr) return LeftOut{"the card is not known"};
    if (s_.Text("extra.unit").value_or("") == "images/s") {
      return LeftOut{"the model has no layers of a transformer"};
    }
    auto shape = ShapeOfRow(input);
    if (auto* why = std::get_if<LeftOut>(&shape)) return std::move(*why);
    const std::string framework = s_.Text("framework").value_or("");
    const std::string precision = s_.Text("precision").value_or("");
    TrainedRequest request;
    request.shape = std::get<ServedShape>(shape);
    request.device = input.device;
    request.format = TrainedFormatOf(precision);
    request.loop = LoopOf(framework, s_.Flag("compile").value_or(false));
    auto found = TrainedSettingOf(request);
    if (const auto* missing = std::get_if<std::string>(&found)) {
      return LeftOut{*missing + " is not known"};
    }
    TrainedJob& job = std::get<TrainedSetting>(found).job;
    job.is_megatron = IsMegatron(framework);
    if (job.is_megatron) {
      job.years = YearsOf(s_.Text("framework_version").value_or(""));
    }
    if (auto why = SetWork(framework, job)) return std::move(*why);
    SetCheckpoints(s_.Text("checkpointing").value_or(""), job);
    SetMethod(precision, job);
    const std::string card = s_.Text("gpu").value_or("");
    job.is_power_limited = HasAny(card, {"power limited", "W cap"});
    const std::string attention = s_.Text("attention_impl").value_or("");
    job.has_newer_attention = attention.starts_with("FA");
    job.writes_scores =
        HasAny(framework, {"DeepLearningExamples", "(2022)", "Neuron"}) ||
        (!job.is_causal && attention.empty());
    job.has_older_attention =
        (attention == "flash" || attention.starts_with("SDPA")) &&
        (job.cards == TrainedCards::kHopper ||
         job.cards == TrainedCards::kBlackwell);
    const std::string words = s_.Text("fsdp_zero").value_or("");
    job.sharing =
        SharingOf(words, job.loop, job.is_megatron, job.data * job.context);
    job.shard_ranks = GroupOf(words);
    job.offloads_optimizer = Has(words, "offload");
    return job;
  }

 private:
  double Count(std::string_view path) const {
    return std::max(1.0, s_.Real(path).value_or(1));
  }

  std::optional<LeftOut> SetWork(const std::string& framework,
                                 TrainedJob& job) {
    job.cards_all = Count("gpu_count");
    job.tensor = Count("tp");
    job.pipeline = Count("pp");
    job.chunks = Count("vpp");
    job.context = Count("cp");
    job.experts_over = Count("ep");
    // Where the ranks of a card's cores are counted, cards divide them.
    job.tensor = std::min(job.tensor, job.cards_all);
    job.data = std::max(
        1.0, job.cards_all / (job.tensor * job.pipeline * job.context));
    auto sequence = s_.Real("seq_len");
    if (!sequence && Has(framework, "DeepLearningExamples")) {
      constexpr double kSquad = 384;
      sequence = kSquad;
    }
    if (!sequence || *sequence < 1) {
      return LeftOut{"how long sequences are is not stated"};
    }
    job.sequence = *sequence;
    const auto micro = s_.Real("micro_batch");
    const auto global = s_.Real("global_batch");
    const auto steps = s_.Real("grad_accum");
    if (micro && *micro > 0) {
      job.sequences = *micro;
      if (global && *global > 0) {
        job.micro_steps = std::max(1.0, *global / (job.data * *micro));
      } else {
        job.micro_steps = steps.value_or(1);
      }
      return std::nullopt;
    }
    if (!global || *global <= 0) {
      return LeftOut{"how many sequences a step has is not stated"};
    }
    // Stages take one sequence at a time where nothing else is said.
    const double each = *global / job.data;
    job.micro_steps =
        steps ? *steps : (job.pipeline > 1 ? std::max(1.0, each) : 1.0);
    job.sequences = each / job.micro_steps;
    return std::nullopt;
  }

  void SetMethod(std::string_view precision, TrainedJob& job) {
    const std::string task = s_.Text("task").value_or("");
    const bool is_adapted = HasAny(task, {"lora", "adapter"});
    if (!is_adapted) return;
    job.backward = 1;
    // Adapters hold about a hundredth of what they stand beside.
    constexpr double kAdapters = 0.01;
    job.trained_share = kAdapters;
    if (Has(precision, "nf4")) job.stored_bits = 4;
  }

  const ScoreSettings& s_;
};

}  // namespace

std::variant<TrainedJob, LeftOut> TrainedJobOfRecord(const ScoreInput& input) {
  return Reader(input).Read(input);
}

std::vector<Predicted> TrainedQuantities(const TrainedJob& job,
                                         const TrainingConstants& constants) {
  const TrainedStep step = TrainedStepOf(job, constants);
  const double rate = step.tokens_a_second;
  const double causal = rate * ModelFlopsOfToken(job, true);
  const double whole = rate * ModelFlopsOfToken(job, false);
  const auto told = [&](Unit unit, double value) {
    return TrainedFigure(unit, value, job);
  };
  constexpr double kTera = 1e12;
  constexpr double kPercent = 100;
  return {
      {"tokens/s", told(Unit::kTokens, rate)},
      {"step time", told(Unit::kSeconds, step.total)},
      {"samples/s", told(Unit::kCount, rate * job.cards_all / job.sequence)},
      {"TFLOPS", told(Unit::kFlops, causal / kTera)},
      {"TFLOPS, attention whole", told(Unit::kFlops, whole / kTera)},
      {"MFU", told(Unit::kCount, kPercent * causal / job.peak)},
      {"MFU, attention whole", told(Unit::kCount, kPercent * whole / job.peak)},
  };
}

}  // namespace foretell
