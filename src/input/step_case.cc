#include "input/step_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/nearest.h"
#include "input/lora_text.h"

namespace foretell {
namespace {

// Reads a whole number at the start of `text` and takes it off.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return number;
}

bool TakeText(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

std::vector<std::string> Divide(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    const size_t end = text.find(at);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::optional<StepMode> ParseMode(std::string_view name) {
  if (name.empty() || name == "train") return StepMode::kTrain;
  if (name == "forward") return StepMode::kForward;
  if (name == "prefill") return StepMode::kPrefill;
  if (name == "decode") return StepMode::kDecode;
  return std::nullopt;
}

// Tensors only: {"input_ids": "i64[2, 32]", "use_cache": false}.
std::vector<StepInput> ReadInputs(const ConfigValue* inputs) {
  std::vector<StepInput> out;
  if (inputs == nullptr) return out;
  for (const auto& [name, value] : inputs->members()) {
    StepInput input = {name, DType::kInt64, {}};
    const auto text = value.AsString();
    if (!text || !ParseTensorKind(*text, input.dtype, input.shape)) continue;
    out.push_back(std::move(input));
  }
  return out;
}

// What a case can state: tools/pytorch/record.py, and its sharded twin, whose
// own keys only say how a step is divided.
constexpr std::array<std::string_view, 40> kCaseKeys = {
    "batch",       "seq",          "tgt",      "dtype",        "autocast",
    "attn",        "experts",      "mode",     "checkpoint",   "lora",
    "freeze",      "optimizer",    "steps",    "accumulate",   "mask",
    "over",        "edit",         "class",    "device",       "what",
    "config",      "id",           "shard",    "world",        "rank",
    "param_dtype", "reduce_dtype", "prefetch", "sync",         "clip",
    "tp",          "wrap",         "loss",     "bucket_mb",    "stages",
    "split",       "schedule",     "rotate",   "microbatches", "recompute"};

// A setting that nobody reads would be claimed as if it were not there.
void CheckKeys(const ConfigValue& object, const RowFields& row) {
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(kCaseKeys, key) != kCaseKeys.end()) continue;
    const auto near = NearestNames(key, kCaseKeys, 1);
    row.Problem(&value, key, "is no key of a case",
                near.empty()
                    ? std::string("take it out")
                    : fmt::format("write {}, or take it out", near.front()));
  }
}

// A case under its keys; what it leaves out is the recorder's default.
class CaseReader {
 public:
  explicit CaseReader(const RowFields& fields) : fields_(fields) {}

  void Read(StepCase& out) const {
    const auto mode = ParseMode(fields_.OptionalText("mode"));
    if (!mode) Refuse("mode", "is no mode of the recorder");
    out.mode = mode.value_or(StepMode::kTrain);
    out.batch = Size("batch", 1);
    out.sequence = Size("seq", 128);
    out.target = Count("tgt", 0);
    out.mask = Count("mask", 0) != 0;
    out.checkpoint = Count("checkpoint", 0) != 0;
    ReadRecompute(out);
    out.first_step = Count("steps", 2) <= 1;
    out.accumulate = Size("accumulate", 1);
    out.dtype = ReadDType("dtype", "float32");
    if (!Text("autocast").empty()) out.autocast = ReadDType("autocast", "");
    out.attention = TextOr("attn", "sdpa");
    out.sharding = Text("shard");
    out.experts = TextOr("experts", "grouped_mm");
    out.optimizer = fields_.OptionalText("optimizer");
    if (out.optimizer.empty()) out.optimizer = "adamw_fused";
    if (const std::string frozen = Text("freeze"); !frozen.empty()) {
      out.frozen = Divide(frozen, ',');
    }
    if (const std::string lora = Text("lora"); !lora.empty()) {
      const LoraText read = ReadLora(lora);
      out.lora = read.settings;
      if (!out.lora) Refuse("lora", read.what);
    }
  }

 private:
  void ReadRecompute(StepCase& out) const {
    const std::string what = TextOr("recompute", "full");
    if (what == "full") return;
    if (what == "selective") {
      out.checkpoint_kind = CheckpointKind::kByOperator;
      return;
    }
    constexpr std::string_view kEvery = "every:";
    const auto every = what.starts_with(kEvery)
                           ? ReadWhole(what.substr(kEvery.size()))
                           : std::nullopt;
    if (!every) return Refuse("recompute", "is no kind of the recorder");
    out.checkpoint_every = *every;
  }

  // From 1 to 1,000.
  static std::optional<int64_t> ReadWhole(const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    constexpr int64_t kMost = 1000;
    if (error != std::errc() || stop != end || number < 1 || number > kMost) {
      return std::nullopt;
    }
    return number;
  }

  // What the recorder calls "none" is not there.
  std::string Text(std::string_view key) const {
    std::string text = fields_.OptionalText(key);
    return text == "none" ? "" : text;
  }

  std::string TextOr(std::string_view key, std::string_view otherwise) const {
    std::string text = fields_.OptionalText(key);
    return text.empty() ? std::string(otherwise) : text;
  }

  int64_t Count(std::string_view key, int64_t otherwise) const {
    return fields_.Get(key) == nullptr ? otherwise : fields_.Count(key);
  }

  int64_t Size(std::string_view key, int64_t otherwise) const {
    const int64_t size = Count(key, otherwise);
    if (size < 1) Refuse(key, "is not at least 1");
    return size;
  }

  DType ReadDType(std::string_view key, std::string_view otherwise) const {
    const std::string text = TextOr(key, std::string(otherwise));
    const auto dtype = ParseDType(text);
    if (!dtype) Refuse(key, "is no dtype");
    return dtype.value_or(DType::kFloat32);
  }

  void Refuse(std::string_view key, std::string what) const {
    fields_.Problem(fields_.Get(key), key, std::move(what),
                    "record the row again");
  }

  const RowFields& fields_;
};

}  // namespace

bool ParseTensorKind(std::string_view text, DType& dtype, Shape& shape) {
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return false;
  const auto known = ParseDType(text.substr(0, bracket));
  if (!known) return false;
  dtype = *known;
  text.remove_prefix(bracket + 1);
  while (!TakeText(text, "]")) {
    const auto extent = TakeNumber(text);
    if (!extent || shape.rank() == Shape::kMaxDims) return false;
    shape.Append(*extent);
    TakeText(text, ", ");
  }
  return text.empty();
}

StepCase ReadStepCase(const RowFields& row) {
  StepCase out;
  out.inputs = ReadInputs(row.Object("inputs"));
  if (const ConfigValue* object = row.Object("case")) {
    CheckKeys(*object, row);
    CaseReader(row.Of(*object)).Read(out);
  }
  if (row.Get("sm") != nullptr) {
    out.capability = static_cast<int>(row.Count("sm"));
  }
  const auto version = [&row](std::string_view key, std::string& to) {
    if (const std::string text = row.OptionalText(key); !text.empty()) {
      to = text;
    }
  };
  version("transformers", out.transformers);
  version("torch", out.torch);
  return out;
}

}  // namespace foretell
