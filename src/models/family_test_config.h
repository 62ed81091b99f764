// A configuration in a line, for the tests of families.
//
//   BuildResult result = BuildFrom({{"model_type", "gpt2"}, {"n_layer", "2"}});
#ifndef FORETELL_MODELS_FAMILY_TEST_CONFIG_H_
#define FORETELL_MODELS_FAMILY_TEST_CONFIG_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/build.h"
#include "spec/model_config.h"

namespace foretell {

using TestKeys = std::vector<std::pair<std::string_view, std::string_view>>;

// true, false, null and what begins like a number are what they look like; all
// else is a string. A later key of the same name replaces an earlier one.
inline ModelConfig TestConfig(const TestKeys& keys) {
  ModelConfig config;
  config.root = ConfigValue::Object();
  config.source = "test";
  config.name = "test";
  for (const auto& [key, text] : keys) {
    ConfigValue value = ConfigValue::String(std::string(text));
    if (text == "null") value = ConfigValue::Null();
    if (text == "true" || text == "false") {
      value = ConfigValue::Bool(text == "true");
    }
    const bool is_number =
        !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
    if (is_number) value = ConfigValue::Number(std::string(text));
    config.root.Set(key, std::move(value));
  }
  return config;
}

inline BuildResult BuildFrom(const TestKeys& keys,
                             std::string_view class_name = "") {
  BuildOptions options;
  if (!class_name.empty()) options.class_name = std::string(class_name);
  return BuildModel(TestConfig(keys), options);
}

// `base` with one key set.
inline TestKeys With(TestKeys base, std::string_view key,
                     std::string_view value) {
  base.emplace_back(key, value);
  return base;
}

inline bool IsRefused(const BuildResult& result) {
  return !result.built || AnyBlocks(result.log.findings);
}

// "lm_head.weight -> transformer.wte.weight" for each name of another's
// storage.
inline std::vector<std::string> TiesOf(const Graph& graph) {
  std::vector<std::string> ties;
  for (const Parameter& parameter : graph.parameters) {
    if (!parameter.tied_to) continue;
    ties.push_back(graph.NameOf(parameter) + " -> " +
                   graph.NameOf(graph[*parameter.tied_to]));
  }
  return ties;
}

inline bool HasParameter(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.parameters, [&](const Parameter& one) {
    return graph.NameOf(one) == name;
  });
}

// Runs the forward on two rows of four tokens; why it fails, or nothing.
inline std::string ForwardFailure(BuiltModel& built, std::string_view kind) {
  ForwardInputs inputs;
  inputs.input_ids = built.builder->Input({2, 4}, DType::kInt64);
  inputs.labels = built.builder->Input({2, 4}, DType::kInt64);
  inputs.attention = std::string(kind);
  built.model->Forward(inputs);
  return built.builder->failure();
}

}  // namespace foretell

#endif  // FORETELL_MODELS_FAMILY_TEST_CONFIG_H_
