#include "models/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/architecture.h"

namespace foretell {
namespace {

// The dtype of the parameters: asked for, stated, or the library's default.
void ChooseDType(const ConfigView& config, const BuildOptions& options,
                 BuiltModel& out) {
  const ConfigView root(config.config(), config.log());
  const bool nested = config.Has("torch_dtype") || config.Has("dtype");
  const ConfigView& from = nested ? config : root;
  // `dtype` is the newer name of `torch_dtype`.
  const auto stated = from.OptionalText({"dtype", "torch_dtype"});
  root.Ignore({"dtype", "torch_dtype"});
  if (options.dtype) {
    out.dtype = *options.dtype;
    out.dtype_source = "asked for";
    return;
  }
  if (!stated || *stated == "auto") {
    out.dtype = DType::kFloat32;
    out.dtype_source = "not stated; the library's default";
    return;
  }
  const auto dtype = ParseDType(*stated);
  if (!dtype || !Describe(*dtype).is_floating) {
    from.Problem(
        from.Has("dtype") ? "dtype" : "torch_dtype",
        fmt::format("names no floating dtype: \"{}\"", stated->substr(0, 40)),
        "write float32, bfloat16 or float16");
    return;
  }
  out.dtype = *dtype;
  out.dtype_source = from.Has("dtype") ? "dtype" : "torch_dtype";
}

// Keys that tell what the file is, whichever family reads it.
void ReadIdentity(const ConfigView& config) {
  config.Ignore({"model_type", "architectures", "quantization_config",
                 "_class_name", "use_cache"});
}

ConfigView PartOf(const ConfigView& root, const std::string& part) {
  return part.empty() ? root : root.Nested(part);
}

void Register(const ConfigView& view, const std::string& class_name,
              const Library& library, BuiltModel& out) {
  out.graph = std::make_unique<Graph>();
  out.builder = std::make_unique<Builder>(*out.graph, out.dtype);
  out.builder->set_library(library);
  out.model = out.family->build(view, Module(*out.builder), class_name);
}

// A default as it was noted, as a value again.
ConfigValue ValueOf(const std::string& json) {
  if (json == "true" || json == "false")
    return ConfigValue::Bool(json == "true");
  if (json.size() >= 2 && json.front() == '"') {
    return ConfigValue::String(json.substr(1, json.size() - 2));
  }
  return ConfigValue::Number(json);
}

// transformers reads a file by its model_type and builds the class that
// `architectures` names from it: absent keys then take the defaults of the
// former's configuration. Gives the file with these written out.
ModelConfig WithDefaultsOf(const Family& typed, const ModelConfig& config) {
  ConfigLog log;
  const ConfigView view(config, log);
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  typed.build(view, Module(builder), typed.classes.front());
  ModelConfig out = config;
  const auto fill = [&out](const std::string& key, const ConfigValue& value) {
    const bool is_nested = key.find('.') != std::string::npos;
    const ConfigValue* old = out.root.Find(key);
    if (!is_nested && (old == nullptr || old->is_null())) {
      out.root.Set(key, value);
    }
  };
  for (const auto& [key, value] : log.derived) fill(key, value);
  for (const auto& [key, json] : log.defaults) fill(key, ValueOf(json));
  return out;
}

void NoteOthersDefaults(const ConfigView& root,
                        const Architecture& architecture) {
  std::vector<std::string> keys;
  for (const ConfigLog::Default& entry : root.log().defaults) {
    keys.push_back(entry.key);
  }
  root.Find(
      "config/type-and-class", Severity::kWarn, "model_type",
      fmt::format("model_type is {} while architectures names {}{}",
                  architecture.model_type, architecture.class_name,
                  keys.empty() ? std::string()
                               : fmt::format("; the former does not define {}",
                                             fmt::join(keys, ", "))),
      "the library reads the file by its type and builds the class from that; "
      "where the class asks for what the type does not define, it fails",
      fmt::format("set model_type to \"{}\"",
                  FamilyOfClass(architecture.class_name)->model_types.front()));
}

}  // namespace

BuildResult BuildModel(const ModelConfig& given, const BuildOptions& options) {
  BuildResult result;
  result.log.most_layers = options.most_layers;
  ModelConfig config = given;
  const Architecture architecture =
      ChooseArchitecture(ConfigView(given, result.log), options);
  if (architecture.family == nullptr) {
    if (result.log.problems.empty()) {
      result.unknown = DescribeUnknown(given, architecture);
    }
    return result;
  }
  if (architecture.type_disagrees) {
    config = WithDefaultsOf(*FamilyOfModelType(architecture.model_type), given);
  }
  const ConfigView root(config, result.log);
  BuiltModel built;
  built.family = architecture.family;
  built.class_name = architecture.class_name;
  built.class_source = architecture.source;
  built.part = architecture.part;
  const ConfigView view = PartOf(root, architecture.part);
  ReadIdentity(root);
  ReadIdentity(view);
  ChooseDType(view, options, built);
  Register(view, architecture.class_name, *options.library, built);
  result.unread = UnreadKeys(given, result.log);
  if (architecture.type_disagrees) NoteOthersDefaults(root, architecture);
  if (result.log.problems.empty()) result.built = std::move(built);
  return result;
}

}  // namespace foretell
