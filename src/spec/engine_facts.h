// What one version of a serving engine knows: its flags, the classes that it
// serves, its quantization methods, and how its library fills configurations.
//
// Made by input/engine_facts from data/engines/, which tools/engines writes
// from the engines' sources; read by the reader of launch lines and by
// engines/<engine>. Names are the engine's own.
#ifndef FORETELL_SPEC_ENGINE_FACTS_H_
#define FORETELL_SPEC_ENGINE_FACTS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/config_value.h"
#include "spec/serving.h"

namespace foretell {

struct EngineFlag {
  std::string flag;               // "--tensor-parallel-size"
  std::vector<std::string> also;  // "-tp"
  std::string dest;               // "tensor_parallel_size"
  // int, float, str, json, bool (--x and --no-x), true, false (a switch), size
  // (1k, 2M), size_or_auto, json_or_str, pairs, append, config:NAME.
  std::string type;
  std::string many;  // "+", "?", "*" or a number; empty: one value
  bool optional = false;
  bool deprecated = false;
  std::string special;
  std::optional<std::vector<ConfigValue>> choices;
  ConfigValue default_value;
};

// One way to write a flag.
struct FlagSpelling {
  size_t flag = 0;        // index into EngineFacts::flags
  bool negative = false;  // --no-x
};

// A flag of other versions of the engine.
struct OtherFlag {
  std::string flag;
  EngineVersion since;
  std::optional<EngineVersion> until;  // the first version without it
};

struct EngineArchitecture {
  std::string name;
  std::string class_name;
  std::string group;  // "text", "multimodal", "embedding", "transformers", …
  std::vector<std::string> facts;  // "pp", "lora", "hybrid", "seq=CLS", …

  bool Is(std::string_view fact) const;
  // The value of "seq=CLS"; empty where there is none.
  std::string_view Value(std::string_view key) const;
};

struct GoneArchitecture {
  std::string last;    // the last version that had it
  std::string plugin;  // where it went
};

struct EngineQuantization {
  std::string name;
  std::string class_name;
  std::optional<int64_t> capability;  // the least that runs it: 75
  std::vector<std::string> dtypes;
  std::vector<std::string> files;  // files beside config.json that it reads
  bool deprecated = false;
};

// A class whose fields a JSON flag fills.
struct EngineConfigClass {
  // name -> what it takes: "int", "bool", "None", "=a|b", "config NAME", …
  std::vector<std::pair<std::string, std::string>> fields;
  const std::string* Find(std::string_view name) const;
};

// A library's class of configurations: what it fills in.
struct ConfigClassFacts {
  std::string class_name;
  std::vector<std::pair<std::string, ConfigValue>> has;
  std::vector<std::pair<std::string, std::string>> map;  // other name -> name
  std::vector<std::pair<std::string, std::string>> sub;  // key -> model type
  bool own = false;     // the engine's class, not the library's
  bool nested = false;  // only inside another configuration
  const ConfigValue* Default(std::string_view name) const;
};

struct EngineFacts {
  ServingEngine engine = ServingEngine::kVllm;
  EngineVersion version;  // the described version that stands for it
  std::string date;
  std::string source;
  std::string library;  // "4.57.6" of transformers
  std::vector<EngineFlag> flags;
  std::vector<OtherFlag> other_flags;
  std::map<std::string, EngineArchitecture, std::less<>> architectures;
  std::map<std::string, GoneArchitecture, std::less<>> gone;
  std::vector<EngineQuantization> quantizations;
  std::map<std::string, EngineConfigClass, std::less<>> configs;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  std::map<std::string, ConfigClassFacts, std::less<>> model_types;
  std::set<std::string, std::less<>> backend_classes;  // the library's
  // Classes whose attention can be set although they do not offer the
  // interface (_can_set_attn_implementation).
  std::set<std::string, std::less<>> settable_classes;

  // Made of `flags` by IndexFlags.
  std::map<std::string, FlagSpelling, std::less<>> spellings;
  std::map<std::string, size_t, std::less<>> settings;  // by `dest`

  void IndexFlags();
  const EngineFlag* FindFlag(std::string_view name) const;  // any spelling
  const EngineFlag* FindSetting(std::string_view dest) const;
  const EngineQuantization* FindQuantization(std::string_view name) const;
  const EngineArchitecture* FindArchitecture(std::string_view name) const;
  const ConfigClassFacts* FindModelType(std::string_view name) const;
  bool Lists(std::string_view list, std::string_view value) const;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_ENGINE_FACTS_H_
