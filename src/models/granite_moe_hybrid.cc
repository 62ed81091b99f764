// GraniteMoeHybrid (Granite 4): Mamba 2 layers with a few of attention among
// them, before a gated feed-forward and, in some, experts; what each part gives
// is scaled.
//
// Source: transformers 5.23, models/granitemoehybrid/
// modeling_granitemoehybrid.py and configuration_granitemoehybrid.py.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
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
#include "models/layers/mamba2_mixer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/read_hybrid.h"
#include "models/layers/read_mamba2.h"

namespace foretell {
namespace {

constexpr std::string_view kRecurrent = "linear_attention";
constexpr std::string_view kFull = "full_attention";

struct Settings {
  HybridAttentionConfig attention;
  Mamba2Config mixer;
  ExpertsConfig experts;
  int64_t shared_intermediate = 0;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
  double residual_multiplier = 1;
};

struct SharedMlp {
  SharedMlp(const Module& at, const Settings& settings)
      : module(at),
        intermediate(settings.shared_intermediate),
        activation(at.Child("activation"), settings.activation),
        input_linear(at.Child("input_linear", RegionKind::kLinear),
                     settings.attention.heads.hidden, 2 * intermediate, false),
        output_linear(at.Child("output_linear", RegionKind::kLinear),
                      intermediate, settings.attention.heads.hidden, false) {}

  Tensor Forward(const Tensor& input) const {
    const Scope scope = module.Enter();
    Tensor hidden = input_linear.Forward(input);
    const std::vector<Tensor> halves = Split(hidden, intermediate, -1);
    if (halves.size() != 2) return input;  // the graph has failed already
    hidden = Mul(activation.Forward(halves[0]), halves[1]);
    return output_linear.Forward(hidden);
  }

  Module module;
  int64_t intermediate;
  ActivationModule activation;
  Linear input_linear;
  Linear output_linear;
};

// Softmax is over the scores of the chosen alone.
struct Router {
  Router(const Module& at, const ExpertsConfig& settings)
      : module(at),
        config(settings),
        weight(at.Parameter("weight", {config.experts, config.hidden})) {}

  Routing Forward(const Tensor& rows) const {
    AdaptedModule adapted(module);
    Routing out;
    const auto score = [&] {
      const Tensor scores = ApplyLinear(rows, adapted.Read(weight), Tensor());
      return To(scores, DType::kFloat32);
    };
    out.logits = score();
    auto [best, experts] = TopK(out.logits, config.per_token);
    const auto share = [&] { return To(SoftmaxOp(best, -1), rows.dtype()); };
    out.weights = share();
    out.experts = std::move(experts);
    return out;
  }

  Module module;
  ExpertsConfig config;
  ParameterId weight;
};

struct SparseMoe {
  SparseMoe(const Module& at, const ExpertsConfig& config)
      : module(at),
        router(at.Child("router", RegionKind::kRouter), config),
        experts(at.Child("experts", RegionKind::kExperts), config) {}

  Tensor Forward(const Tensor& input, const HybridContext& context) const {
    const Scope scope = module.Enter();
    const Shape shape = input.shape();
    const Tensor hidden = Reshape(input, {-1, input.size(-1)});
    const Routing routing = router.Forward(hidden);
    if (router.config.keeps_logits) {
      context.router_logits->push_back(routing.logits);
    }
    const Tensor output = experts.Forward(hidden, routing, context.experts);
    return View(output, shape);
  }

  Module module;
  Router router;
  FusedExperts experts;
};

struct GraniteLayer {
  GraniteLayer(const Module& at, const Settings& settings, bool attends)
      : module(at),
        multiplier(settings.residual_multiplier),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        settings.attention.heads.hidden, settings.norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            settings.attention.heads.hidden, settings.norm_epsilon),
        block_sparse_moe(MakeMoe(at, settings)),
        shared_mlp(at.Child("shared_mlp", RegionKind::kMlp), settings) {
    if (attends) {
      self_attn.emplace(at.Child("self_attn", RegionKind::kAttention),
                        settings.attention);
    } else {
      mamba.emplace(at.Child("mamba", RegionKind::kMixer), settings.mixer);
    }
  }

  static std::optional<SparseMoe> MakeMoe(const Module& at,
                                          const Settings& settings) {
    if (settings.experts.experts == 0) return std::nullopt;
    return SparseMoe(at.Child("block_sparse_moe", RegionKind::kMlp),
                     settings.experts);
  }

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {self_attn ? context.mask : Tensor(), context.rotary.first,
         context.rotary.second});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    hidden = mamba ? mamba->Forward(hidden, cache ? &cache->recurrent : nullptr)
                   : self_attn->Forward(hidden, context.rotary, context.mask,
                                        context.attention,
                                        cache ? &cache->attention : nullptr);
    hidden = Add(residual, MulScalar(hidden, multiplier));
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    if (block_sparse_moe) {
      const Tensor chosen = block_sparse_moe->Forward(hidden, context);
      hidden = Add(chosen, shared_mlp.Forward(hidden));
      return Add(residual, MulScalar(hidden, multiplier));
    }
    hidden = shared_mlp.Forward(hidden);
    return Add(residual, MulScalar(hidden, multiplier));
  }

  Module module;
  double multiplier;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
  std::optional<SparseMoe> block_sparse_moe;
  SharedMlp shared_mlp;
  std::optional<HybridAttention> self_attn;
  std::optional<Mamba2Mixer> mamba;
};

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts"}, 8);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  if (experts.experts > 0) CheckExpertsPerToken(config, experts);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  CheckFields(config, {{"router_aux_loss_coef", FieldKind::kFloat, true}});
  return experts;
}

// The kinds of the layers; nothing said: none attends.
std::vector<std::string> ReadTypes(const ConfigView& config, int64_t layers) {
  std::vector<std::string> types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    types.assign(static_cast<size_t>(layers), std::string(kRecurrent));
  }
  for (const std::string& type : types) {
    if (type == kRecurrent || type == kFull) continue;
    config.Find("model/layer-types", Severity::kBlock, "layer_types",
                "the class knows no layer of kind " + type.substr(0, 40),
                "its forward finds no mask of that kind",
                "write linear_attention or full_attention for each layer");
    break;
  }
  return types;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  Settings settings;
  AttentionConfig& heads = settings.attention.heads;
  heads = ReadHybridHeads(config, {});
  heads.qkv_bias = config.Flag({"attention_bias"}, false);
  heads.output_bias = heads.qkv_bias;
  heads.scale = config.Real({"attention_multiplier"}, 1);
  const DecoderKeys keys = ReadDecoder(config, class_name, heads.hidden, {});
  settings.activation = keys.activation;
  settings.norm_epsilon = keys.decoder.norm_epsilon;
  settings.shared_intermediate =
      config.Size({"shared_intermediate_size"}, 1024);
  settings.residual_multiplier = config.Real({"residual_multiplier"}, 1);
  settings.experts = ReadExperts(config, keys);
  settings.mixer =
      ReadHybridMixer(config, heads.hidden, keys.decoder.norm_epsilon);
  settings.mixer.activation = keys.activation;
  HybridConfig hybrid = HybridOf(keys.decoder);
  hybrid.hides_positions = true;
  hybrid.fills_cache =
      hybrid.head.kind == Head::kCausalLm && config.Flag({"use_cache"}, true);
  hybrid.embedding_multiplier = config.Real({"embedding_multiplier"}, 1);
  hybrid.logit_divisor = config.Real({"logits_scaling"}, 1);
  const RopeConfig rope = ReadRope(config, {.default_theta = 10000,
                                            .positions = keys.positions,
                                            .head_dim = heads.head_dim});
  if (config.OptionalText({"position_embedding_type"}) == "rope") {
    hybrid.rope = rope;
  }
  const std::vector<std::string> types = ReadTypes(config, hybrid.layers);
  // Of the authors' own training.
  config.Ignore({"init_method", "normalization_function"});

  const auto attends = [&](int64_t layer) {
    const auto at = static_cast<size_t>(layer);
    return at < types.size() && types[at] != kRecurrent;
  };
  auto model = std::make_unique<HybridDecoder<GraniteLayer>>(
      root, hybrid, [&](const Module& at, int64_t index) {
        return GraniteLayer(at, settings, attends(index));
      });
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    if (attends(layer)) {
      model->Keep(layer, StateOf(heads, 0));
    } else {
      model->Keep(layer, StateOf(settings.mixer),
                  RecurrentExtents(settings.mixer));
    }
  }
  if (settings.experts.keeps_logits) {
    model->FinishWith(BalancedHybridLoss(settings.experts));
  }
  model->context_length = RopeContext(rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"granitemoehybrid"};
constexpr std::array<std::string_view, 2> kClasses = {
    "GraniteMoeHybridForCausalLM", "GraniteMoeHybridModel"};

}  // namespace

extern const Family kGraniteMoeHybridFamily = {
    .name = "granite_moe_hybrid",
    .title = "Granite 4",
    .doc =
        "Mamba 2 layers with a few of attention among them, before a gated "
        "feed-forward and, in some models, experts.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
