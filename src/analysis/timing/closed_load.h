// First tokens of a closed load, step by step.
//
// In: what a step of an engine costs, how its scheduler fills a step, and a
// benchmark's load: so many clients, each of which sends its next request when
// the last one has been answered, all of them at once to begin with. Out: the
// mean wait for a first token, without fixed costs. Pure; the lengths that a
// benchmark draws are spread evenly here, so equal loads give equal answers.
//
// Two ways to fill a step. One that mixes (vLLM, TensorRT-LLM) decodes every
// running request and gives the rest of its tokens to prompts, in order; one
// that does not (SGLang) reads prompts first and lets running requests wait.
// Requests of equal length then stay together: each wave of prompts comes as
// one burst. Prompts longer than a step go on in the next.
// Does not model: preemption, priorities, prefixes that requests share.
// Source of the schedulers: vllm/v1/core/sched/scheduler.py,
// sglang/srt/managers/schedule_policy.py; of the load:
// utils/bench_serving/benchmark_serving.py of SemiAnalysisAI/InferenceX.
#ifndef FORETELL_ANALYSIS_TIMING_CLOSED_LOAD_H_
#define FORETELL_ANALYSIS_TIMING_CLOSED_LOAD_H_

#include <cstdint>
#include <vector>

namespace foretell {

struct StepCosts {
  // Seconds of a step that decodes 1, 2, 4, … requests.
  std::vector<double> decode;
  double prompt_token = 0;  // seconds
  double prompt_step = 0;   // besides, each step with a prompt
  double budget = 8192;     // tokens of a step
  bool is_mixed = true;     // prompts beside running requests
  int64_t room = 1;         // requests that run at once
  int64_t poll = 1;         // steps between looks at what has arrived
};

struct ClosedLoad {
  int64_t clients = 1;
  double prompt = 1;  // tokens, at most
  double answer = 1;
  double shortest = 1;  // the least length, of the most
  int64_t waves = 10;   // requests of each client
};

double MeanFirstToken(const StepCosts& costs, const ClosedLoad& load);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_CLOSED_LOAD_H_
