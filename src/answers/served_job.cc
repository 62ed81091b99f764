#include "answers/served_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "answers/read_model.h"
#include "answers/served_format.h"
#include "base/lower_case.h"
#include "engines/vllm/served_config.h"

namespace foretell {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Which family of cards has this one's constants.
std::string_view CardsOf(const Device& device) {
  const std::string& arch = device.arch;
  if (arch.starts_with("Ampere")) return "ampere";
  if (arch.starts_with("Ada")) return "ada";
  if (arch.starts_with("Hopper")) {
    // Few multiprocessors cannot draw a wide memory's rate (H20).
    constexpr double kMostEach = 40;  // GB/s; H200 has 36
    const auto count = static_cast<double>(device.multiprocessors.value_or(0));
    return count > 0 && *device.bandwidth_gbs / count > kMostEach
               ? "hopper_narrow"
               : "hopper";
  }
  if (arch.starts_with("Blackwell")) {
    // The data-centre kind has HBM.
    return device.memory_type.starts_with("HBM") ? "blackwell" : "bw_small";
  }
  if (Has(arch, "CDNA")) return "cdna3";
  if (Has(arch, "Neuron")) return "neuron";
  if (arch.starts_with("Turing") || arch.starts_with("Volta")) return "turing";
  return "other";
}

// FLOP/s of a dtype, else of the nearest wider one that the card states.
std::optional<double> PeakOf(const Device& device, std::string_view dtype) {
  for (const std::string_view name :
       {dtype, std::string_view("bf16"), std::string_view("fp16"),
        std::string_view("fp32")}) {
    const auto found = device.dense_tflops.find(std::string(name));
    if (found != device.dense_tflops.end()) return found->second * 1e12;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> LinkOf(const Device& device) {
  if (device.link_gbs) return *device.link_gbs * 1e9 / 2;
  const size_t unit = device.link.find(" GB/s");
  if (unit == std::string::npos) return std::nullopt;
  size_t begin = unit;
  while (begin > 0 && (std::isdigit(static_cast<unsigned char>(
                           device.link[begin - 1])) != 0 ||
                       device.link[begin - 1] == '.')) {
    --begin;
  }
  return std::strtod(device.link.c_str() + begin, nullptr) * 1e9 / 2;
}

std::variant<ServedShape, std::string> ShapeOfConfig(
    const ModelConfig& config) {
  const auto read = ReadModelOf(config, {});
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return "the model's class is not derived: " + refusal->errors.front().what;
  }
  return ShapeOfModel(std::get<ReadModel>(read), config);
}

std::variant<ServedShape, std::string> ShapeOfModel(const ReadModel& model,
                                                    const ModelConfig& config) {
  if (model.built.model == nullptr) return "the model's class is not derived";
  const vllm::ServedConfig served(config);
  ServedSizes sizes;
  for (const LayerStack& stack : model.built.model->stacks) {
    if (Has(stack.name, "vision") || Has(stack.name, "audio")) continue;
    sizes.layers = std::max(sizes.layers, stack.layers);
  }
  sizes.hidden = served.hidden_size();
  sizes.query_heads = served.attention_heads();
  if (sizes.layers <= 0 || sizes.hidden <= 0) {
    return "the model's layers or width are not stated";
  }
  ServedShape out =
      ShapeOfServed(model.parameters, model.built.model->states, sizes);
  if (served.Find("index_topk") != nullptr) out.has_indexer = true;
  return out;
}

AnyFigure SpeedFigure(Unit unit, double value, ServedQuantity quantity,
                      Reach reach) {
  // Beyond the fitted range nothing was left out to measure the spread by.
  constexpr double kNearWider = 1.5;
  constexpr double kOutsideWider = 2.5;
  const double spread =
      SpreadOf(quantity) * (reach == Reach::kInside ? 1.0
                            : reach == Reach::kNear ? kNearWider
                                                    : kOutsideWider);
  return AnyFigure::Estimated(
      unit, value, value * std::exp(-spread), value * std::exp(spread),
      std::string(NameOf(reach)) + " the measured range");
}

std::string EngineNamed(const std::string& words, const std::string& version) {
  const std::string name = Lower(words);
  const auto has = [&name](std::string_view part) { return Has(name, part); };
  if (has("pytorch backend") || name == "trtllm") return "trtllm_pt";
  if (has("tensorrt") || has("optimum nvidia")) return "trtllm";
  if (has("neuron")) return "neuron";
  if (has("vllm")) {
    if (has("rocm")) return "vllm_rocm";
    const auto is = [&version](std::string_view start) {
      return version.starts_with(start);
    };
    if (is("0.6.") || is("0.7")) return "vllm_06";
    if (is("0.1.") || is("0.2") || is("0.3") || Has(version, "2023")) {
      return "vllm_2023";
    }
    return is("0.4") || is("0.5") ? "vllm_early" : "vllm";
  }
  if (has("sglang")) return "sglang";
  if (has("fastertransformer") || has("megatron")) return "ft";
  if (has("tinychat")) return "tinychat";
  if (has("huggingface transformers baseline")) return "graphs";
  if (has("autoawq")) return "autoawq";
  if (has("turbomind") || has("lmdeploy")) return "turbomind";
  if (has("gpt-fast")) return "gptfast";
  if (has("exllama")) return "exllama";
  if (has("mlc")) return "mlc";
  if (has("transformers")) return "hf";
  return "eager";
}

std::variant<ServedSetting, std::string> SettingOf(const ServedRequest& in) {
  if (in.device == nullptr) return std::string("the card");
  ServedSetting out;
  ServedJob& job = out.job;
  if (in.shape) {
    job.shape = *in.shape;
  } else if (in.config == nullptr) {
    return std::string("the model's configuration");
  } else {
    auto shape = ShapeOfConfig(*in.config);
    if (auto* missing = std::get_if<std::string>(&shape)) {
      return std::move(*missing);
    }
    job.shape = std::get<ServedShape>(shape);
  }
  const Device& device = *in.device;
  if (!device.bandwidth_gbs) return std::string("the card's bandwidth");
  const std::string_view cards = CardsOf(device);
  const bool has_experts = job.shape.expert_count > 1;
  const StoredAs stored =
      StoredAsOf({in.precision, in.config, cards, in.engine, has_experts});
  std::string engine_name = in.engine;
  if (engine_name == "hf" && stored.kind != WeightKind::kPlain) {
    engine_name = stored.kind == WeightKind::kEight ? "hf_fp8" : "hf_quant";
  }
  const EngineConstants* engine = FindServedEngine(engine_name);
  const CardConstants* card = FindServedCards(cards);
  if (engine == nullptr || card == nullptr) return std::string("the engine");
  job.engine = *engine;
  job.card = *card;
  job.is_eager = in.engine == "hf" || in.engine == "eager";
  // Two of a chip's cores, or two dies that are told apart, share its memory.
  const bool is_halved = cards == "neuron" || device.id == "mi250x";
  job.bandwidth = *device.bandwidth_gbs * 1e9 * (is_halved ? 0.5 : 1.0);
  const auto peak = PeakOf(device, "bf16");
  if (!peak) return std::string("the card's peak");
  job.peak16 = *peak;
  job.kind = stored.kind;
  const auto format = [&](const StoredPart& part) {
    return ServedFormat{part.bytes, PeakOf(device, part.dtype).value_or(*peak)};
  };
  job.attention = format(stored.attention);
  job.mlp = format(stored.mlp);
  job.experts = format(stored.experts);
  job.head_bytes = stored.attention.bytes > 2 ? stored.attention.bytes : 2;
  out.storage = stored.text;
  job.cache_bytes = CacheBytesOf(in.cache, in.engine, stored.kind);
  if (in.cache.empty() || in.cache == "auto") {
    out.assumed.push_back(fmt::format("the cache holds {}",
                                      job.cache_bytes < 2 ? "fp8" : "16 bits"));
  }
  const auto link = LinkOf(device);
  constexpr double kPcie4 = 31.5;  // GB/s of 4.0 x16, one direction
  job.has_nvlink = link.has_value();
  job.link = link.value_or(device.pcie_gbs.value_or(kPcie4) * 1e9);
  job.host_link = device.pcie_gbs.value_or(kPcie4) * 1e9;
  job.memory = device.total.any().value().value_or(0);
  job.clock_share = in.clock_share;
  job.tensor = static_cast<double>(in.tensor);
  job.pipeline = static_cast<double>(in.pipeline);
  job.data = static_cast<double>(in.data);
  if (has_experts) {
    job.expert_ranks = static_cast<double>(in.expert_ranks);
    job.expert_tensor =
        in.expert_tensor > 0
            ? static_cast<double>(in.expert_tensor)
            : std::max(1.0, static_cast<double>(in.tensor * in.data) /
                                job.expert_ranks);
  }
  // Constants that were fitted on few runs, or on none of their kind.
  constexpr int64_t kMany = 40;
  if (engine->rows == 0 || card->rows == 0) {
    out.reach = Reach::kOutside;
  } else if (engine->rows < kMany || card->rows < kMany) {
    out.reach = Reach::kNear;
  }
  return out;
}

}  // namespace foretell
