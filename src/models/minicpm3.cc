// MiniCPM3: latent attention as DeepSeek-V2's, its turned dims in two halves,
// with embeddings, branches and the head's input scaled by constants.
//
// Source: transformers 5.23, models/minicpm3/modeling_minicpm3.py and
// configuration_minicpm3.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/latent_attention.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct MiniCpm3Settings {
  int64_t intermediate = 0;
  Activation activation = Activation::kSilu;
  bool mlp_bias = false;
  double norm_epsilon = 0;
  double residual_multiplier = 1;
};

struct MiniCpm3Layer {
  MiniCpm3Layer(const Module& at, const LatentConfig& attention,
                const MiniCpm3Settings& settings)
      : module(at),
        multiplier(settings.residual_multiplier),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden,
            settings.intermediate, settings.mlp_bias, settings.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, settings.norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, settings.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context.rotary, context.mask,
                               context.attention, cached);
    hidden = Add(residual, MulScalar(hidden, multiplier));
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    return Add(residual, MulScalar(hidden, multiplier));
  }

  Module module;
  double multiplier;
  LatentAttention self_attn;
  GatedMlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
};

// scale_depth over the root of the number of layers; a null scales nothing.
double ReadBranchScale(const ConfigView& config, int64_t layers) {
  const double root =
      std::sqrt(static_cast<double>(std::max<int64_t>(layers, 1)));
  const bool is_null =
      config.Raw("scale_depth") != nullptr && !config.Has("scale_depth");
  return is_null ? 1 : config.Real({"scale_depth"}, 1.4) / root;
}

// hidden_size over dim_model_base, which a null makes one.
double ReadDivisor(const ConfigView& config, int64_t hidden) {
  const bool is_null =
      config.Raw("dim_model_base") != nullptr && !config.Has("dim_model_base");
  const int64_t base = is_null ? hidden : config.Size({"dim_model_base"}, 256);
  return static_cast<double>(hidden) / static_cast<double>(base);
}

// The scale of embeddings: a buffer of whole numbers where the file writes one.
bool ReadsWholeScale(const ConfigView& config) {
  const ConfigValue* scale = config.Raw("scale_emb");
  config.Real({"scale_emb"}, 12);
  return scale == nullptr ||
         scale->spelling().find_first_of(".eEnN") == std::string::npos;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const int64_t hidden = config.Size({"hidden_size"}, 2560);
  const int64_t heads = config.Size({"num_attention_heads"}, 40);
  LatentConfig attention =
      ReadLatent(config, {.hidden = 2560,
                          .heads = 40,
                          .kv_heads = 40,
                          .q_rank = 768,
                          .kv_rank = 256,
                          .nope_dim = 64,
                          .rope_dim = 32,
                          .value_dim = std::max<int64_t>(hidden / heads, 1),
                          .dropout_may_be_null = true});
  attention.turn = LatentTurn::kHalves;
  if (hidden % heads != 0 && !config.config().is_loaded) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            hidden, heads),
                "MiniCPM3Config refuses the configuration as it loads",
                "choose a number of heads that divides hidden_size");
  }
  DecoderKeys keys = ReadDecoder(config, class_name, hidden,
                                 {.vocabulary = 73448,
                                  .intermediate = 6400,
                                  .positions = 32768,
                                  .norm_epsilon = 1e-5,
                                  .layers = 62,
                                  .ties = true});
  DecoderConfig& decoder = keys.decoder;
  decoder.scales_embeddings = true;
  decoder.scale_is_whole = ReadsWholeScale(config);
  decoder.head.hidden_divisor = ReadDivisor(config, hidden);
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.rope_dim});
  CheckLatentRope(config, decoder.rope, attention);
  MiniCpm3Settings settings;
  settings.intermediate = keys.intermediate;
  settings.activation = keys.activation;
  settings.mlp_bias = config.Flag({"mlp_bias"}, false);
  settings.norm_epsilon = decoder.norm_epsilon;
  settings.residual_multiplier = ReadBranchScale(config, decoder.layers);
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole, true}});
  // Worked out as the class loads, whatever the file says.
  config.Ignore({"head_dim", "qk_head_dim"});

  auto model = std::make_unique<Decoder<MiniCpm3Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return MiniCpm3Layer(at, attention, settings);
      });
  model->states.assign(static_cast<size_t>(decoder.layers), StateOf(attention));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"minicpm3"};
constexpr std::array<std::string_view, 3> kClasses = {
    "MiniCPM3ForCausalLM", "MiniCPM3Model",
    "MiniCPM3ForSequenceClassification"};

}  // namespace

extern const Family kMinicpm3Family = {
    .name = "minicpm3",
    .title = "MiniCPM3",
    .doc =
        "A decoder of latent attention with embeddings, branches and logits "
        "scaled by constants; MiniCPM3-4B.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
