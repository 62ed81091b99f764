// Relations between steps that hold for every model, whatever the figures are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "answers/compile_step.h"
#include "answers/step_figures.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

// One published configuration per kind of model.
constexpr std::array<std::string_view, 9> kModels = {
    "openai-community/gpt2",
    "meta-llama/Llama-3.2-1B",
    "google/gemma-2-2b",
    "mistralai/Mixtral-8x7B-v0.1",
    "Qwen/Qwen3-0.6B",
    "microsoft/Phi-3-mini-4k-instruct",
    "google-bert/bert-base-uncased",
    "FacebookAI/roberta-base",
    "google-t5/t5-base"};

constexpr std::array<std::string_view, 5> kOptimizers = {
    "sgd", "adamw_fused", "adamw_foreach", "adamw_loop", "adafactor"};

StepCase Small() {
  StepCase step;
  step.batch = 2;
  step.sequence = 64;
  step.dtype = DType::kBFloat16;
  return step;
}

StepFigures Figures(std::string_view model, const StepCase& step,
                    int64_t layers = 2) {
  const auto config = FromCatalogue(std::string(model));
  EXPECT_TRUE(config.has_value()) << model;
  if (!config) return {};
  BuildOptions build;
  build.dtype = step.dtype;
  build.most_layers = layers;
  const auto result = CompileStep(*config, build, step);
  const auto* compiled = std::get_if<CompiledStep>(&result);
  EXPECT_NE(compiled, nullptr) << model;
  if (compiled == nullptr) return {};
  const auto figures = FiguresOf(*compiled);
  EXPECT_TRUE(figures.has_value()) << model;
  return figures.value_or(StepFigures());
}

std::map<std::string, int64_t> All(const StepFigures& figures) {
  std::map<std::string, int64_t> all = figures.figures;
  for (const auto& [name, flops] : figures.flops_forward) {
    all["forward " + name] = flops;
  }
  for (const auto& [name, flops] : figures.flops_backward) {
    all["backward " + name] = flops;
  }
  return all;
}

class StepRelations : public testing::TestWithParam<std::string_view> {};

// The gradients of the micro-batches before lie there from the start; how many
// there were makes no difference.
TEST_P(StepRelations, AccumulatedGradientsLieThereFromTheStart) {
  StepCase step = Small();
  const auto alone = All(Figures(GetParam(), step));
  step.accumulate = 2;
  const auto two = All(Figures(GetParam(), step));
  step.accumulate = 7;
  EXPECT_EQ(two, All(Figures(GetParam(), step))) << GetParam();
  const int64_t gradients = alone.at("gradient_bytes");
  EXPECT_EQ(two.at("peak_forward"), alone.at("peak_forward") + gradients);
  EXPECT_GE(two.at("peak_backward"), alone.at("peak_backward"));
  EXPECT_EQ(two.at("peak_optimizer"), alone.at("peak_optimizer"));
  EXPECT_EQ(two.at("saved_bytes"), alone.at("saved_bytes"));
}

TEST_P(StepRelations, ALargerStepNeverLowersAFigure) {
  for (const bool checkpoint : {false, true}) {
    StepCase step = Small();
    step.checkpoint = checkpoint;
    StepCase wider = step;
    wider.batch = 3;
    StepCase longer = step;
    longer.sequence = 128;
    const auto base = All(Figures(GetParam(), step));
    EXPECT_FALSE(base.empty());
    for (const StepCase& larger : {wider, longer}) {
      const auto figures = All(Figures(GetParam(), larger));
      for (const auto& [name, value] : base) {
        ASSERT_TRUE(figures.contains(name)) << name;
        EXPECT_GE(figures.at(name), value) << name;
      }
    }
  }
}

TEST_P(StepRelations, FlopsGrowInProportionToTheBatch) {
  StepCase step = Small();
  const StepFigures once = Figures(GetParam(), step);
  step.batch *= 2;
  const StepFigures twice = Figures(GetParam(), step);
  for (const auto& [name, flops] : once.flops_forward) {
    EXPECT_EQ(twice.flops_forward.at(name), 2 * flops) << name;
  }
  for (const auto& [name, flops] : once.flops_backward) {
    EXPECT_EQ(twice.flops_backward.at(name), 2 * flops) << name;
  }
}

// Gemma 2 has two kinds of layers, one after the other.
TEST_P(StepRelations, APeriodMoreAddsWhatTheNextDoes) {
  for (const std::string_view optimizer : kOptimizers) {
    StepCase step = Small();
    step.optimizer = std::string(optimizer);
    const StepFigures four = Figures(GetParam(), step, 4);
    const StepFigures six = Figures(GetParam(), step, 6);
    const StepFigures eight = Figures(GetParam(), step, 8);
    for (const std::string_view name :
         {"saved_bytes", "saved_count", "live_after_forward", "gradient_bytes",
          "optimizer_bytes"}) {
      const std::string key(name);
      EXPECT_EQ(six.figures.at(key) - four.figures.at(key),
                eight.figures.at(key) - six.figures.at(key))
          << key << " " << optimizer;
    }
    for (const auto& [name, flops] : four.flops_backward) {
      EXPECT_EQ(six.flops_backward.at(name) - flops,
                eight.flops_backward.at(name) - six.flops_backward.at(name))
          << name;
    }
  }
}

TEST_P(StepRelations, TheOptimizerChangesNothingBeforeIt) {
  StepCase step = Small();
  step.optimizer = "none";
  const StepFigures none = Figures(GetParam(), step);
  EXPECT_FALSE(none.figures.contains("peak_optimizer"));
  for (const std::string_view optimizer : kOptimizers) {
    step.optimizer = std::string(optimizer);
    const StepFigures with = Figures(GetParam(), step);
    EXPECT_EQ(with.flops_forward, none.flops_forward);
    EXPECT_EQ(with.flops_backward, none.flops_backward);
    for (const auto& [name, value] : none.figures) {
      if (name == "optimizer_bytes") continue;
      // States of earlier steps live all the time.
      const bool is_peak = name.starts_with("peak_");
      const int64_t states = is_peak ? with.memory.states : 0;
      EXPECT_EQ(with.figures.at(name), value + states)
          << name << " " << optimizer;
    }
  }
}

TEST_P(StepRelations, EveryAdamwKeepsTheSame) {
  StepCase step = Small();
  std::map<std::string, StepFigures> by_kind;
  for (const std::string_view kind :
       {"adamw_fused", "adamw_foreach", "adamw_loop"}) {
    step.optimizer = std::string(kind);
    by_kind[step.optimizer] = Figures(GetParam(), step);
  }
  const auto bytes = [&](const std::string& kind) {
    return by_kind[kind].figures.at("optimizer_bytes");
  };
  EXPECT_EQ(bytes("adamw_fused"), bytes("adamw_foreach"));
  EXPECT_EQ(bytes("adamw_fused"), bytes("adamw_loop"));
  const auto peak = [&](const std::string& kind) {
    return by_kind[kind].figures.at("peak_optimizer");
  };
  // Two tensors of one parameter at a time, which may be more than one of all.
  EXPECT_LT(peak("adamw_fused"), peak("adamw_loop"));
  // The roots of all averages, as large as the parameters.
  EXPECT_EQ(peak("adamw_foreach") - peak("adamw_fused"),
            by_kind["adamw_fused"].figures.at("gradient_bytes"));
}

TEST_P(StepRelations, TheFirstStepMakesWhatALaterOneHas) {
  for (const std::string_view optimizer : kOptimizers) {
    StepCase step = Small();
    step.optimizer = std::string(optimizer);
    const StepFigures later = Figures(GetParam(), step);
    step.first_step = true;
    const StepFigures first = Figures(GetParam(), step);
    EXPECT_EQ(first.figures.at("optimizer_bytes"),
              later.figures.at("optimizer_bytes"))
        << optimizer;
    EXPECT_EQ(first.memory.states, 0) << optimizer;
    EXPECT_EQ(first.figures.at("peak_backward") + later.memory.states,
              later.figures.at("peak_backward"))
        << optimizer;
    if (optimizer == "adafactor") {
      // Its states are made one parameter after another.
      EXPECT_LE(first.figures.at("peak_optimizer"),
                later.figures.at("peak_optimizer"));
    } else {
      EXPECT_EQ(first.figures.at("peak_optimizer"),
                later.figures.at("peak_optimizer"))
          << optimizer;
    }
  }
}

TEST_P(StepRelations, CheckpointingKeepsLessAndComputesTheForwardAgain) {
  StepCase step = Small();
  const StepFigures plain = Figures(GetParam(), step);
  step.checkpoint = true;
  const StepFigures again = Figures(GetParam(), step);
  EXPECT_LT(again.figures.at("saved_bytes"), plain.figures.at("saved_bytes"));
  EXPECT_EQ(again.flops_forward, plain.flops_forward);
  for (const auto& [name, flops] : plain.flops_backward) {
    const int64_t recomputed = again.flops_backward.at(name) - flops;
    EXPECT_GE(recomputed, 0) << name;
    const auto forward = plain.flops_forward.find(name);
    if (forward != plain.flops_forward.end()) {
      EXPECT_LE(recomputed, forward->second) << name;
    }
  }
}

int64_t HighestPeak(const StepFigures& figures) {
  int64_t highest = 0;
  for (const auto& [name, bytes] : figures.figures) {
    if (name.starts_with("peak_")) highest = std::max(highest, bytes);
  }
  return highest;
}

// What a block keeps for its second run may come on top of what that run makes,
// and no more.
TEST_P(StepRelations, CheckpointingRaisesAPeakByItsOwnBuffersAtMost) {
  for (const int64_t sequence : {8, 64, 512}) {
    StepCase step = Small();
    step.sequence = sequence;
    const StepFigures plain = Figures(GetParam(), step, 4);
    step.checkpoint = true;
    const StepFigures again = Figures(GetParam(), step, 4);
    EXPECT_LE(HighestPeak(again),
              HighestPeak(plain) + again.figures.at("saved_bytes"))
        << GetParam() << " " << sequence;
  }
}

TEST_P(StepRelations, ALargerRankNeverLowersAFigure) {
  StepCase step = Small();
  step.lora = LoraSettings{.rank = 4, .targets = {"all-linear"}};
  auto smaller = All(Figures(GetParam(), step));
  for (const int64_t rank : {8, 16, 64}) {
    step.lora->rank = rank;
    auto larger = All(Figures(GetParam(), step));
    for (const auto& [name, value] : smaller) {
      EXPECT_GE(larger[name], value)
          << GetParam() << " " << name << " " << rank;
    }
    smaller = std::move(larger);
  }
}

// Levels follow from the events alone.
TEST_P(StepRelations, WhatAppearsAndGoesAddsUp) {
  for (const std::string_view optimizer : kOptimizers) {
    StepCase step = Small();
    step.optimizer = std::string(optimizer);
    const StepMemory memory = Figures(GetParam(), step).memory;
    int64_t level = memory.resident();
    int64_t highest = level;
    for (const MemoryEvent& event : memory.events) {
      level += event.bytes;
      highest = std::max(highest, level);
      EXPECT_GE(level, memory.parameters + memory.buffers + memory.inputs);
    }
    int64_t peak = 0;
    for (const PhaseMemory& phase : memory.phases) {
      peak = std::max(peak, phase.peak);
    }
    EXPECT_EQ(peak, highest) << optimizer;
  }
}

std::string NameOf(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param.substr(info.param.find('/') + 1));
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, StepRelations, testing::ValuesIn(kModels),
                         NameOf);

}  // namespace
}  // namespace foretell
