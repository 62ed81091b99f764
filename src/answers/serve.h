// `foretell serve`: will this launch start, with which settings, and what does
// its memory go to.
//
// In: a launch line, the model's configuration, a card and how many, a version.
// Out: what was understood, the settings that the engine ends with, memory of
// one card line by line, findings in the engine's order with pasteable fixes,
// the rules that ran and those that could not. With a second version, what
// differs between the two. Pure: what lies outside is asked of the request's
// source.
#ifndef FORETELL_ANSWERS_SERVE_H_
#define FORETELL_ANSWERS_SERVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/serving_explain.h"
#include "answers/serving_search.h"
#include "base/figure.h"
#include "base/finding.h"
#include "engines/vllm/launch.h"
#include "spec/model_config.h"
#include "spec/serving.h"
#include "spec/serving_source.h"

namespace foretell {

struct ServeRequest {
  LaunchLine line;
  std::optional<ModelConfig> model;  // instead of the launch's own
  ServingCard card;
  std::string card_source;           // "--gpu", "assumed"
  std::vector<std::string> assumed;  // about the cards
  int64_t cards = 0;                 // 0: as many as the launch asks for
  std::string cards_source;
  std::optional<EngineVersion> version;
  std::string version_source;
  std::optional<EngineVersion> against;
  std::optional<int64_t> request_tokens;  // prompt and answer of one request
  bool has_sensitivity = false;           // the table of changes is asked for
  bool explains_cache = false;
  std::optional<ServingGoal> want;
  const ServingSource* source = nullptr;  // outlives the answer
};

// One setting that the two versions end with differently.
struct ServeDifference {
  std::string setting;
  std::string here;
  std::string there;
};

// Layers that share a table of blocks.
struct ServeCacheGroup {
  std::string kind;  // "FullAttentionSpec"
  int64_t layers = 0;
  int64_t block_size = 0;  // tokens
  Bytes page;              // of one layer and block
};

struct ServeMemoryLine {
  std::string what;
  Bytes bytes;
};

// What serves the asked goal.
struct ServeWant {
  std::string goal;
  bool is_served = false;  // at least by the best value
  bool is_sure = false;    // under the least that may be left
  std::string flags;       // to add; empty where none is needed or none helps
  std::string text;
  std::vector<ServingPoint> tried;
};

struct ServeAnswer {
  std::string engine;
  std::string version;
  std::string version_source;
  std::string version_date;
  std::string form;
  std::string model;
  std::string architecture;
  std::string card;
  std::string card_source;
  int64_t cards = 1;
  std::string cards_source;
  bool accepted = false;
  std::string verdict;
  std::string fix;  // of the first finding that blocks; may be empty
  // What the launch was read as: name, value.
  std::vector<std::pair<std::string, std::string>> understood;
  std::vector<ServeMemoryLine> memory;  // of one card
  std::vector<ServeCacheGroup> groups;
  std::vector<std::string> printed;  // what the engine would print
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> assumed;
  std::vector<ServingTerm> terms;         // of the KV cache, where asked
  std::vector<ServingPoint> sensitivity;  // where asked
  std::optional<ServeWant> want;
  std::optional<std::string> against;  // the other version
  std::string against_verdict;
  std::vector<ServeDifference> differences;
  std::vector<Finding> findings;
  std::vector<std::string> rules_ran;
  std::vector<std::pair<std::string, std::string>> rules_not_run;
};

ServeAnswer AnswerServe(const ServeRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVE_H_
