// `foretell speed --engine llama.cpp`: llama-server with so many slots, on a
// GPU, an Apple chip, the processor, or with layers left to it.
//
// In: the request of `foretell speed`. Out: its answer. Steady state: every
// slot works, a prompt holds the others up while it is read. Pure.
#ifndef FORETELL_ANSWERS_LLAMA_SPEED_H_
#define FORETELL_ANSWERS_LLAMA_SPEED_H_

#include <string_view>
#include <variant>

#include "answers/refusal.h"
#include "answers/speed.h"

namespace foretell {

inline constexpr std::string_view kLlamaEngine = "llama.cpp";

std::variant<SpeedAnswer, Refusal> AnswerLlamaSpeed(
    const SpeedRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_LLAMA_SPEED_H_
