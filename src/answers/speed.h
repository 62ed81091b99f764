// `foretell speed`: how fast a model is served on cards, at which cost, and
// what limits it.
//
// In: a configuration, a card, an engine, how weights and cache are stored, a
// layout and loads. Out: for each concurrency the first token, every further
// one, rates and cost, each with a 90 % interval; where the time of a step and
// of a prompt goes; what one resource of twice the speed would give; how many
// requests the cache holds; every assumption. Pure.
#ifndef FORETELL_ANSWERS_SPEED_H_
#define FORETELL_ANSWERS_SPEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "answers/refusal.h"
#include "answers/served_job.h"
#include "base/figure.h"
#include "spec/device.h"
#include "spec/model_config.h"

namespace foretell {

struct SpeedRequest {
  ModelConfig config;
  Device device;
  std::string engine = "vllm";  // of ServedEngines(), or "llama.cpp"
  std::string precision;        // empty: as the checkpoint says
  std::string cache;            // empty: as the engine is usually served
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t data = 1;
  bool expert_parallel = false;
  int64_t isl = 1024;
  int64_t osl = 256;
  int64_t cached = 0;  // of the prompt, by the prefix cache
  std::vector<int64_t> concurrency = {1};
  int64_t drafts = 0;                // tokens drafted for each step
  std::optional<double> acceptance;  // share of them that is accepted
  double draft_share = 0;            // of the drafter, to the model
  // Of llama.cpp: layers on the card (nothing: as many as fit), and what the
  // build runs on ("vulkan"; empty: as the card is usually driven).
  std::optional<int64_t> card_layers;
  std::string backend;
  double offload_gib = 0;       // weights of each rank left on the host
  std::optional<double> price;  // USD an hour of one card
};

struct SpeedPoint {
  int64_t concurrency = 1;
  Seconds first_token;
  Seconds token;
  Tokens output_rate;  // tokens a second, all requests and cards
  double user_rate = 0;
  double requests_a_second = 0;
  std::string limit;              // of a token's time
  std::optional<AnyFigure> cost;  // micro-dollars of a million tokens
  std::string room;               // whether the cache holds them
};

struct SpeedPart {
  std::string part;
  Seconds time;
};

struct SpeedGain {
  std::string resource;
  double first_token = 0;  // milliseconds, with twice of it
  double token = 0;
};

struct SpeedAnswer {
  std::string model;
  std::string card;
  std::string engine;
  std::string storage;
  std::string layout;
  int64_t cards = 1;
  std::string load;
  std::string reach;
  std::string capacity;  // requests of the load that the cache holds
  std::vector<SpeedPoint> points;
  int64_t explained = 1;          // the concurrency that the parts are of
  std::vector<SpeedPart> token;   // of one output token
  std::vector<SpeedPart> prompt;  // of one prompt by itself
  std::vector<SpeedGain> gains;
  std::vector<std::string> assumed;
};

std::variant<SpeedAnswer, Refusal> AnswerSpeed(const SpeedRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SPEED_H_
