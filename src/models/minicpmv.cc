// MiniCPM-V by its own code: a text model, which the version tells, beside
// SigLIP's layers and a resampler of learned queries.
//
// transformers 5.23 has no such class. Source: "MiniCPM-V" (arXiv 2408.01800),
// published configurations and tensor names, and headers' totals, which it
// reproduces.
#include <fmt/format.h>

#include <array>
#include <string>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/tower_module.h"
#include "models/layers/vit_tower.h"

namespace foretell {
namespace {

// A number in some files, a text in others.
std::string ReadVersion(const ConfigView& config) {
  const ConfigValue* value = config.Raw("version");
  if (value == nullptr) return {};
  if (const auto text = value->AsString()) return std::string(*text);
  const auto number = value->AsReal();
  return number ? fmt::format("{:.1f}", *number) : std::string();
}

std::string_view TextClassOf(const ConfigView& config,
                             const std::string& version) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4>
      kClasses = {{{"2.5", "LlamaForCausalLM"},
                   {"2.6", "Qwen2ForCausalLM"},
                   {"4.0", "LlamaForCausalLM"},
                   {"4.5", "Qwen3ForCausalLM"}}};
  for (const auto& [name, text] : kClasses) {
    if (name == version) return text;
  }
  config.Problem("version",
                 fmt::format("is \"{}\", which tells no text model here",
                             version.substr(0, 20)),
                 "known are 2.5, 2.6, 4.0 and 4.5");
  return "Qwen2ForCausalLM";
}

void AddResampler(const TowerModule& at, int64_t queries, int64_t vision,
                  int64_t hidden) {
  at.Parameter("query", {queries, hidden});
  at.Parameter("proj", {hidden, hidden});
  at.Linear("kv_proj", vision, hidden, false);
  const TowerModule attention = at.Child("attn", RegionKind::kAttention);
  attention.Parameter("in_proj_weight", {3 * hidden, hidden});
  attention.Parameter("in_proj_bias", {3 * hidden});
  attention.Linear("out_proj", hidden, hidden, true);
  for (const std::string_view name : {"ln_q", "ln_kv", "ln_post"}) {
    at.LayerNorm(name, hidden);
  }
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const std::string version = ReadVersion(config);
  const int64_t queries = config.Size({"query_num"}, 64);
  const bool drops_last = config.Flag({"drop_vision_last_layer"}, true);
  config.Ignore({"batch_vision_input", "image_size", "patch_size",
                 "slice_config", "slice_mode", "use_image_id",
                 "vision_batch_size", "use_vision", "max_window_layers"});
  return MakeComposite(
      config, root, class_name,
      {.text_class = TextClassOf(config, version),
       .text_name = "llm",
       .base_name = "",
       .holds_head = true,
       .may_be_flat = true},
      [](const Module&, int64_t) {},
      [&](const Module& base, int64_t hidden) {
        const VitTower tower = AddVitTower(
            config.Nested("vision_config"), base.Child("vpm"),
            drops_last ? VitKind::kMiniCpmShort : VitKind::kMiniCpm);
        AddResampler(TowerModule(base).Child("resampler"), queries,
                     tower.hidden, hidden);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"minicpmv"};
constexpr std::array<std::string_view, 1> kClasses = {"MiniCPMV"};

}  // namespace

extern const Family kMiniCpmVFamily = {
    .name = "minicpmv",
    .title = "MiniCPM-V",
    .doc =
        "Llama, Qwen2 or Qwen3 beside SigLIP's layers and a resampler; "
        "parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the MiniCPM-V report (arXiv 2408.01800) and published files",
    .has_operations = false,
};

}  // namespace foretell
