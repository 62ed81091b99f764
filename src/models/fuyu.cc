// Fuyu: Persimmon that reads an image's patches through one product.
//
// Source: transformers 5.23, models/fuyu/modeling_fuyu.py and
// configuration_fuyu.py. It does not model their operations.
#include <array>
#include <utility>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

// FuyuConfig's own defaults of its text model.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7>
    kTextDefaults = {{{"vocab_size", "262144"},
                      {"hidden_size", "4096"},
                      {"intermediate_size", "16384"},
                      {"num_hidden_layers", "36"},
                      {"num_attention_heads", "64"},
                      {"max_position_embeddings", "16384"},
                      {"qk_layernorm", "true"}}};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  config.Ignore({"image_token_id"});
  const int64_t patch = config.Size({"patch_size"}, 30);
  const int64_t channels = config.Size({"num_channels"}, 3);
  config.Ignore({"image_size"});
  return MakeComposite(
      config, root, class_name,
      {.text_class = "PersimmonForCausalLM",
       .may_be_flat = true,
       .text_defaults = kTextDefaults,
       .run = TextRun{}},
      {}, [&](const Module& base, int64_t hidden) {
        const int64_t area = ProductOf(config, "patch_size", patch, patch);
        TowerModule(base).Linear(
            "vision_embed_tokens",
            ProductOf(config, "num_channels", area, channels), hidden, true);
      });
}

constexpr std::array<std::string_view, 1> kTypes = {"fuyu"};
constexpr std::array<std::string_view, 2> kClasses = {"FuyuForCausalLM",
                                                      "FuyuModel"};

}  // namespace

extern const Family kFuyuFamily = {
    .name = "fuyu",
    .title = "Fuyu",
    .doc =
        "Persimmon that reads patches of an image; its steps are of text "
        "alone.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
