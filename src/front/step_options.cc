#include "front/step_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/dtype.h"
#include "base/library.h"
#include "base/nearest.h"
#include "front/command_table.h"
#include "front/model_options.h"
#include "input/lora_text.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 4> kAttention = {"eager", "sdpa",
                                                        "flash2", "flash3"};

StepMode ModeOf(const std::string& name) {
  if (name == "forward") return StepMode::kForward;
  if (name == "prefill") return StepMode::kPrefill;
  if (name == "decode") return StepMode::kDecode;
  return StepMode::kTrain;
}

// The library's names beside the short ones.
std::string AttentionNamed(const std::string& name) {
  if (name == "flash" || name == "flash_attention_2") return "flash2";
  if (name == "flash_attention_3") return "flash3";
  return name;
}

class Reader {
 public:
  explicit Reader(const Invocation& invocation) : line_(invocation) {}

  StepSetting Read() {
    StepSetting out;
    out.build = ReadBuildOptions(line_);
    if (out.build.dtype && BytesOf(*out.build.dtype) < 2) {
      Fail("dtype", "has no matrix product in eager PyTorch",
           "write float32, bfloat16 or float16");
    }
    out.build.most_layers = line_.Integer("layers");
    StepCase& step = out.step;
    step.dtype = out.build.dtype.value_or(DType::kFloat32);
    step.mode = ModeOf(Word("mode"));
    step.batch = *line_.Integer("batch");
    step.sequence = *line_.Integer("seq");
    step.target = line_.Integer("tgt").value_or(0);
    if (const std::string name = Word("autocast"); name != "none") {
      step.autocast = ParseDType(name);
    }
    step.attention = AttentionNamed(Word("attn"));
    CheckAttention(step.attention);
    step.experts = Word("experts");
    if (Offers("sm")) step.capability = Number(Word("sm"));
    step.mask = Offers("mask") && line_.Has("mask");
    ReadCheckpoint(step);
    ReadTraining(step);
    step.transformers = Word("transformers");
    step.torch = Word("torch");
    CheckVersion("transformers", step.transformers);
    CheckVersion("torch", step.torch);
    if (!errors_.empty()) throw InputErrors(std::move(errors_));
    return out;
  }

 private:
  // Some commands settle a word themselves and have no such option.
  bool Offers(std::string_view option) const {
    const auto& rows = line_.command()->options;
    return std::ranges::find(rows, option, &OptionRow::name) != rows.end();
  }

  std::string Word(std::string_view option) const {
    return Offers(option) ? line_.Text(option).value_or("") : "";
  }

  static int Number(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  void Fail(std::string_view option, std::string what, std::string cure,
            size_t inside = 0) {
    errors_.push_back(
        {line_.PlaceOf(option, 0, inside), std::move(what), std::move(cure)});
  }

  void CheckAttention(const std::string& name) {
    if (std::ranges::find(kAttention, name) != kAttention.end()) return;
    if (name == "flex" || name == "flex_attention") {
      return Fail("attn",
                  "flex attention is a compiled kernel, and what it keeps is "
                  "not followed",
                  "write sdpa or flash2");
    }
    const auto near = NearestNames(name, kAttention, 1);
    Fail("attn", fmt::format("--attn cannot be {}", name),
         fmt::format(
             "{}--attn is one of eager, sdpa, flash2, flash3",
             near.empty() ? "" : fmt::format("did you mean {}? ", near[0])));
  }

  // "--checkpoint" alone asks for it.
  void ReadCheckpoint(StepCase& step) {
    if (!line_.Has("checkpoint")) return;
    const std::string word = line_.Text("checkpoint").value_or("full");
    if (word == "none") return;
    step.checkpoint = true;
    if (word == "full") return;
    if (word == "selective" || word == "selective:operator") {
      step.checkpoint_kind = CheckpointKind::kByOperator;
      return;
    }
    if (word == "selective:attention") {
      step.checkpoint_kind = CheckpointKind::kOnlyAttention;
      return;
    }
    constexpr std::string_view kEvery = "every:";
    step.checkpoint_every = Number(word.substr(kEvery.size()));
  }

  void CheckVersion(std::string_view option, const std::string& text) {
    if (ParseLibraryVersion(text)) return;
    Fail(option, fmt::format("--{} names no version: {}", option, text),
         "write it as 5.23 or 4.57.6");
  }

  // What only a training step has.
  void ReadTraining(StepCase& step) {
    step.optimizer = Word("optimizer");
    step.first_step = Offers("first-step") && line_.Has("first-step");
    if (Offers("first-step")) {
      step.accumulate = line_.Integer("accumulate").value_or(1);
    }
    const auto text =
        Offers("lora") ? line_.Text("lora") : std::optional<std::string>();
    if (text) {
      const LoraText lora = ReadLora(*text);
      step.lora = lora.settings;
      if (!lora.settings) {
        Fail("lora", "--lora: " + lora.what, lora.cure, lora.at);
      }
    }
    ReadFrozen(step);
    if (step.mode == StepMode::kTrain) return;
    constexpr std::array<std::string_view, 6> kTrainingOnly = {
        "checkpoint", "lora",       "freeze",
        "optimizer",  "first-step", "accumulate"};
    for (const std::string_view option : kTrainingOnly) {
      if (!line_.Has(option)) continue;
      Fail(option,
           fmt::format("--{} concerns training, and --mode is {}", option,
                       Word("mode")),
           fmt::format("leave --{} out, or write --mode train", option));
    }
  }

  void ReadFrozen(StepCase& step) {
    const auto text = line_.Text("freeze");
    if (!text) return;
    size_t start = 0;
    while (true) {
      const size_t comma = std::min(text->find(',', start), text->size());
      if (comma == start) {
        Fail("freeze", "--freeze: a prefix is empty, which would freeze all",
             "write beginnings of parameter names, such as model.embed_tokens",
             start);
      }
      step.frozen.push_back(text->substr(start, comma - start));
      if (comma == text->size()) return;
      start = comma + 1;
    }
  }

  const Invocation& line_;
  std::vector<InputError> errors_;
};

}  // namespace

StepSetting ReadStepSetting(const Invocation& invocation) {
  return Reader(invocation).Read();
}

InputErrors AtOptions(const Invocation& invocation,
                      std::vector<InputError> errors) {
  for (InputError& error : errors) {
    const std::string& key = error.place.key;
    if (!error.place.source.empty() || !key.starts_with("--")) continue;
    error.what = key + ": " + error.what;
    error.place = invocation.PlaceOf(key.substr(2));
  }
  return InputErrors(std::move(errors));
}

}  // namespace foretell
