#include "models/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 8> kNested = {
    "text_config",  "llm_config",     "language_config", "vision_config",
    "audio_config", "thinker_config", "decoder",         "encoder"};

// An old spelling of one of the family's classes.
const Family* FamilyOfOldName(std::string_view name, std::string& class_name) {
  for (const Family* family : AllFamilies()) {
    for (const auto& [old_name, new_name] : family->old_names) {
      if (old_name == name) {
        class_name = new_name;
        return family;
      }
    }
  }
  return nullptr;
}

Architecture AskedFor(const ConfigView& root, const std::string& name) {
  Architecture out;
  out.class_name = name;
  out.source = "asked for";
  out.family = FamilyOfClass(name);
  if (out.family == nullptr) {
    out.family = FamilyOfOldName(name, out.class_name);
  }
  if (out.family == nullptr) {
    std::vector<std::string_view> classes;
    for (const Family* family : AllFamilies()) {
      classes.insert(classes.end(), family->classes.begin(),
                     family->classes.end());
    }
    InputError error;
    error.place.source = "--class";
    error.what =
        fmt::format("no family has a class \"{}\"", name.substr(0, 80));
    const auto near = NearestNames(name, classes);
    error.cure = near.empty()
                     ? "foretell help model lists the classes"
                     : fmt::format("did you mean {}?", fmt::join(near, " or "));
    root.log().problems.push_back(std::move(error));
    return out;
  }
  // A class of a nested part reads that part: LlamaForCausalLM of a
  // vision-language model's text_config.
  const auto& types = out.family->model_types;
  const auto own = root.OptionalText({"model_type"});
  const bool root_fits = !own || std::ranges::find(types, *own) != types.end();
  if (root_fits) return out;
  for (const std::string_view key : kNested) {
    const ConfigValue* part = root.config().root.Find(key);
    const ConfigValue* type = part ? part->Find("model_type") : nullptr;
    const auto text = type ? type->AsString() : std::nullopt;
    if (text && std::ranges::find(types, *text) != types.end()) {
      out.part = key;
      return out;
    }
  }
  // A whole of several parts, whose text model has a type of its own and keeps
  // its keys in a part: the class reads these.
  for (const std::string_view key : kNested) {
    const ConfigValue* part = root.config().root.Find(key);
    const bool holds_text = key.ends_with("text_config") ||
                            key.ends_with("llm_config") ||
                            key.ends_with("language_config");
    if (!holds_text || part == nullptr || !part->is_object()) continue;
    if (root.config().root.Find("hidden_size") != nullptr) continue;
    out.part = key;
    return out;
  }
  root.Find("config/class-asked", Severity::kWarn, "model_type",
            fmt::format("model_type is {}, and {} was asked for",
                        own->substr(0, 80), name),
            fmt::format("the file is read as a {} configuration, with that "
                        "class's names and defaults",
                        out.family->name),
            "leave out --class to see what the file itself means");
  return out;
}

// What a class is for, as the library names its automatic classes; empty for a
// class of another purpose.
std::string_view TaskOf(std::string_view class_name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10>
      kEndings = {{{"ForCausalLM", "causal-lm"},
                   {"LMHeadModel", "causal-lm"},
                   {"ForMaskedLM", "masked-lm"},
                   {"ForSequenceClassification", "sequence-classification"},
                   {"ForTokenClassification", "token-classification"},
                   {"ForQuestionAnswering", "question-answering"},
                   {"ForConditionalGeneration", "conditional-generation"},
                   {"ForMultipleChoice", "multiple-choice"},
                   {"ForPreTraining", "pretraining"},
                   {"Model", "base"}}};
  if (class_name.ends_with("MTModel")) return "conditional-generation";
  if (class_name.ends_with("EncoderModel")) return "encoder";
  if (class_name.ends_with("DoubleHeadsModel")) return {};
  for (const auto& [ending, task] : kEndings) {
    if (class_name.ends_with(ending)) return task;
  }
  return {};
}

// The family's class for a task in place of the one that was found.
void TakeTask(const ConfigView& root, const std::string& task,
              Architecture& out) {
  std::vector<std::string> known;
  for (const std::string_view name : out.family->classes) {
    const std::string_view of = TaskOf(name);
    if (of.empty()) continue;
    if (of == task) {
      out.class_name = name;
      out.source = "--task " + task;
      return;
    }
    known.push_back(fmt::format("{} ({})", of, name));
  }
  InputError error;
  error.place.source = "--task";
  error.what = fmt::format("{} has no class for \"{}\"", out.family->title,
                           task.substr(0, 60));
  error.cure = fmt::format("it has {}", fmt::join(known, ", "));
  root.log().problems.push_back(std::move(error));
  out.family = nullptr;
}

}  // namespace

std::span<const std::string_view> NestedConfigKeys() { return kNested; }

namespace {

// Null for a class that only code beside the weights has, where only the
// library's count.
const Family* Admitted(const Family* family, const BuildOptions& options) {
  const bool is_own = family != nullptr && !family->described_by.empty();
  return options.library_only && is_own ? nullptr : family;
}

Architecture ByFile(const ConfigView& root, const BuildOptions& options);

}  // namespace

Architecture ChooseArchitecture(const ConfigView& root,
                                const BuildOptions& options) {
  if (options.class_name) return AskedFor(root, *options.class_name);
  Architecture out = ByFile(root, options);
  if (options.task && out.family != nullptr) TakeTask(root, *options.task, out);
  return out;
}

namespace {

Architecture ByFile(const ConfigView& root, const BuildOptions& options) {
  Architecture out;
  out.model_type = root.OptionalText({"model_type"}).value_or("");
  auto names = root.TextList({"architectures"});
  // diffusers' own files name their class so, and nothing else.
  const bool is_diffusers = !names && out.model_type.empty();
  if (is_diffusers && root.Raw("_class_name") != nullptr) {
    names = {root.Text({"_class_name"}, "")};
  }
  const std::string first =
      names && !names->empty() ? names->front() : std::string();
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (const Family* family = Admitted(FamilyOfClass(name), options)) {
      out.family = family;
      out.class_name = name;
      out.source = is_diffusers ? "_class_name" : "architectures";
      const Family* typed = FamilyOfModelType(out.model_type);
      // Code that comes with the weights brings its own configuration class.
      const bool is_own = !family->described_by.empty();
      const bool has_type = !family->model_types.empty();
      out.type_disagrees =
          typed != nullptr && typed != family && !is_own && has_type;
      if (typed == nullptr && !out.model_type.empty() && !is_own && has_type) {
        root.Find("config/type-and-class", Severity::kWarn, "model_type",
                  fmt::format("model_type {} is not that of {}",
                              out.model_type.substr(0, 80), name),
                  "the library would read the file by its type, or refuse a "
                  "type that it does not know; here the class's own names and "
                  "defaults are used",
                  fmt::format("set model_type to \"{}\"",
                              family->model_types.front()));
      }
      return out;
    }
    std::string new_name;
    if (const Family* family =
            Admitted(FamilyOfOldName(name, new_name), options)) {
      out.family = family;
      out.class_name = new_name;
      out.source = fmt::format("architectures, {} by its old name", name);
      return out;
    }
  }
  out.class_name = first;
  // models/auto/configuration_auto.py: a list of kinds of layers, even null,
  // makes a Mistral a Ministral.
  const bool is_ministral =
      out.model_type == "mistral" && root.Raw("layer_types") != nullptr;
  const Family* family =
      FamilyOfModelType(is_ministral ? "ministral" : out.model_type);
  out.source = "model_type " + out.model_type;
  if (family == nullptr && out.model_type.empty() && first.empty()) {
    root.Problem("model_type",
                 "the configuration states neither model_type nor "
                 "architectures, so nothing tells its class",
                 "add \"model_type\", or say the class with --class, such as "
                 "--class LlamaForCausalLM");
  }
  if (family == nullptr) return out;
  out.family = family;
  out.class_name = family->classes.front();
  if (!first.empty()) {
    root.Find(
        "config/class-replaced", Severity::kWarn, "architectures",
        fmt::format("{} is no class of transformers that is known here; "
                    "read as {}, which model_type {} loads",
                    first, out.class_name, out.model_type),
        fmt::format("the figures are exact for {}; a checkpoint of {} may "
                    "hold other tensors",
                    out.class_name, first),
        "compare with the checkpoint's own tensors");
  }
  return out;
}

}  // namespace

UnknownArchitecture DescribeUnknown(const ModelConfig& config,
                                    const Architecture& architecture) {
  UnknownArchitecture out;
  out.class_name = architecture.class_name;
  out.model_type = architecture.model_type;
  for (const std::string_view key : kNested) {
    const ConfigValue* part = config.root.Find(key);
    const ConfigValue* type = part ? part->Find("model_type") : nullptr;
    const auto text = type ? type->AsString() : std::nullopt;
    const Family* family = text ? FamilyOfModelType(*text) : nullptr;
    if (family != nullptr) out.readable_parts.emplace_back(key, family);
  }
  for (const Family* family : AllFamilies()) {
    ConfigLog log;
    const ConfigView view(config, log);
    view.Ignore({"model_type", "architectures", "torch_dtype", "dtype"});
    Graph graph;
    Builder builder(graph, DType::kFloat32);
    family->build(view, Module(builder), family->classes.front());
    NearFamily near;
    near.family = family;
    near.unread = UnreadKeys(config, log);
    for (const ConfigLog::Default& entry : log.defaults) {
      near.missing.push_back(entry.key);
    }
    out.nearest.push_back(std::move(near));
  }
  // Fewer keys that differ on either side is nearer.
  std::ranges::stable_sort(out.nearest, {}, [](const NearFamily& near) {
    return near.unread.size() + near.missing.size();
  });
  constexpr size_t kShown = 3;
  if (out.nearest.size() > kShown) out.nearest.resize(kShown);
  return out;
}

}  // namespace foretell
