// Relations that hold for every model, and hostile values that none may fall
// over.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <variant>

#include "answers/model.h"
#include "answers/read_model.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

// One published configuration per family.
constexpr std::array<std::string_view, 8> kModels = {
    "openai-community/gpt2",         "meta-llama/Llama-3.1-8B-Instruct",
    "mistralai/Mistral-7B-v0.3",     "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "Qwen/Qwen2.5-7B-Instruct",      "Qwen/Qwen3-8B",
    "google-bert/bert-base-uncased", "google-t5/t5-base"};

ModelConfig Load(std::string_view id) {
  auto config = FromCatalogue(id);
  EXPECT_TRUE(config.has_value()) << id;
  return config.value_or(ModelConfig());
}

std::optional<ReadModel> Read(const ModelConfig& config,
                              const BuildOptions& options = {}) {
  auto read = ReadModelOf(config, options);
  if (auto* model = std::get_if<ReadModel>(&read)) return std::move(*model);
  return std::nullopt;
}

int64_t TotalWithLayers(const ModelConfig& config, int64_t layers) {
  BuildOptions options;
  options.most_layers = layers;
  const auto model = Read(config, options);
  return model ? model->parameters.total.exact() : -1;
}

TEST(ModelRelations, OneMoreLayerAddsWhatTheNextDoes) {
  for (const std::string_view id : kModels) {
    const ModelConfig config = Load(id);
    // The first layer of T5 holds the position table of all.
    const int64_t second = TotalWithLayers(config, 2);
    const int64_t third = TotalWithLayers(config, 3);
    const int64_t fourth = TotalWithLayers(config, 4);
    EXPECT_GT(third, second) << id;
    EXPECT_EQ(third - second, fourth - third) << id;
  }
}

TEST(ModelRelations, PartsAndTensorsAddUpToTheTotal) {
  for (const std::string_view id : kModels) {
    const auto model = Read(Load(id));
    ASSERT_TRUE(model.has_value()) << id;
    Parameters parts;
    for (const PartTotal& part : model->parameters.parts) {
      parts += part.parameters;
    }
    Parameters tensors;
    for (const TensorGroup& group : model->parameters.tensors) {
      tensors += Parameters::Exact(group.Elements());
    }
    EXPECT_EQ(parts.exact(), model->parameters.total.exact()) << id;
    EXPECT_EQ(tensors.exact(), model->parameters.total.exact()) << id;
    EXPECT_LE(model->parameters.active.exact(), model->parameters.total.exact())
        << id;
  }
}

TEST(ModelRelations, EveryClassOfAFamilyContainsItsBaseModel) {
  for (const std::string_view id : kModels) {
    const ModelConfig config = Load(id);
    const auto model = Read(config);
    ASSERT_TRUE(model.has_value()) << id;
    for (const std::string_view name : model->built.family->classes) {
      BuildOptions options;
      options.class_name = name;
      EXPECT_TRUE(Read(config, options).has_value()) << id << " " << name;
    }
  }
}

TEST(ModelRelations, TheOrderOfKeysDoesNotMatter) {
  for (const std::string_view id : kModels) {
    ModelConfig config = Load(id);
    const auto before = Read(config);
    auto& members = config.root.mutable_members();
    std::reverse(members.begin(), members.end());
    const auto after = Read(config);
    ASSERT_TRUE(before && after) << id;
    EXPECT_EQ(before->parameters.total.exact(), after->parameters.total.exact())
        << id;
  }
}

// What someone, or something, may write where a value should be.
std::vector<ConfigValue> HostileValues() {
  std::vector<ConfigValue> values = {
      ConfigValue::Null(),      ConfigValue::Bool(true),
      ConfigValue::Bool(false), ConfigValue::String(""),
      ConfigValue::String("x"), ConfigValue::String(std::string(100000, 'a')),
      ConfigValue::Array(),     ConfigValue::Array({ConfigValue::Number("1")}),
      ConfigValue::Object()};
  for (const char* spelling :
       {"0", "-1", "1", "3", "7", "2147483647", "2147483648", "1099511627776",
        "9223372036854775807", "9223372036854775808", "1e308", "1e999", "1.5",
        "-0.0", "NaN", "Infinity", "-Infinity"}) {
    values.push_back(ConfigValue::Number(spelling));
  }
  return values;
}

TEST(ModelRelations, NoValueOfAnyKeyMakesAnyFamilyFall) {
  int64_t refused = 0;
  int64_t answered = 0;
  for (const std::string_view id : kModels) {
    const ModelConfig config = Load(id);
    for (const auto& [key, old] : config.root.members()) {
      for (const ConfigValue& value : HostileValues()) {
        ModelRequest request;
        request.config = config;
        request.config.root.Set(key, value);
        request.build.most_layers = 2;
        const auto answer = AnswerModel(request);
        if (const auto* refusal = std::get_if<Refusal>(&answer)) {
          ++refused;
          for (const InputError& error : refusal->errors) {
            EXPECT_FALSE(error.what.empty()) << id << " " << key;
            EXPECT_FALSE(error.cure.empty()) << id << " " << key;
          }
        } else {
          ++answered;
        }
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(answered, 100);
}

TEST(ModelRelations, AMissingKeyIsADefaultThatIsPrinted) {
  for (const std::string_view id : kModels) {
    const ModelConfig config = Load(id);
    for (size_t i = 0; i < config.root.members().size(); ++i) {
      ModelRequest request;
      request.config = config;
      auto& members = request.config.root.mutable_members();
      members.erase(members.begin() + static_cast<int64_t>(i));
      request.build.most_layers = 2;
      // Never falls; what it answers depends on the key.
      AnswerModel(request);
    }
  }
}

TEST(Catalogue, EveryModelAnswersOrIsRefusedByName) {
  int64_t derived = 0;
  int64_t published_equal = 0;
  int64_t published = 0;
  for (const CatalogueEntry& entry : ListCatalogue()) {
    const ModelConfig config = Load(entry.id);
    auto read = ReadModelOf(config, {});
    if (const auto* refusal = std::get_if<Refusal>(&read)) {
      EXPECT_FALSE(refusal->errors.empty()) << entry.id;
      continue;
    }
    ++derived;
    const ReadModel& model = std::get<ReadModel>(read);
    EXPECT_TRUE(model.parameters.total.is_exact()) << entry.id;
    if (!entry.published_parameters) continue;
    ++published;
    if (model.parameters.total.exact() == *entry.published_parameters) {
      ++published_equal;
    }
  }
  EXPECT_GE(derived, 140);
  // Checkpoints may hold other tensors than their class: a tied one again, old
  // buffers, layers that predict further tokens. Most do not.
  EXPECT_GE(published_equal * 100, published * 69);
}

}  // namespace
}  // namespace foretell
