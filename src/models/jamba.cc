// Jamba: Mamba layers with one of attention in each period, before a gated
// feed-forward that is experts in every other layer; no positions.
//
// Source: transformers 5.23, models/jamba/modeling_jamba.py and
// configuration_jamba.py.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/adapted_module.h"
#include "models/layers/check_fields.h"
#include "models/layers/experts.h"
#include "models/layers/functional.h"
#include "models/layers/hybrid_attention.h"
#include "models/layers/hybrid_decoder.h"
#include "models/layers/mamba_mixer.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/read_hybrid.h"
#include "models/layers/read_mamba.h"
#include "models/layers/read_mamba2.h"

namespace foretell {
namespace {

struct Settings {
  HybridAttentionConfig attention;
  MambaMixerConfig mixer;
  ExpertsConfig experts;
  double norm_epsilon = 0;
};

// The chosen weights of a softmax over all, as they are.
struct Router {
  Router(const Module& at, const ExpertsConfig& settings)
      : module(at),
        config(settings),
        weight(at.Parameter("weight", {config.experts, config.hidden})) {}

  Routing Forward(const Tensor& rows) const {
    AdaptedModule adapted(module);
    Routing out;
    out.logits = ApplyLinear(rows, adapted.Read(weight), Tensor());
    const Tensor shares = SoftmaxInFloat(out.logits, -1);
    auto [best, experts] = TopK(shares, config.per_token);
    out.weights = To(best, rows.dtype());
    out.experts = std::move(experts);
    return out;
  }

  Module module;
  ExpertsConfig config;
  ParameterId weight;
};

struct JambaMoe {
  JambaMoe(const Module& at, const ExpertsConfig& config)
      : module(at),
        router(at.Child("router", RegionKind::kRouter), config),
        experts(at.Child("experts", RegionKind::kExperts), config) {}

  Tensor Forward(const Tensor& input, const HybridContext& context) const {
    const Scope scope = module.Enter();
    const Shape shape = input.shape();
    Tensor hidden = View(input, {-1, input.size(-1)});
    const Routing routing = router.Forward(hidden);
    if (router.config.keeps_logits) {
      context.router_logits->push_back(routing.logits);
    }
    hidden = experts.Forward(hidden, routing, context.experts);
    return Reshape(hidden, shape);
  }

  Module module;
  Router router;
  FusedExperts experts;
};

struct JambaLayer {
  JambaLayer(const Module& at, const Settings& settings, bool attends,
             bool is_sparse)
      : module(at),
        self_attn(Made<HybridAttention>(
            attends, at.Child("self_attn", RegionKind::kAttention),
            settings.attention)),
        mamba(Made<MambaMixer>(!attends, at.Child("mamba", RegionKind::kMixer),
                               settings.mixer)),
        moe(Made<JambaMoe>(is_sparse,
                           at.Child("feed_forward", RegionKind::kMlp),
                           settings.experts)),
        mlp(Made<GatedMlp>(
            !is_sparse, at.Child("feed_forward", RegionKind::kMlp),
            settings.experts.hidden, settings.experts.intermediate, false,
            settings.experts.activation)),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        settings.experts.hidden, settings.norm_epsilon),
        pre_ff_layernorm(at.Child("pre_ff_layernorm", RegionKind::kNorm),
                         settings.experts.hidden, settings.norm_epsilon) {}

  template <class Part, class... Arguments>
  static std::optional<Part> Made(bool is_there, Arguments&&... arguments) {
    if (!is_there) return std::nullopt;
    return std::optional<Part>(std::in_place,
                               std::forward<Arguments>(arguments)...);
  }

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {self_attn ? context.mask : Tensor(), context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    hidden =
        mamba ? mamba->Forward(hidden, cache ? &cache->recurrent : nullptr)
              : self_attn->Forward(hidden, {}, context.mask, context.attention,
                                   cache ? &cache->attention : nullptr);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = pre_ff_layernorm.Forward(hidden);
    hidden = moe ? moe->Forward(hidden, context) : mlp->Forward(hidden);
    return Add(residual, hidden);
  }

  Module module;
  std::optional<HybridAttention> self_attn;
  std::optional<MambaMixer> mamba;
  std::optional<JambaMoe> moe;
  std::optional<GatedMlp> mlp;
  RmsNorm input_layernorm;
  RmsNorm pre_ff_layernorm;
};

// One layer in each period is of a kind.
struct Period {
  int64_t period = 1;
  int64_t offset = 0;
  bool Has(int64_t layer) const { return layer % period == offset; }
};

Period ReadPeriod(const ConfigView& config, std::string_view period_key,
                  int64_t period, std::string_view offset_key, int64_t offset) {
  Period out;
  out.period = config.Size({period_key}, period);
  out.offset = config.Whole({offset_key}, offset);
  if (out.offset >= out.period && !config.config().is_loaded) {
    config.Find("model/layer-types", Severity::kBlock, offset_key,
                fmt::format("{} {} is not below {} {}", offset_key, out.offset,
                            period_key, out.period),
                "the library refuses the configuration",
                fmt::format("choose an offset below {}", out.period));
  }
  return out;
}

MambaMixerConfig ReadMixer(const ConfigView& config, const DecoderKeys& keys) {
  MambaMixerConfig mixer;
  mixer.hidden = keys.decoder.hidden;
  mixer.channels = ExpandedChannels(
      config, "mamba_expand", config.Size({"mamba_expand"}, 2), mixer.hidden);
  mixer.state = config.SizeOrZero({"mamba_d_state"}, 16);
  mixer.kernel = config.SizeOrZero({"mamba_d_conv"}, 4);
  const ConfigValue* rank = config.Raw("mamba_dt_rank");
  if (rank == nullptr || (rank->is_string() && !config.config().is_loaded &&
                          config.Text({"mamba_dt_rank"}, "auto") == "auto")) {
    mixer.rank = (mixer.hidden + 15) / 16;
    config.Derive("mamba_dt_rank",
                  ConfigValue::Number(std::to_string(mixer.rank)));
  } else {
    mixer.rank = config.SizeOrZero({"mamba_dt_rank"}, 256);
  }
  mixer.bias = config.Flag({"mamba_proj_bias"}, false);
  mixer.conv_bias = config.Flag({"mamba_conv_bias"}, true);
  mixer.activation = keys.activation;
  mixer.weighted_norm_epsilon = keys.decoder.norm_epsilon;
  mixer.asks_kernel = false;
  return mixer;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Settings settings;
  AttentionConfig& heads = settings.attention.heads;
  heads = ReadHybridHeads(config, {.kv_heads = 8});
  const DecoderKeys keys = ReadDecoder(config, class_name, heads.hidden,
                                       {.vocabulary = 65536,
                                        .intermediate = 14336,
                                        .positions = 262144,
                                        .padding = 0});
  CheckRecurrentLayers(config);
  settings.norm_epsilon = keys.decoder.norm_epsilon;
  settings.mixer = ReadMixer(config, keys);
  ExpertsConfig& experts = settings.experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts", "num_experts"}, 16);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  const Period attention =
      ReadPeriod(config, "attn_layer_period", 8, "attn_layer_offset", 4);
  const Period sparse =
      ReadPeriod(config, "expert_layer_period", 2, "expert_layer_offset", 1);
  if (experts.experts > 1) CheckExpertsPerToken(config, experts);
  CheckFields(config, {{"router_aux_loss_coef", FieldKind::kFloat},
                       {"num_key_value_heads", FieldKind::kWhole},
                       {"attention_dropout", FieldKind::kNumber},
                       {"use_mamba_kernels", FieldKind::kFlag},
                       {"use_mambapy", FieldKind::kFlag},
                       {"use_associative_scan", FieldKind::kFlag}});
  // Read by the class of earlier versions.
  config.Ignore({"num_logits_to_keep", "sliding_window",
                 "calc_logits_for_entire_prompt", "attn_implementation",
                 "mamba_inner_layernorms"});

  HybridConfig hybrid = HybridOf(keys.decoder);
  hybrid.norm_name = "final_layernorm";
  auto model = std::make_unique<HybridDecoder<JambaLayer>>(
      root, hybrid, [&](const Module& at, int64_t index) {
        return JambaLayer(at, settings, attention.Has(index),
                          experts.experts > 1 && sparse.Has(index));
      });
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    if (attention.Has(layer)) {
      model->Keep(layer, StateOf(heads, 0));
    } else {
      model->Keep(layer, StateOf(settings.mixer),
                  RecurrentExtents(settings.mixer));
    }
  }
  if (experts.keeps_logits) {
    model->FinishWith(BalancedHybridLoss(experts));
  }
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"jamba"};
constexpr std::array<std::string_view, 3> kClasses = {
    "JambaForCausalLM", "JambaModel", "JambaForSequenceClassification"};

}  // namespace

extern const Family kJambaFamily = {
    .name = "jamba",
    .title = "Jamba",
    .doc =
        "Mamba layers with one of attention in each period, before a gated "
        "feed-forward that is experts in every other layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
