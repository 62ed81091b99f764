#include "answers/read_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace foretell {
namespace {

// "a, b, c and 4 more"
std::string Shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  if (names.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  const std::span<const std::string> shown(names.data(), kShown);
  return fmt::format("{} and {} more", fmt::join(shown, ", "),
                     names.size() - kShown);
}

// "llama (LlamaForCausalLM), which does not read a, b and takes c from its
// class; then mistral (…), …"
std::string Nearest(const UnknownArchitecture& unknown) {
  std::vector<std::string> out;
  for (const NearFamily& near : unknown.nearest) {
    std::vector<std::string> differs;
    if (!near.unread.empty()) {
      differs.push_back("does not read " + Shortened(near.unread));
    }
    if (!near.missing.empty()) {
      differs.push_back("lacks " + Shortened(near.missing));
    }
    out.push_back(fmt::format(
        "{} (--class {}){}{}", near.family->name, near.family->classes.front(),
        differs.empty() ? "" : ", which ", fmt::join(differs, " and ")));
  }
  return fmt::format("{}", fmt::join(out, "; then "));
}

InputError ErrorOf(const ModelConfig& config,
                   const UnknownArchitecture& unknown) {
  InputError error;
  const ConfigValue* value = config.root.Find("architectures");
  std::string key = "architectures";
  if (value == nullptr || unknown.class_name.empty()) {
    value = config.root.Find("model_type");
    key = "model_type";
  }
  if (value != nullptr) {
    error.place = config.PlaceOf(*value, key);
  } else {
    error.place.source = config.source;
  }
  error.what = fmt::format(
      "no family has the architecture {}{}",
      unknown.class_name.empty() ? "of this configuration"
                                 : unknown.class_name.substr(0, 80),
      unknown.model_type.empty()
          ? ""
          : fmt::format(" (model_type {})", unknown.model_type.substr(0, 80)));
  if (!unknown.readable_parts.empty()) {
    const auto& [part, family] = unknown.readable_parts.front();
    error.cure = fmt::format("its {} is a {}: --class {} reads that part alone",
                             part, family->name, family->classes.front());
    return error;
  }
  error.cure = fmt::format(
      "where it is another name of a family that is known, say so; the "
      "nearest: {}",
      Nearest(unknown));
  return error;
}

}  // namespace

ModelConfig WithOverrides(ModelConfig config,
                          const std::vector<Override>& overrides,
                          const BuildOptions& options) {
  if (overrides.empty()) return config;
  const BuildResult loaded = BuildModel(config, options);
  for (const auto& [key, value] : loaded.log.derived) {
    config.root.Set(key, value);
  }
  config.is_loaded = true;
  ApplyOverrides(overrides, config.root);
  return config;
}

std::string FollowedLibrary() { return "transformers 5.23.0"; }

std::string FollowedLibrary(const Family& family) {
  if (family.name.starts_with("diffusers_")) return "diffusers 0.42.1";
  return FollowedLibrary();
}

std::variant<ReadModel, Refusal> ReadModelOf(const ModelConfig& config,
                                             const BuildOptions& options) {
  BuildResult result = BuildModel(config, options);
  if (result.unknown) return Refusal{{ErrorOf(config, *result.unknown)}};
  if (!result.built) return Refusal{result.log.problems};
  ReadModel out;
  out.parameters = AnalyzeParameters(*result.built->graph);
  out.built = std::move(*result.built);
  out.log = std::move(result.log);
  // What the reader noticed comes before what the family did.
  out.log.findings.insert(out.log.findings.begin(), config.notes.begin(),
                          config.notes.end());
  out.unread = std::move(result.unread);
  return out;
}

}  // namespace foretell
