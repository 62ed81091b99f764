// The set `weights_bytes`: what a published checkpoint holds.
//
// A row states either its stored elements as the hub counts them in the
// headers of its safetensors files, or the bytes that its index states. Both
// come from the configuration alone: the class's parameters, each storage
// once; what checkpoints of the class always or usually hold beside them
// (analysis/checkpoint_surplus.h); and, where the weights are quantized, the
// scales and packed words that take their place. A row's id says whether a
// configuration's quantization is its own: another model's configuration may
// stand for it. Where a class has no family, the row is a miss, not left out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "analysis/checkpoint_surplus.h"
#include "answers/quantization_config.h"
#include "answers/quantized_model.h"
#include "answers/read_model.h"
#include "answers/score/score_sets.h"
#include "base/dtype.h"
#include "base/lower_case.h"

namespace foretell {
namespace {

constexpr char kElements[] = "elements";
constexpr char kBytes[] = "bytes";

// What names say of a quantization, and the default plan that it means.
struct NamedQuantization {
  std::string_view word;
  std::string_view plan;
};
constexpr std::array<NamedQuantization, 14> kWords = {{
    {"awq", "awq"},
    {"gptq-int8", "gptq-int8"},
    {"gptq", "gptq"},
    {"nvfp4", "nvfp4"},
    {"mxfp4", "mxfp4"},
    {"fp8", "fp8"},
    {"w4a16", "w4a16"},
    {"w8a8", "w8a8"},
    {"autoround", "auto-round"},
    {"auto-round", "auto-round"},
    {"bnb-4bit", "nf4-dq"},
    {"-nf4", "nf4-dq"},
    {"aqlm", "aqlm"},
    {"hqq", "hqq"},
}};

std::string_view WordIn(std::string_view name) {
  const std::string lower = Lower(name);
  for (const NamedQuantization& one : kWords) {
    if (lower.find(one.word) != std::string::npos) return one.plan;
  }
  return "";
}

// Of "a/b/org--name.json": its last part.
std::string_view LabelOf(const ModelConfig& config) {
  std::string_view label = config.source;
  return label.substr(label.rfind('/') + 1);
}

// How the row's own checkpoint is stored.
enum class Stored : uint8_t { kPlain, kAsConfigured, kByName };

Stored StoredHow(const ScoreInput& input) {
  const std::string id = input.settings.Text("id").value_or("");
  const std::string_view in_id = WordIn(id);
  if (QuantizationOf(input.config->root) != nullptr) {
    const std::string lower = Lower(id);
    // A copy in full precision says so in its name.
    const bool plain = lower.find("bf16") != std::string::npos;
    const std::string_view in_label = WordIn(LabelOf(*input.config));
    // Another model's file: its quantization is that model's own.
    const bool foreign = !in_label.empty() && in_id.empty();
    return plain || foreign ? Stored::kPlain : Stored::kAsConfigured;
  }
  return in_id.empty() ? Stored::kPlain : Stored::kByName;
}

std::vector<Predicted> Missed(const std::string& why) {
  return {{kElements, AnyFigure::Unknown(Unit::kParameters, why)},
          {kBytes, AnyFigure::Unknown(Unit::kBytes, why)}};
}

std::vector<TensorGroup> UsualSurplus(const std::vector<SurplusItem>& items) {
  std::vector<TensorGroup> out;
  for (const SurplusItem& item : items) {
    if (item.left_out || item.presence == SurplusPresence::kSometimes) continue;
    out.insert(out.end(), item.tensors.begin(), item.tensors.end());
  }
  return out;
}

std::vector<Predicted> Plain(const ReadModel& model,
                             const std::vector<SurplusItem>& items) {
  if (!model.parameters.total.is_exact()) {
    const auto& missing = model.parameters.total.any().missing();
    return Missed(fmt::format("{}", fmt::join(missing, ", ")));
  }
  const auto elements = ExpectedElements(model.parameters, items);
  const AnyFigure count = AnyFigure::Exact(Unit::kParameters, elements);
  const AnyFigure bytes = AnyFigure::Exact(
      Unit::kBytes,
      elements ? std::optional<int64_t>(*elements * BytesOf(model.built.dtype))
               : std::nullopt);
  return {{kElements, count}, {kBytes, bytes}};
}

BuildOptions OptionsOf(const ScoreInput& input) {
  BuildOptions options;
  if (const auto dtype = input.settings.Text("dtype")) {
    options.dtype = ParseDType(*dtype);
  }
  // A pipeline holds T5's encoder alone (diffusers, T5EncoderModel), though its
  // configuration is that of the whole.
  const ConfigValue* type = input.config->root.Find("model_type");
  const auto part = input.settings.Text("component").value_or("");
  if (part.starts_with("text_encoder") && type != nullptr &&
      type->AsString() == "t5") {
    options.class_name = "T5EncoderModel";
  }
  return options;
}

// "as much as lm_head.weight, stored beside the class's own".
std::string NameDifference(const ParameterAnalysis& parameters,
                           int64_t difference) {
  const int64_t size = std::abs(difference);
  const char* side = difference > 0 ? "stored beside the class's own"
                                    : "of the class, not stored";
  for (const TensorGroup& group : parameters.tensors) {
    const auto all = group.Elements();
    if (!all || group.count == 0) continue;
    if (*all == size) return fmt::format("as much as {}, {}", group.name, side);
    if (*all / group.count == size) {
      return fmt::format("as much as one {}, {}", group.name, side);
    }
  }
  return "";
}

std::string NameItems(const std::vector<SurplusItem>& items,
                      const std::vector<size_t>& chosen) {
  std::vector<std::string> names;
  for (const size_t at : chosen) names.push_back(items[at].what);
  if (names.empty()) return "the class's own tensors, and no others";
  return fmt::format("the class and {}", fmt::join(names, "; "));
}

// Saved by transformers, whose class reads no layers that predict further
// tokens: heretic saves the model so, under a name that it ends with its own
// (heretic/main.py, save_pretrained of the merged model).
bool IsSavedByHeretic(const ScoreInput& input) {
  return Lower(input.settings.Text("id").value_or("")).ends_with("-heretic");
}

std::vector<SurplusItem> SurplusOf(const ScoreInput& input,
                                   const ReadModel& model) {
  auto items = CheckpointSurplus(*input.config, model.built.class_name,
                                 model.parameters);
  if (!IsSavedByHeretic(input)) return items;
  for (SurplusItem& item : items) {
    if (item.what.find("further token") == std::string::npos) continue;
    item.presence = SurplusPresence::kSometimes;
  }
  return items;
}

// diffusers' files never say in which dtype the weights are stored; what their
// pipeline says of it was added as the configuration was read.
bool LacksDtype(const ScoreInput& input) {
  return input.config->root.Find("_class_name") != nullptr &&
         input.config->root.Find("torch_dtype") == nullptr &&
         !input.settings.Text("dtype");
}

}  // namespace

Prediction PredictWeightsBytes(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  if (LacksDtype(input)) {
    return LeftOut{"neither the row nor its configuration states the dtype"};
  }
  const ModelConfig& config = *input.config;
  const auto read = ReadModelOf(config, OptionsOf(input));
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return Missed(refusal->errors.front().what);
  }
  const ReadModel& model = std::get<ReadModel>(read);
  const auto items = SurplusOf(input, model);
  const Stored how = StoredHow(input);
  if (how == Stored::kPlain || !model.parameters.total.is_exact()) {
    return Plain(model, items);
  }
  const auto weights =
      how == Stored::kAsConfigured
          ? QuantizedAsConfigured(config, model, UsualSurplus(items))
          : QuantizeModel(config, model, WordIn(*input.settings.Text("id")));
  if (!weights) return Plain(model, items);
  return std::vector<Predicted>{
      {kElements, weights->stored.any().In(Unit::kParameters)},
      {kBytes, weights->tensors.any()}};
}

std::vector<Measured> MeasureWeightsBytes(const ConfigValue& row) {
  std::vector<Measured> out;
  const auto add = [&](std::string_view field, const char* quantity) {
    const ConfigValue* value = FieldAt(row, field);
    if (value == nullptr) return;
    const auto number = value->AsReal();
    if (number && *number > 0) {
      out.push_back(MeasuredNumber(quantity, *number, {quantity}));
    }
  };
  add("total_params", kElements);
  add("total_size_bytes", kBytes);
  return out;
}

std::string ExplainWeightsBytes(const ScoreInput& input, const Score& score) {
  if (input.config == nullptr || !score.ratio) return score.note;
  const auto read = ReadModelOf(*input.config, OptionsOf(input));
  const auto* model = std::get_if<ReadModel>(&read);
  if (model == nullptr || !model->parameters.total.is_exact()) {
    return score.note;
  }
  const double size = score.quantity == kBytes
                          ? static_cast<double>(BytesOf(model->built.dtype))
                          : 1;
  const auto stored = std::llround(score.measured_value / size);
  const int64_t difference = stored - model->parameters.total.exact();
  const auto items = SurplusOf(input, *model);
  std::string out;
  if (const auto chosen = ExplainDifference(difference, items)) {
    out = NameItems(items, *chosen);
  } else {
    out = NameDifference(model->parameters, difference);
  }
  if (out.empty() && difference == 0) out = "the class's own tensors alone";
  if (out.empty()) {
    out = fmt::format("{} {} {} the class, not explained",
                      WithSeparators(std::abs(difference)),
                      score.quantity == kBytes ? "elements' worth" : "elements",
                      difference > 0 ? "beyond" : "short of");
  }
  if (StoredHow(input) != Stored::kPlain) {
    out += "; quantized: scales and packing are counted by its configuration";
  } else if (!input.config_how.empty()) {
    out += fmt::format("; the configuration is {}, {}", LabelOf(*input.config),
                       input.config_how);
  }
  return out;
}

}  // namespace foretell
