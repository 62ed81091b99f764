// Mamba 2: a stack of state-space layers whose scan is matrix products over
// chunks of the sequence, as Codestral Mamba has them.
//
// Source: transformers 5.23, models/mamba2/modeling_mamba2.py and
// configuration_mamba2.py.
#include <array>
#include <optional>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/mamba2_mixer.h"
#include "models/layers/mamba_stack.h"
#include "models/layers/read_mamba.h"
#include "models/layers/read_mamba2.h"

namespace foretell {
namespace {

using Config = MambaStackConfig<Mamba2Config>;

void CheckRest(const ConfigView& config) {
  CheckCommonFields(config);
  ReadLabels(config, false);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"pad_token_id", FieldKind::kWhole, true},
                       {"time_step_min", FieldKind::kFloat},
                       {"time_step_max", FieldKind::kFloat},
                       {"time_step_floor", FieldKind::kFloat},
                       {"rescale_prenorm_residual", FieldKind::kFlag}});
  // Left by the checkpoints' first class: this one works out the channels, has
  // the norm behind the gate, and reads no start values of the time step.
  config.Ignore({"intermediate_size", "norm_before_gate", "rms_norm",
                 "time_step_scale", "time_step_init_scheme"});
}

Config Read(const ConfigView& config) {
  Config out;
  CheckRest(config);
  CheckRecurrentLayers(config);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 32768);
  out.layers = config.Layers({"num_hidden_layers"}, 64);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, false);
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.residual_in_float32 = config.Flag({"residual_in_fp32"}, true);
  Mamba2Config& mixer = out.mixer;
  mixer.hidden = SizeOrEmpty(config, {"hidden_size"}, 4096);
  // Checked, and no longer used.
  ReadStepRank(config, mixer.hidden, out.layers);
  mixer.channels = ExpandedChannels(
      config, "expand", config.SizeOrZero({"expand"}, 2), mixer.hidden);
  mixer.heads = config.SizeOrZero({"num_heads"}, 128);
  mixer.head_dim = config.SizeOrZero({"head_dim"}, 64);
  mixer.groups = config.Size({"n_groups"}, 8);
  mixer.state = config.SizeOrZero({"state_size"}, 128);
  mixer.kernel = config.SizeOrZero({"conv_kernel"}, 4);
  mixer.chunk = config.Size({"chunk_size"}, 256);
  mixer.in_bias = config.Flag({"use_bias"}, false);
  mixer.out_bias = mixer.in_bias;
  mixer.conv_bias = config.Flag({"use_conv_bias"}, true);
  mixer.norm_epsilon = out.norm_epsilon;
  ReadStepLimit(config, mixer);
  CheckHeadsOfMixer(config, "num_heads", mixer);
  const std::string activation = config.Text({"hidden_act"}, "silu");
  // Looked up where a layer is built.
  if (out.layers > 0) {
    mixer.activation = ActivationNamed(config, "hidden_act", activation);
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const Config settings = Read(config);
  auto model = std::make_unique<MambaStack<Mamba2Mixer, Config>>(
      root, settings, class_name != "Mamba2Model");
  model->stacks.push_back({"decoder", settings.layers});
  model->states.assign(static_cast<size_t>(settings.layers),
                       StateOf(settings.mixer));
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mamba2"};
constexpr std::array<std::string_view, 2> kClasses = {"Mamba2ForCausalLM",
                                                      "Mamba2Model"};

}  // namespace

extern const Family kMamba2Family = {
    .name = "mamba2",
    .title = "Mamba 2",
    .doc =
        "State-space layers whose scan is matrix products over chunks of the "
        "sequence; no attention, and no positions.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
