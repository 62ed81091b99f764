// Nemotron H: blocks of one mixer each, which is Mamba 2, attention without
// positions, a feed-forward, or experts.
//
// Source: transformers 5.23, models/nemotron_h/modeling_nemotron_h.py and
// configuration_nemotron_h.py.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/group_router.h"
#include "models/layers/hybrid_attention.h"
#include "models/layers/hybrid_decoder.h"
#include "models/layers/mamba2_mixer.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_nemotron_h.h"
#include "models/layers/ungated_experts.h"

namespace foretell {
namespace {

// The weight is cast, and its product cast back.
struct ExactRmsNorm {
  ExactRmsNorm(const Module& at, int64_t width, double eps)
      : module(at), weight(at.Parameter("weight", {width})), epsilon(eps) {}

  Tensor Forward(const Tensor& input) const {
    const Scope scope = module.Enter();
    Tensor hidden = To(input, DType::kFloat32);
    const Tensor variance = MeanLast(PowScalar(hidden, 2));
    hidden = Mul(hidden, Rsqrt(AddScalar(variance, epsilon)));
    const auto weigh = [&] {
      const Tensor exact = To(module.builder().Read(weight), DType::kFloat32);
      return Mul(exact, hidden);
    };
    return To(weigh(), input.dtype());
  }

  Module module;
  ParameterId weight;
  double epsilon;
};

constexpr PlainMlpNames kMlpNames = {"up_proj", "down_proj", "act_fn"};

struct LatentMoe {
  LatentMoe(const Module& at, const NemotronHConfig& config)
      : module(at),
        experts(at.Child("experts", RegionKind::kExperts), config.experts),
        gate(at.Child("gate", RegionKind::kRouter), config.scored,
             config.routing),
        shared_experts(at.Child("shared_experts", RegionKind::kMlp), kMlpNames,
                       config.hidden, config.shared_intermediate,
                       config.mlp_bias, config.experts.activation) {
    if (!config.has_latent) return;
    fc1_latent_proj.emplace(at.Child("fc1_latent_proj", RegionKind::kLinear),
                            config.hidden, config.experts.hidden,
                            config.mlp_bias);
    fc2_latent_proj.emplace(at.Child("fc2_latent_proj", RegionKind::kLinear),
                            config.experts.hidden, config.hidden,
                            config.mlp_bias);
  }

  Tensor Forward(const Tensor& input, const HybridContext& context) const {
    const Scope scope = module.Enter();
    const Shape shape = input.shape();
    const Routing routing = gate.Forward(input);
    Tensor hidden = View(input, {-1, input.size(-1)});
    if (fc1_latent_proj) hidden = fc1_latent_proj->Forward(hidden);
    hidden = experts.Forward(hidden, routing, context.experts);
    if (fc2_latent_proj) hidden = fc2_latent_proj->Forward(hidden);
    hidden = View(hidden, shape);
    return Add(hidden, shared_experts.Forward(input));
  }

  Module module;
  UngatedExperts experts;
  GroupRouter gate;
  PlainMlp shared_experts;
  std::optional<Linear> fc1_latent_proj;
  std::optional<Linear> fc2_latent_proj;
};

struct NemotronHBlock {
  NemotronHBlock(const Module& at, const NemotronHConfig& config,
                 NemotronHLayer kind)
      : module(at),
        norm(at.Child("norm", RegionKind::kNorm), config.hidden,
             config.norm_epsilon) {
    switch (kind) {
      case NemotronHLayer::kRecurrent:
        mamba.emplace(at.Child("mixer", RegionKind::kMixer), config.mixer);
        return;
      case NemotronHLayer::kAttention:
        attention.emplace(at.Child("mixer", RegionKind::kAttention),
                          config.attention);
        return;
      case NemotronHLayer::kMoe:
        moe.emplace(at.Child("mixer", RegionKind::kMlp), config);
        return;
      case NemotronHLayer::kMlp:
        mlp.emplace(at.Child("mixer", RegionKind::kMlp), kMlpNames,
                    config.hidden, config.intermediate, config.mlp_bias,
                    config.experts.activation);
        return;
    }
  }

  Tensor Forward(const Tensor& input, const HybridContext& context,
                 HybridCache* cache) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {attention ? context.mask : Tensor(), context.position_ids});
    const Scope scope = module.Enter();
    const Tensor residual = input;
    Tensor hidden = norm.Forward(To(input, module.builder().dtype()));
    if (mamba) {
      hidden = mamba->Forward(hidden, cache ? &cache->recurrent : nullptr);
    } else if (attention) {
      hidden = attention->Forward(hidden, {}, context.mask, context.attention,
                                  cache ? &cache->attention : nullptr);
    } else if (moe) {
      hidden = moe->Forward(hidden, context);
    } else {
      hidden = mlp->Forward(hidden);
    }
    hidden = Add(residual, hidden);
    return hidden;
  }

  Module module;
  ExactRmsNorm norm;
  std::optional<Mamba2Mixer> mamba;
  std::optional<HybridAttention> attention;
  std::optional<LatentMoe> moe;
  std::optional<PlainMlp> mlp;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const NemotronHConfig settings = ReadNemotronH(config);
  HybridConfig hybrid;
  hybrid.vocabulary = settings.vocabulary;
  hybrid.hidden = settings.hidden;
  hybrid.layers = static_cast<int64_t>(settings.layers.size());
  hybrid.norm_epsilon = settings.norm_epsilon;
  hybrid.embeddings_name = "embeddings";
  hybrid.norm_name = "norm_f";
  hybrid.logits_in_float = true;
  hybrid.head.kind =
      class_name == "NemotronHModel" ? Head::kNone : Head::kCausalLm;
  hybrid.head.hidden = settings.hidden;
  hybrid.head.vocabulary = settings.vocabulary;
  using Layer = NemotronHBlock;
  auto model = std::make_unique<HybridDecoder<Layer, ExactRmsNorm>>(
      root, hybrid, [&](const Module& at, int64_t index) {
        return Layer(at, settings, settings.layers[static_cast<size_t>(index)]);
      });
  for (int64_t layer = 0; layer < hybrid.layers; ++layer) {
    const NemotronHLayer kind = settings.layers[static_cast<size_t>(layer)];
    if (kind == NemotronHLayer::kRecurrent) {
      model->Keep(layer, StateOf(settings.mixer),
                  RecurrentExtents(settings.mixer));
    } else if (kind == NemotronHLayer::kAttention) {
      model->Keep(layer, StateOf(settings.attention.heads, 0));
    }
  }
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"nemotron_h"};
constexpr std::array<std::string_view, 2> kClasses = {"NemotronHForCausalLM",
                                                      "NemotronHModel"};

}  // namespace

extern const Family kNemotronHFamily = {
    .name = "nemotron_h",
    .title = "Nemotron H",
    .doc =
        "Blocks of one mixer each: Mamba 2, attention without positions, a "
        "feed-forward, or experts.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
