// DeepSeek-V2: latent attention whose heads are turned as complex numbers, and
// from some layer on a feed-forward of many small experts beside shared ones.
//
// Source: transformers 5.23, models/deepseek_v2/modeling_deepseek_v2.py and
// configuration_deepseek_v2.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/functional.h"
#include "models/layers/group_router.h"
#include "models/layers/latent_attention.h"
#include "models/layers/latent_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

// weight [experts, hidden]; scores are a softmax, of which a token takes the
// best: of all experts, or, with several groups, of those whose best is best.
struct SoftmaxRouter {
  SoftmaxRouter(const Module& at, const ExpertsConfig& settings,
                const GroupRouting& groups)
      : module(at),
        config(settings),
        routing(groups),
        weight(at.Parameter("weight", {config.experts, config.hidden})) {}

  Routing Forward(const Tensor& hidden) const {
    AdaptedModule adapted(module);
    const Tensor rows = View(hidden, {-1, config.hidden});
    Routing out;
    out.logits = [&] {
      const Tensor exact = To(rows, DType::kFloat32);
      return ApplyLinear(exact, To(adapted.Read(weight), DType::kFloat32),
                         Tensor());
    }();
    Tensor scores = SoftmaxInFloat(out.logits, -1);
    // Names of the limited form, which live until the router returns.
    Tensor group_scores;
    Tensor group_places;
    Tensor group_mask;
    Tensor mask;
    if (routing.kept > 0) {
      const int64_t size = config.experts / routing.groups;
      group_scores =
          MaxLast(View(scores, {-1, routing.groups, size}), false).first;
      group_places = TopK(group_scores, routing.kept).second;
      group_mask = ZerosLike(group_scores);
      ScatterValue(group_mask, 1, group_places, 1);
      mask =
          Reshape(Expand(Unsqueeze(group_mask, -1), {-1, routing.groups, size}),
                  {-1, config.experts});
      scores = MaskedFill(scores, BitwiseNot(To(mask, DType::kBool)), 0);
    }
    std::tie(out.weights, out.experts) = TopK(scores, config.per_token);
    out.weights = MulScalar(out.weights, routing.scale);
    return out;
  }

  Module module;
  ExpertsConfig config;
  GroupRouting routing;  // no group is kept: all experts are looked at
  ParameterId weight;
};

void FindRouting(const ConfigView& config, std::string_view key,
                 std::string what, std::string fix) {
  config.Find("model/experts", Severity::kBlock, key, std::move(what),
              "the router's forward fails", std::move(fix));
}

// Groups are read by one of the two methods only.
GroupRouting ReadRouting(const ConfigView& config, int64_t experts) {
  GroupRouting out;
  out.kept = 0;
  out.scale = config.Real({"routed_scaling_factor"}, 1);
  CheckFields(config, {{"routed_scaling_factor", FieldKind::kFloat}});
  const ConfigValue* stated = config.Raw("topk_method");
  const std::string method =
      stated == nullptr ? "greedy"
                        : config.OptionalText({"topk_method"}).value_or("null");
  const auto groups = config.OptionalSize({"n_group"});
  const auto kept = config.OptionalSize({"topk_group"});
  if (method == "greedy") return out;
  if (method != "group_limited_greedy") {
    FindRouting(
        config, "topk_method",
        fmt::format("the class has no topk_method {}", method.substr(0, 40)),
        "write greedy or group_limited_greedy");
    return out;
  }
  if (!groups || !kept || experts % groups.value_or(1) != 0 ||
      kept.value_or(0) > groups.value_or(0)) {
    FindRouting(config, "n_group",
                fmt::format("{} experts are not to be chosen from topk_group "
                            "of n_group groups",
                            experts),
                "choose an n_group that divides them, and a topk_group of at "
                "most as many");
    return out;
  }
  out.groups = *groups;
  out.kept = *kept;
  return out;
}

SharedExpertsKeys ReadExperts(const ConfigView& config,
                              const DecoderKeys& keys) {
  SharedExpertsKeys out;
  ExpertsConfig& experts = out.experts;
  experts.hidden = keys.decoder.hidden;
  experts.activation = keys.activation;
  experts.intermediate = config.SizeOrZero({"moe_intermediate_size"}, 1407);
  experts.experts = config.SizeOrZero({"num_experts", "n_routed_experts"}, 64);
  const auto per_token = config.OptionalInteger({"num_experts_per_tok"});
  if (!per_token || *per_token < 0) {
    FindRouting(config, "num_experts_per_tok",
                "num_experts_per_tok is no number of experts",
                "state how many experts a token meets");
  }
  experts.per_token = std::max<int64_t>(0, per_token.value_or(0));
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  CheckExpertsPerToken(config, experts);
  out.routing = ReadRouting(config, experts.experts);
  out.shared_intermediate =
      experts.intermediate * config.SizeOrZero({"n_shared_experts"}, 2);
  out.shared_bias = config.Flag({"mlp_bias"}, false);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  LatentConfig attention = ReadLatent(config, {.hidden = 4096,
                                               .heads = 32,
                                               .kv_heads = std::nullopt,
                                               .dropout_may_be_null = true});
  attention.turn = LatentTurn::kComplex;
  if (!config.config().is_loaded && attention.hidden % attention.heads != 0) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            attention.hidden, attention.heads),
                "the class refuses the configuration as it loads",
                "choose a divisor of hidden_size");
  }
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden, {.vocabulary = 102400});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = ReadTurnedDim(config, attention, true)});
  CheckLatentRope(config, decoder.rope, attention);
  decoder.rope.is_complex = true;
  const SharedExpertsKeys experts = ReadExperts(config, keys);
  const int64_t dense = config.Whole({"first_k_dense_replace"}, 0);
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"norm_topk_prob", FieldKind::kFlag, true},
                       {"attention_dropout", FieldKind::kFloat, true},
                       {"pretraining_tp", FieldKind::kWhole, true}});
  // Settings of the published code that the library's class does not have.
  config.Ignore({"aux_loss_alpha", "ep_size", "moe_layer_freq", "scoring_func",
                 "seq_aux"});

  using Layer = LatentLayer<SoftmaxRouter>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(at, attention, decoder.norm_epsilon, index >= dense,
                     experts, keys.intermediate);
      });
  model->states.assign(static_cast<size_t>(decoder.layers), StateOf(attention));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"deepseek_v2"};
constexpr std::array<std::string_view, 3> kClasses = {
    "DeepseekV2ForCausalLM", "DeepseekV2Model",
    "DeepseekV2ForSequenceClassification"};

}  // namespace

extern const Family kDeepseekV2Family = {
    .name = "deepseek_v2",
    .title = "DeepSeek-V2",
    .doc =
        "Latent attention turned as complex numbers, and a feed-forward of "
        "many small experts beside shared ones.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
