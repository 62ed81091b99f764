#include "input/serving_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/input_error.h"
#include "input/catalogue.h"
#include "input/device_catalogue.h"
#include "input/engine_facts.h"
#include "input/json.h"
#include "input/launch_config.h"
#include "input/launch_flags.h"
#include "input/model_config_source.h"
#include "input/serving_card.h"
#include "input/source_disk.h"
#include "input/timed_device.h"

namespace foretell {
namespace {

// "Qwen/Qwen3-8B" is Qwen--Qwen3-8B.json in a folder of configurations.
std::string FileOf(const std::string& folder, std::string_view id) {
  std::string name(id);
  for (size_t at = name.find('/'); at != name.npos; at = name.find('/', at)) {
    name.replace(at, 1, "--");
  }
  return folder + "/" + name + ".json";
}

// Letters and digits, in small letters.
std::string Folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

constexpr char kQuantFile[] = "hf_quant_config.json";
constexpr int64_t kQuantFileBytes = int64_t{4} << 20;

// ModelOpt's older checkpoints say how they are quantized in a file of its own.
void AddQuantizationFile(ModelConfig& model, const std::string& path) {
  if (model.root.Find("quantization_config") != nullptr) return;
  const FileResult file = ReadFileOrError(path, kQuantFileBytes);
  if (file.error) return;
  JsonResult read = ReadJson(file.bytes, path);
  if (!read.error) {
    model.root.Set("quantization_config", std::move(read.value));
  }
}

constexpr int64_t kConfigBytes = int64_t{1} << 20;

LaunchFault FileFault(const Place& place, std::string what, std::string why) {
  return {.kind = LaunchFault::Kind::kFile,
          .what = std::move(what),
          .why = std::move(why),
          .fix = "",
          .place = place,
          .refuses = true};
}

// The words of the file that --config names, in front of the others: after the
// model where that comes first. vLLM/utils/argparse_utils.py.
std::optional<LaunchFault> PutConfigIn(const EngineFacts& facts,
                                       LaunchLine& line) {
  auto& words = line.words;
  const auto flag = std::ranges::find_if(words, [](const LaunchWord& word) {
    return word.text == "--config" || word.text.starts_with("--config=");
  });
  if (flag == words.end()) return std::nullopt;
  const Place place = flag->place;
  std::string path;
  auto end = std::next(flag);
  if (flag->text.size() > 8) {
    path = flag->text.substr(9);
  } else if (end != words.end()) {
    path = end->text;
    ++end;
  } else {
    return std::nullopt;  // the reader of flags says that it has no value
  }
  words.erase(flag, end);
  if (!path.ends_with(".yaml") && !path.ends_with(".yml")) {
    return FileFault(place, fmt::format("--config {} is no .yaml file", path),
                     "other files are refused");
  }
  const FileResult file = ReadFileOrError(path, kConfigBytes);
  if (file.error) {
    return FileFault(place,
                     fmt::format("--config {}: {}", path, file.error->what),
                     "the launch ends before it reads a flag");
  }
  std::vector<LaunchWord> inside = ReadLaunchConfig(file.bytes, path, facts);
  const bool model_first = !words.empty() && !words[0].text.starts_with('-');
  words.insert(words.begin() + (model_first ? 1 : 0), inside.begin(),
               inside.end());
  return std::nullopt;
}

// A chat template is a file, or the template's own text.
void CheckTemplate(Launch& launch) {
  const LaunchSetting* setting = launch.Find("chat_template");
  if (setting == nullptr) return;
  const std::string text(setting->value.AsString().value_or(""));
  if (text.empty() || text.find_first_of("{}\n") != std::string::npos) return;
  if (KindOfPath(text) == PathKind::kFile) return;
  launch.faults.push_back(FileFault(
      setting->place, fmt::format("--chat-template {} is no file here", text),
      "it looks like a path, and the launch ends"));
}

class EmbeddedServing : public ServingSource {
 public:
  explicit EmbeddedServing(std::optional<std::string> configs)
      : configs_(std::move(configs)) {}

  const EngineFacts& Facts(ServingEngine engine,
                           const EngineVersion& version) const override {
    EngineVersion described;
    for (const EngineVersion& one : Versions(engine)) {
      if (one <= version || described.minor == 0) described = one;
    }
    const auto key = std::pair(engine, described);
    const auto there = facts_.find(key);
    if (there != facts_.end()) return *there->second;
    auto facts =
        std::make_unique<EngineFacts>(ReadEngineFacts(engine, described));
    return *facts_.emplace(key, std::move(facts)).first->second;
  }

  std::vector<EngineVersion> Versions(ServingEngine engine) const override {
    auto& list = versions_[engine];
    if (list.empty()) list = DescribedVersions(engine);
    return list;
  }

  Launch Read(const EngineFacts& facts, const LaunchLine& line) const override {
    LaunchLine whole = line;
    std::optional<LaunchFault> fault = PutConfigIn(facts, whole);
    Launch launch = ReadLaunch(facts, whole);
    if (fault) launch.faults.insert(launch.faults.begin(), std::move(*fault));
    CheckTemplate(launch);
    return launch;
  }

  std::shared_ptr<const ModelConfig> Model(
      std::string_view name) const override {
    const auto there = models_.find(name);
    if (there != models_.end()) return there->second;
    std::shared_ptr<const ModelConfig> model = Load(name);
    models_.emplace(std::string(name), model);
    return model;
  }

  std::optional<ServingCard> Card(std::string_view name) const override {
    const std::string wanted = Folded(name);
    for (const Device& device : AllDevices()) {
      bool named = Folded(device.id) == wanted;
      for (const std::string& alias : device.aliases) {
        named = named || Folded(alias) == wanted;
      }
      if (named) return CardOf(device);
    }
    return PartOfCard(name);
  }

  std::shared_ptr<const TimedDevice> Timed(
      std::string_view name) const override {
    const auto there = timed_.find(name);
    if (there != timed_.end()) return there->second;
    std::shared_ptr<const TimedDevice> timed;
    if (auto device = DeviceNamed(name)) {
      timed =
          std::make_shared<const TimedDevice>(WithTimes(*std::move(device)));
    }
    return timed_.emplace(std::string(name), timed).first->second;
  }

 private:
  std::shared_ptr<const ModelConfig> Load(std::string_view name) const {
    const std::string file = configs_ ? FileOf(*configs_, name) : "";
    if (!file.empty() && KindOfPath(file) == PathKind::kFile) {
      auto model = std::make_shared<ModelConfig>(LoadModelConfig(file));
      model->name = name;
      AddQuantizationFile(*model,
                          file.substr(0, file.size() - 5) + "/" + kQuantFile);
      return model;
    }
    auto found = FromCatalogue(name);
    if (!found) return nullptr;
    return std::make_shared<const ModelConfig>(std::move(*found));
  }

  std::optional<std::string> configs_;
  mutable std::map<std::pair<ServingEngine, EngineVersion>,
                   std::unique_ptr<EngineFacts>>
      facts_;
  mutable std::map<ServingEngine, std::vector<EngineVersion>> versions_;
  mutable std::map<std::string, std::shared_ptr<const ModelConfig>, std::less<>>
      models_;
  mutable std::map<std::string, std::shared_ptr<const TimedDevice>, std::less<>>
      timed_;
};

}  // namespace

std::unique_ptr<ServingSource> MakeServingSource(
    const std::optional<std::string>& configs_dir) {
  if (configs_dir && configs_dir->empty()) return MakeServingSource();
  return std::make_unique<EmbeddedServing>(configs_dir);
}

}  // namespace foretell
