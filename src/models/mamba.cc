// Mamba: a stack of selective state-space layers without attention, as Gu and
// Dao published it with its first checkpoints; FalconMamba is the same with
// norms inside its mixers.
//
// Source: transformers 5.23, models/{mamba,falcon_mamba}/modeling_*.py and
// configuration_*.py.
#include <array>
#include <optional>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/mamba_mixer.h"
#include "models/layers/mamba_stack.h"
#include "models/layers/read_mamba.h"

namespace foretell {
namespace {

std::unique_ptr<Model> BuildStack(const MambaConfig& settings,
                                  const Module& root, bool has_head) {
  auto model = std::make_unique<MambaStack<MambaMixer, MambaConfig>>(
      root, settings, has_head);
  model->stacks.push_back({"decoder", settings.layers});
  model->states.assign(static_cast<size_t>(settings.layers),
                       StateOf(settings.mixer));
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  return BuildStack(ReadMamba(config), root, class_name != "MambaModel");
}

std::unique_ptr<Model> BuildFalcon(const ConfigView& config, const Module& root,
                                   std::string_view class_name) {
  MambaConfig settings = ReadMamba(config);
  settings.mixer.mixer_norm_epsilon = config.Real({"mixer_rms_eps"}, 1e-6);
  CheckFields(config, {{"mixer_rms_eps", FieldKind::kFloat}});
  // Whether mambapy is asked for, which is not installed.
  config.Ignore({"use_falcon_mambapy"});
  return BuildStack(settings, root, class_name != "FalconMambaModel");
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mamba"};
constexpr std::array<std::string_view, 2> kClasses = {"MambaForCausalLM",
                                                      "MambaModel"};
constexpr std::array<std::string_view, 1> kFalconTypes = {"falcon_mamba"};
constexpr std::array<std::string_view, 2> kFalconClasses = {
    "FalconMambaForCausalLM", "FalconMambaModel"};

}  // namespace

extern const Family kMambaFamily = {
    .name = "mamba",
    .title = "Mamba",
    .doc =
        "Selective state-space layers: a short convolution and a scan over "
        "the tokens in place of attention, and no positions.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

extern const Family kFalconMambaFamily = {
    .name = "falcon_mamba",
    .title = "FalconMamba",
    .doc =
        "Mamba's layers, with a norm without weights on the time step and on "
        "what the scan writes and reads.",
    .model_types = kFalconTypes,
    .classes = kFalconClasses,
    .old_names = {},
    .build = BuildFalcon,
};

}  // namespace foretell
