// Zamba 2: Mamba 2 layers, some of which take in what one of a few shared
// transformers makes of their input and of the embeddings.
//
// Source: transformers 5.23, models/zamba2/modeling_zamba2.py and
// configuration_zamba2.py.
// Does not model: Zamba2ForSequenceClassification; checkpointed blocks, which
// here hold checkpointed blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/hybrid_decoder.h"
#include "models/layers/mamba2_mixer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_mamba2.h"
#include "models/layers/zamba2_block.h"

namespace foretell {
namespace {

struct Settings {
  Zamba2BlockConfig block;
  Mamba2Config mixer;
  std::vector<bool> uses_block;        // per layer
  std::vector<int64_t> hybrid_layers;  // as the class numbers the adapters
};

struct MambaLayer {
  MambaLayer(const Module& at, const Settings& settings)
      : module(at),
        mamba(at.Child("mamba", RegionKind::kMixer), settings.mixer),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        settings.mixer.hidden, settings.block.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const Tensor& added,
                 HybridCache* cache) const {
    const Scope scope = module.Enter();
    const Tensor residual = input;
    Tensor hidden = added.empty() ? input : Add(input, added);
    hidden = input_layernorm.Forward(hidden);
    hidden = mamba.Forward(hidden, cache ? &cache->recurrent : nullptr);
    hidden = Add(residual, hidden);
    return hidden;
  }

  Module module;
  Mamba2Mixer mamba;
  RmsNorm input_layernorm;
};

struct Zamba2Layer {
  Zamba2Layer(const Module& at, const Settings& settings, int64_t index)
      : module(at) {
    if (!settings.uses_block[static_cast<size_t>(index)]) {
      mamba.emplace(at, settings);
      return;
    }
    // Counted among the layers that are there.
    const auto end = settings.uses_block.begin() + index;
    const auto before = std::count(settings.uses_block.begin(), end, true);
    const auto place = std::ranges::find(settings.hybrid_layers, index);
    adapter = place == settings.hybrid_layers.end()
                  ? -1
                  : place - settings.hybrid_layers.begin();
    linear.emplace(at.Child("linear", RegionKind::kLinear),
                   settings.block.hidden, settings.block.hidden, false);
    mamba.emplace(at.Child("mamba_decoder"), settings);
    const size_t first = at.builder().graph().parameters.size();
    block.emplace(at.Child("shared_transformer"), settings.block,
                  before % settings.block.blocks);
    for (size_t i = first; i < at.builder().graph().parameters.size(); ++i) {
      parameters.push_back(ParameterId{static_cast<uint32_t>(i)});
    }
  }

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    if (!block) {
      const CheckpointScope checkpoint(
          module.builder(), {input, context.embedded, context.mask},
          {context.position_ids, context.rotary.first, context.rotary.second});
      return mamba->Forward(input, Tensor(), cache);
    }
    if (module.builder().execution().checkpoint) {
      module.builder().Fail("checkpointed blocks within blocks");
    }
    const Scope scope = module.Enter();
    Tensor added = block->Forward(
        input, context.embedded, adapter, context.rotary, context.mask,
        context.attention, cache ? &cache->attention : nullptr);
    added = linear->Forward(added);
    return mamba->Forward(input, added, cache);
  }

  Module module;
  int64_t adapter = -1;
  std::optional<Linear> linear;
  std::optional<MambaLayer> mamba;
  std::optional<Zamba2Block> block;
  std::vector<ParameterId> parameters;  // of the block
};

// Which layers use a shared transformer; nothing said: the class's pattern.
std::vector<bool> ReadTypes(const ConfigView& config, int64_t layers) {
  std::vector<bool> out;
  const std::string_view key = config.Raw("layer_types") != nullptr
                                   ? "layer_types"
                                   : "layers_block_type";
  if (const auto names = config.TextList({key})) {
    for (const std::string& name : *names) out.push_back(name == "hybrid");
  } else {
    out.assign(54, false);
    for (const size_t at : {6, 12, 18, 24, 30, 36, 42, 47, 51}) out[at] = true;
  }
  const auto count = static_cast<size_t>(layers);
  if (config.log().most_layers == layers && out.size() > count) {
    out.resize(count);
  }
  if (out.size() != count) {
    config.Find("model/layer-types", Severity::kBlock, key,
                fmt::format("{} names {} layers, and num_hidden_layers is {}",
                            key, out.size(), layers),
                "the library refuses the configuration",
                fmt::format("list {} kinds", layers));
    out.resize(count);
  }
  return out;
}

// Names of earlier classes, and switches that the class does not look at.
void CheckRest(const ConfigView& config) {
  CheckCommonFields(config);
  ReadLabels(config, false);
  CheckFields(config, {{"rms_norm_eps", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"time_step_max", FieldKind::kFloat},
                       {"time_step_floor", FieldKind::kFloat},
                       {"use_mamba_kernels", FieldKind::kFlag},
                       {"use_conv_bias", FieldKind::kFlag},
                       {"use_mem_eff_path", FieldKind::kFlag},
                       {"num_logits_to_keep", FieldKind::kWhole}});
  config.Ignore({"time_step_limit", "kv_channels", "num_query_groups",
                 "use_shared_mlp_adapter", "conv_dimension", "expansion_factor",
                 "ffn_hidden_size", "ft_lora", "gated_linear_unit", "lora_rank",
                 "sliding_window", "state_size", "use_shared_attention_lora",
                 "use_shared_block_lora"});
}

// What the class works out unless a file states it.
int64_t Stated(const ConfigView& config, std::string_view key,
               int64_t otherwise) {
  if (config.Raw(key) != nullptr) return config.Size({key}, otherwise);
  config.Derive(key, ConfigValue::Number(std::to_string(otherwise)));
  return otherwise;
}

void ReadBlock(const ConfigView& config, Zamba2BlockConfig& block) {
  AttentionConfig& heads = block.attention;
  heads = ReadHeads(config, {.hidden = 2560, .heads = 32});
  block.hidden = heads.hidden;
  heads.kv_heads = SizeOrDerived(config, "num_key_value_heads", heads.heads);
  CheckKeyValueHeads(config, heads);
  heads.hidden = Stated(config, "attention_hidden_size", 2 * block.hidden);
  const std::string_view key =
      config.Raw("head_dim") != nullptr ? "head_dim" : "attention_head_dim";
  heads.head_dim =
      Stated(config, key, std::max<int64_t>(1, 2 * block.hidden / heads.heads));
  const auto stated = config.Raw("intermediate_size") == nullptr
                          ? std::nullopt
                          : config.OptionalInteger({"intermediate_size"});
  block.intermediate = stated && *stated > 0
                           ? config.Size({"intermediate_size"}, 1)
                           : 4 * block.hidden;
  block.adapter_rank = config.SizeOrZero({"adapter_rank"}, 128);
  block.blocks = config.Size({"num_mem_blocks"}, 1);
  block.adapts_attention = config.Flag({"use_shared_attention_adapter"}, false);
  block.turns = config.Flag({"use_mem_rope"}, false);
  block.mlp_bias = config.Flag({"add_bias_linear"}, false);
  block.norm_epsilon = config.Real({"rms_norm_eps"}, 1e-5);
}

void ReadMixer(const ConfigView& config, Settings& settings) {
  Mamba2Config& mixer = settings.mixer;
  mixer.hidden = settings.block.hidden;
  mixer.channels = ExpandedChannels(
      config, "mamba_expand", config.Size({"mamba_expand"}, 2), mixer.hidden);
  mixer.heads = config.Size({"n_mamba_heads"}, 8);
  mixer.head_dim = Stated(config, "mamba_headdim",
                          std::max<int64_t>(1, mixer.channels / mixer.heads));
  mixer.groups = config.Size({"mamba_ngroups"}, 1);
  mixer.state = config.SizeOrZero({"mamba_d_state"}, 64);
  mixer.kernel = config.SizeOrZero({"mamba_d_conv"}, 4);
  mixer.chunk = config.Size({"chunk_size"}, 256);
  mixer.in_bias = settings.block.mlp_bias;
  mixer.out_bias = mixer.in_bias;
  mixer.norm_epsilon = 1e-5;
  mixer.least_step = config.Real({"time_step_min"}, 0.001);
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Settings settings;
  CheckRest(config);
  ReadBlock(config, settings.block);
  ReadMixer(config, settings);
  HybridConfig hybrid;
  hybrid.vocabulary = config.SizeOrZero({"vocab_size"}, 32000);
  CheckPadding(config, hybrid.vocabulary, 0);
  hybrid.hidden = settings.block.hidden;
  hybrid.layers = config.Layers({"num_hidden_layers"}, 54);
  hybrid.norm_epsilon = settings.block.norm_epsilon;
  hybrid.norm_name = "final_layernorm";
  hybrid.clones_embeddings = true;
  hybrid.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  hybrid.head.kind =
      class_name == "Zamba2Model" ? Head::kNone : Head::kCausalLm;
  hybrid.head.hidden = hybrid.hidden;
  hybrid.head.vocabulary = hybrid.vocabulary;
  const std::string activation = config.Text({"hidden_act"}, "gelu");
  settings.uses_block = ReadTypes(config, hybrid.layers);
  for (size_t i = 0; i < settings.uses_block.size(); ++i) {
    if (settings.uses_block[i]) {
      settings.hybrid_layers.push_back(static_cast<int64_t>(i));
    }
  }
  if (!settings.hybrid_layers.empty()) {
    settings.block.activation =
        ActivationNamed(config, "hidden_act", activation);
  }
  if (const auto ids = config.IntegerList({"hybrid_layer_ids"})) {
    settings.hybrid_layers = *ids;
  }
  settings.block.adapters = static_cast<int64_t>(settings.hybrid_layers.size());
  int64_t positions = config.Size({"max_position_embeddings"}, 4096);
  if (config.Flag({"use_long_context"}, false)) positions = 16384;
  const RopeConfig rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = positions,
                        .head_dim = settings.block.attention.head_dim});
  if (settings.block.turns) hybrid.rope = rope;

  std::vector<std::vector<ParameterId>> blocks;
  auto model = std::make_unique<HybridDecoder<Zamba2Layer>>(
      root, hybrid, [&](const Module& at, int64_t index) {
        Zamba2Layer layer(at, settings, index);
        if (layer.block) blocks.push_back(layer.parameters);
        return layer;
      });
  const auto own = static_cast<size_t>(settings.block.blocks);
  for (size_t i = own; i < blocks.size(); ++i) {
    for (size_t j = 0; j < blocks[i].size(); ++j) {
      root.builder().Tie(blocks[i][j], blocks[i % own][j]);
    }
  }
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    model->Keep(layer, StateOf(settings.mixer),
                RecurrentExtents(settings.mixer));
    if (settings.uses_block[static_cast<size_t>(layer)]) {
      model->Keep(layer, StateOf(settings.block.attention, 0));
    }
  }
  model->context_length = RopeContext(rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"zamba2"};
constexpr std::array<std::string_view, 2> kClasses = {"Zamba2ForCausalLM",
                                                      "Zamba2Model"};

}  // namespace

extern const Family kZamba2Family = {
    .name = "zamba2",
    .title = "Zamba 2",
    .doc =
        "Mamba 2 layers, some of which take in what one of a few shared "
        "transformers makes of their input.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
