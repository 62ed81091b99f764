// The model's configuration and the class that serves it: vllm/config/model.py
// and vllm/transformers_utils/config.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

void Merge(ConfigValue& target, const ConfigValue& updates) {
  for (const auto& [key, value] : updates.members()) {
    ConfigValue* inner = target.Find(key);
    if (inner != nullptr && inner->is_object() && value.is_object()) {
      Merge(*inner, value);
    } else {
      target.Set(key, value);
    }
  }
}

bool IsSubConfig(const State& state, std::string_view key) {
  const ConfigClassFacts* type = state.config.type();
  if (type == nullptr) return false;
  return std::ranges::any_of(type->sub,
                             [&](const auto& sub) { return sub.first == key; });
}

// A plain value replaces; an object goes into a nested configuration, and
// replaces what is no nested configuration.
void Override(State& state) {
  const ConfigValue* overrides = state.Flag("hf_overrides");
  if (overrides == nullptr || !overrides->is_object()) return;
  ConfigValue& root = state.out->model.root;
  for (const auto& [key, value] : overrides->members()) {
    ConfigValue* inner = root.Find(key);
    if (value.is_object() && inner != nullptr && inner->is_object() &&
        IsSubConfig(state, key)) {
      Merge(*inner, value);
    } else {
      root.Set(key, value);
    }
  }
}

struct Suffix {
  std::string_view suffix;
  std::string_view runner;
  std::string_view convert;
};

// _SUFFIX_TO_DEFAULTS of vllm/config/model.py; the order decides.
constexpr std::array<Suffix, 15> kSuffixes = {{
    {"ForCausalLM", "generate", "none"},
    {"ForConditionalGeneration", "generate", "none"},
    {"ChatModel", "generate", "none"},
    {"LMHeadModel", "generate", "none"},
    {"ForTextEncoding", "pooling", "embed"},
    {"EmbeddingModel", "pooling", "embed"},
    {"ForSequenceClassification", "pooling", "classify"},
    {"ForTokenClassification", "pooling", "classify"},
    {"ForAudioClassification", "pooling", "classify"},
    {"ForImageClassification", "pooling", "classify"},
    {"ForVideoClassification", "pooling", "classify"},
    {"ClassificationModel", "pooling", "classify"},
    {"ForRewardModeling", "pooling", "embed"},
    {"RewardModel", "pooling", "embed"},
    {"Model", "pooling", "embed"},
}};

const Suffix* SuffixOf(std::string_view arch, std::string_view runner,
                       std::string_view convert) {
  for (const Suffix& one : kSuffixes) {
    if (!arch.ends_with(one.suffix)) continue;
    if (!runner.empty() && runner != one.runner) continue;
    if (!convert.empty() && convert != one.convert) continue;
    return &one;
  }
  return nullptr;
}

const EngineArchitecture* Normalized(const State& state,
                                     const std::string& arch,
                                     std::string_view runner,
                                     std::string_view convert) {
  if (const auto* found = state.facts().FindArchitecture(arch)) return found;
  const Suffix* match = SuffixOf(arch, runner, convert);
  if (match == nullptr) return nullptr;
  const std::string base = arch.substr(0, arch.size() - match->suffix.size());
  for (const Suffix& other : kSuffixes) {
    const auto* found =
        state.facts().FindArchitecture(base + std::string(other.suffix));
    if (found != nullptr) return found;
  }
  return nullptr;
}

bool IsComposite(const State& state) {
  // A flat file's text part is of another class than the whole.
  return state.text.object() != state.config.object() ||
         state.text.model_type() != state.config.model_type();
}

// The wrapper around the library's own class, where that can be wrapped.
const EngineArchitecture* Wrapped(const State& state, const std::string& arch) {
  const EngineFacts& facts = state.facts();
  const auto* there = facts.FindArchitecture(arch);
  if (there != nullptr && there->group == "transformers-backend") return there;
  // Since 0.29 also what only takes another attention function.
  const bool wraps =
      facts.backend_classes.contains(arch) ||
      (state.Since(0, 29) && facts.settable_classes.contains(arch));
  if (!wraps) return nullptr;
  std::string name = "Transformers";
  if (IsComposite(state)) name += "MultiModal";
  if (state.experts > 0) name += "MoE";
  // Asked to generate, a class that embeds is wrapped as one that does.
  const Suffix* match =
      state.Text("runner") == "generate" ? nullptr : SuffixOf(arch, "", "");
  if (match != nullptr && match->runner == "pooling" &&
      match->convert == "embed") {
    name += "EmbeddingModel";
  } else if (match != nullptr && match->convert == "classify") {
    name += "ForSequenceClassification";
  } else {
    name += "ForCausalLM";
  }
  return facts.FindArchitecture(name);
}

// The registry's inspect_model_cls; null where no class serves it.
const EngineArchitecture* Inspect(State& state, std::string_view runner,
                                  std::string_view convert) {
  const EngineFacts& facts = state.facts();
  const std::string impl = state.Text("model_impl");
  if (impl == "transformers") {
    if (const auto* found = Wrapped(state, state.architectures[0])) {
      state.arch_name = found->name;
      return found;
    }
  }
  const bool none =
      std::ranges::none_of(state.architectures, [&](const std::string& arch) {
        return facts.FindArchitecture(arch) != nullptr;
      });
  const bool automatic = impl.empty() || impl == "auto";
  if (none && automatic && (convert.empty() || convert == "none")) {
    if (const auto* found = Wrapped(state, state.architectures[0])) {
      state.arch_name = found->name;
      return found;
    }
  }
  for (const std::string& arch : state.architectures) {
    if (const auto* found = Normalized(state, arch, runner, convert)) {
      state.arch_name = arch;
      return found;
    }
  }
  if (none && automatic) {
    if (const auto* found = Wrapped(state, state.architectures[0])) {
      state.arch_name = found->name;
      return found;
    }
  }
  return nullptr;
}

bool RefuseClass(State& state) {
  const EngineFacts& facts = state.facts();
  const std::string version = facts.version.ToString();
  const std::string list =
      fmt::format("{}", fmt::join(state.architectures, ", "));
  for (const std::string& arch : state.architectures) {
    const auto gone = facts.gone.find(arch);
    if (gone == facts.gone.end()) continue;
    const bool last = !gone->second.last.empty();
    state.Refuse(
        "architecture", "model",
        last ? fmt::format("{} left vLLM after {}", arch, gone->second.last)
             : fmt::format("{} moved to a plugin", arch),
        fmt::format("vLLM {} refuses it at start", version),
        last ? fmt::format("pip install vllm=={}", gone->second.last)
             : gone->second.plugin);
    return false;
  }
  state.Refuse(
      "architecture", "model",
      list.empty()
          ? std::string("the configuration names no architecture")
          : fmt::format("no class of vLLM {} serves {}", version, list),
      "it ends with \"are not supported for now\"");
  return false;
}

}  // namespace

bool LoadModel(State& state) {
  state.out->model = *state.in->model;
  const ConfigValue& root = state.out->model.root;
  const auto type_of = [&]() {
    const ConfigValue* said = root.Find("model_type");
    return said == nullptr ? std::string()
                           : std::string(said->AsString().value_or(""));
  };
  std::string type = type_of();
  state.config = HfConfig(&root, type, state.facts());
  Override(state);
  type = type_of();
  if (type.empty() && !state.Since(0, 20)) {
    // transformers 4 then looks for a type's name in the model's.
    std::string found;
    for (const auto& [name, one] : state.facts().model_types) {
      if (!one.nested && name.size() > found.size() &&
          state.in->launch->model.find(name) != std::string::npos) {
        found = name;
      }
    }
    type = found;
  }
  state.config = HfConfig(&root, type, state.facts());
  state.text = state.config.TextPart();
  const ConfigClassFacts* known = state.facts().FindModelType(type);
  if (known != nullptr && known->nested) known = nullptr;
  const ConfigValue* map = root.Find("auto_map");
  const bool remote = map != nullptr && map->Find("AutoConfig") != nullptr;
  if (known != nullptr) {
    // A class of the library makes its text part through the same list.
    const ConfigValue* inner = root.Find("text_config");
    const ConfigValue* said =
        inner == nullptr ? nullptr : inner->Find("model_type");
    const std::string part(said == nullptr ? ""
                                           : said->AsString().value_or(""));
    // Exaone4_5Config renames its text part's class itself.
    const bool renames = part == "exaone4_5_text";
    if (known->own || part.empty() || renames ||
        state.facts().FindModelType(part) != nullptr) {
      return true;
    }
    state.Refuse("architecture", "model",
                 fmt::format("transformers {} does not know the model type {} "
                             "of text_config",
                             state.facts().library, part),
                 "the start ends before vLLM looks for the class",
                 "a newer vLLM");
    return false;
  }
  // vllm/transformers_utils/configs: classes of the engine's own, which serve
  // types that its library lacks.
  const auto classes = state.facts().lists.find("own_configs");
  if (classes != state.facts().lists.end() &&
      std::ranges::find(classes->second, type) != classes->second.end()) {
    state.out->cannot_tell.emplace_back(
        "what the engine's own configuration class works out");
    return true;
  }
  if (remote) {
    if (!state.Truth("trust_remote_code")) {
      state.Refuse("remote-code", "trust_remote_code",
                   fmt::format("{} comes with its own configuration class, "
                               "which this transformers lacks (model type {})",
                               state.in->launch->model, type),
                   "without permission to run it the start ends",
                   "--trust-remote-code");
      return false;
    }
    state.out->cannot_tell.emplace_back(
        "what the model's own configuration class works out");
    return true;
  }
  if (type.empty()) {
    state.Refuse("other", "model", "the configuration has no model_type",
                 "transformers cannot choose its class");
    return false;
  }
  state.Refuse(
      "architecture", "model",
      fmt::format("transformers {} does not know the model type {}",
                  state.facts().library, type),
      "the start ends before vLLM looks for the class",
      "a newer vLLM, or pip install -U transformers where it allows it");
  return false;
}

bool InspectClass(State& state) {
  state.architectures.clear();
  if (const ConfigValue* list = state.config.Get("architectures")) {
    for (const ConfigValue& item : list->items()) {
      state.architectures.emplace_back(item.AsString().value_or(""));
    }
  }
  if (state.architectures.empty() && state.config.type() != nullptr) {
    // The library's base model of that configuration class.
    std::string name = state.config.type()->class_name;
    if (name.ends_with("Config")) name.resize(name.size() - 6);
    if (!name.empty()) state.architectures.push_back(name + "Model");
  }
  if (state.architectures.empty()) return RefuseClass(state);
  const EngineArchitecture* found = Inspect(state, "", "");
  if (found == nullptr && !state.Since(0, 6, 3)) {
    // The class was first looked for as its weights were loaded.
    state.arch_name = state.architectures[0];
    state.settings().architecture = state.arch_name;
    state.RefuseAtStart(
        "architecture", "model",
        fmt::format("no class of vLLM {} serves {}",
                    state.facts().version.ToString(), state.arch_name),
        "loading ends with \"are not supported for now\"");
    return true;
  }
  if (found == nullptr) return RefuseClass(state);
  const EngineFacts& facts = state.facts();
  const std::string runner = state.Text("runner");
  const std::string convert = state.Text("convert");
  // The runner.
  if (!runner.empty() && runner != "auto") {
    state.runner = runner;
  } else if (state.Since(0, 22) && !convert.empty() && convert != "auto" &&
             convert != "none") {
    state.runner = "pooling";
  } else {
    state.runner = "generate";
    for (const std::string& arch : state.architectures) {
      if (facts.FindArchitecture(arch) != nullptr) {
        if (found->Is("pooling")) {
          state.runner = "pooling";
          break;
        }
        if (found->Is("text")) break;
      }
      if (const Suffix* match = SuffixOf(arch, "", "")) {
        state.runner = match->runner;
        break;
      }
    }
  }
  // The conversion.
  if (!convert.empty() && convert != "auto") {
    state.convert = convert;
  } else {
    state.convert = state.runner == "pooling" ? "embed" : "none";
    for (const std::string& arch : state.architectures) {
      if (facts.FindArchitecture(arch) != nullptr) {
        if (state.runner == "generate" && found->Is("text")) {
          state.convert = "none";
          break;
        }
        if (state.runner == "pooling" && found->Is("pooling")) {
          state.convert = "none";
          break;
        }
      }
      if (const Suffix* match = SuffixOf(arch, state.runner, "")) {
        state.convert = match->convert;
        break;
      }
    }
  }
  const bool text = found->Is("text");
  const bool pooling = found->Is("pooling");
  if (pooling && !text && state.runner == "generate") {
    state.Refuse("architecture", "runner",
                 fmt::format("{} only embeds", state.architectures[0]),
                 "--runner generate is refused", "--runner pooling");
    return false;
  }
  if (state.runner == "generate" && !text && state.convert != "none") {
    state.Refuse("architecture", "runner",
                 fmt::format("{} does not generate", state.architectures[0]),
                 "--runner generate is refused", "--runner pooling");
    return false;
  }
  found = Inspect(state, state.runner, state.convert);
  if (found == nullptr) return RefuseClass(state);
  state.arch = found;
  ServingSettings& out = state.settings();
  out.architecture = state.arch_name;
  out.is_multimodal = found->Is("multimodal");
  out.is_pooling = state.runner == "pooling";
  out.is_attention_free = found->Is("attention-free");
  out.is_encoder_decoder = state.config.Truth("is_encoder_decoder") ||
                           state.text.Truth("is_encoder_decoder");
  out.is_hybrid = found->Is("hybrid");
  if (const ConfigValue* types = state.config.Get("layer_types")) {
    const bool plain =
        std::ranges::all_of(types->items(), [&](const ConfigValue& one) {
          const std::string_view kind = one.AsString().value_or("");
          return kind == "attention" ||
                 (kind == "full_attention" && state.Since(0, 20));
        });
    if (plain) out.is_hybrid = false;
  }
  state.seq_pooling = found->Value("seq");
  if (state.seq_pooling.empty()) state.seq_pooling = "LAST";
  state.tok_pooling = found->Value("tok");
  if (state.tok_pooling.empty()) state.tok_pooling = "ALL";
  const std::string attn(found->Value("attn"));
  if (out.is_pooling) {
    const ConfigValue* causal = state.config.Get("is_causal");
    // Gemma3TextModelConfig reads it off another key.
    const bool both_ways =
        (causal != nullptr && !causal->AsBool().value_or(true)) ||
        (state.arch_name == "Gemma3TextModel" &&
         state.config.Truth("use_bidirectional_attention"));
    state.attn_type = state.seq_pooling == "CLS" || both_ways
                          ? "encoder_only"
                          : (attn.empty() ? "decoder" : attn);
  } else if (out.is_hybrid) {
    state.attn_type = "hybrid";
  } else if (out.is_attention_free) {
    state.attn_type = "attention_free";
  } else if (out.is_encoder_decoder) {
    state.attn_type = "encoder_decoder";
  }
  return true;
}

}  // namespace foretell::vllm
