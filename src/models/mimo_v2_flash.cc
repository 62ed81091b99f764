// MiMo-V2-Flash: values narrower than queries and keys, sinks and twice the key
// heads where a layer attends to a window, and experts chosen by groups.
//
// Source: transformers 5.23, models/mimo_v2_flash/modeling_mimo_v2_flash.py and
// configuration_mimo_v2_flash.py.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/kind_ropes.h"
#include "models/layers/mimo_attention.h"
#include "models/layers/own_attention_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_mlp_types.h"
#include "models/layers/shared_expert_mlp.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

// Experts and their router, and nothing beside them.
struct MimoSparseMlp {
  MimoSparseMlp(const Module& at, const SharedExpertsKeys& keys)
      : module(at),
        experts(at.Child("experts", RegionKind::kExperts), keys.experts),
        gate(at.Child("gate", RegionKind::kRouter), keys.experts,
             keys.routing) {}

  Tensor Forward(const Tensor& input, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Routing routing = gate.Forward(input);
    if (gate.config.keeps_logits) {
      call.router_logits->push_back(routing.logits);
    }
    const Shape shape = input.shape();
    const Tensor rows = View(input, {-1, input.size(-1)});
    return View(experts.Forward(rows, routing, call.experts), shape);
  }

  Module module;
  FusedExperts experts;
  GroupRouter gate;
};

MimoAttentionConfig ReadAttention(const ConfigView& config) {
  MimoAttentionConfig out;
  AttentionConfig& heads = out.heads;
  heads = ReadHeads(config, {.hidden = 4096, .heads = 64});
  heads.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, heads);
  heads.head_dim = config.Size({"head_dim"}, 192);
  heads.qkv_bias = config.Flag({"attention_bias"}, false);
  out.value_dim = config.Size({"v_head_dim"}, 128);
  const ConfigValue* scale = config.Raw("attention_value_scale");
  out.value_scale =
      scale == nullptr
          ? config.Real({"attention_value_scale"}, 0.707)
          : config.OptionalReal({"attention_value_scale"}).value_or(1);
  CheckFields(config, {{"attention_value_scale", FieldKind::kFloat, true}});
  return out;
}

// The first layer and every sixth attend fully, the others to a window; a
// published size counts the tokens before the query.
WindowedLayers ReadWindows(const ConfigView& config, int64_t layers) {
  WindowedLayers out = ReadListedWindows(
      config, layers, 129,
      [](int64_t layer) { return layer != 0 && (layer + 1) % 6 != 0; });
  const auto before = config.OptionalInteger({"sliding_window_size"});
  if (before && !config.config().is_loaded) {
    out.window = std::max<int64_t>(0, *before + 1);
    config.Derive("sliding_window",
                  ConfigValue::Number(std::to_string(*before + 1)));
  }
  return out;
}

void CheckWindowHeads(const ConfigView& config, const WindowedLayers& windows,
                      const AttentionConfig& heads) {
  if (!windows.any_slides || heads.heads % (2 * heads.kv_heads) == 0) return;
  config.Find("model/kv-heads", Severity::kBlock, "num_key_value_heads",
              "layers with a window have twice as many key heads, which do not "
              "divide num_attention_heads",
              "each key and value head serves a whole number of query heads; "
              "the forward fails on the shapes",
              "choose fewer key and value heads");
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  MimoAttentionConfig attention = ReadAttention(config);
  AttentionConfig& heads = attention.heads;
  DecoderKeys keys = ReadDecoder(config, class_name, heads.hidden,
                                 {.vocabulary = 152576,
                                  .intermediate = 16384,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 48});
  DecoderConfig& decoder = keys.decoder;
  const WindowedLayers windows = ReadWindows(config, decoder.layers);
  CheckWindowHeads(config, windows, heads);
  decoder.window = windows.any_slides ? windows.window : 0;
  decoder.mixes_masks = windows.Mixes();
  decoder.is_eager_only = true;
  decoder.kinds =
      ReadKindRopes(config, windows,
                    {.positions = keys.positions,
                     .head_dim = heads.head_dim,
                     .default_part = 0.334,
                     .defaults = {{"full_attention", 5e6, 0.334},
                                  {"sliding_attention", 10000, 0.334}}});
  // The published files state the factor as null, which counts for 1.
  SharedExpertsKeys experts = ReadSharedExperts(config, "num_local_experts",
                                                decoder.hidden, keys.activation,
                                                {.intermediate = 2048,
                                                 .experts = 256,
                                                 .groups = 1,
                                                 .kept = 1,
                                                 .scale = 1,
                                                 .scale_may_be_null = true,
                                                 .has_shared = false});
  const std::vector<bool> sparse = ReadMlpTypes(config, decoder.layers, 1);
  // The published code's names of what the library's class works out itself.
  config.Ignore({"swa_rope_theta", "attention_chunk_size",
                 "swa_num_attention_heads", "swa_num_key_value_heads",
                 "swa_head_dim", "swa_v_head_dim", "hybrid_layer_pattern",
                 "moe_layer_freq", "n_shared_experts", "scoring_func",
                 "topk_method", "layernorm_epsilon",
                 "add_swa_attention_sink_bias", "add_full_attention_sink_bias",
                 "mlp_bias"});

  using Mlp = SparseOrDense<MimoSparseMlp>;
  using Layer = OwnAttentionLayer<MimoAttention, Mlp>;
  const int64_t key_heads = heads.kv_heads;
  const auto set_layer = [&](int64_t index) {
    heads.window = windows.WindowOf(index);
    heads.has_sinks = windows.Slides(index);
    heads.kv_heads = heads.has_sinks ? 2 * key_heads : key_heads;
  };
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        set_layer(index);
        MimoAttention self_attn(at.Child("self_attn", RegionKind::kAttention),
                                attention);
        const Module mlp = at.Child("mlp", RegionKind::kMlp);
        Mlp feed_forward;
        if (sparse[static_cast<size_t>(index)]) {
          feed_forward.sparse.emplace(mlp, experts);
        } else {
          feed_forward.dense.emplace(mlp, decoder.hidden, keys.intermediate,
                                     false, keys.activation);
        }
        return Layer(at, std::move(self_attn), std::move(feed_forward),
                     decoder.hidden, decoder.norm_epsilon);
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    set_layer(layer);
    LayerState state = StateOf(heads, heads.window);
    state.value_dim = attention.value_dim;
    model->states.push_back(state);
  }
  model->context_length.tokens = keys.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mimo_v2_flash"};
constexpr std::array<std::string_view, 2> kClasses = {"MiMoV2FlashForCausalLM",
                                                      "MiMoV2FlashModel"};

}  // namespace

extern const Family kMiMoV2FlashFamily = {
    .name = "mimo_v2_flash",
    .title = "MiMo-V2-Flash",
    .doc =
        "Most layers attend to a short window with learned sinks; values are "
        "narrower than keys, and experts are chosen by a corrected sigmoid.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
