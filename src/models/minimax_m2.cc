// MiniMax-M2: attention whose queries and keys are normed as a whole, and
// experts that a corrected sigmoid chooses.
//
// Source: transformers 5.23, models/minimax_m2/modeling_minimax_m2.py and
// configuration_minimax_m2.py.
#include <array>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/adapted_module.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/functional.h"
#include "models/layers/jitter.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/split_rotary.h"

namespace foretell {
namespace {

// weight [experts, hidden]; the correction is the block's.
struct SigmoidRouter {
  SigmoidRouter(const Module& at, const ExpertsConfig& settings)
      : module(at),
        config(settings),
        weight(at.Parameter("weight", {config.experts, config.hidden})) {}

  Routing Forward(const Tensor& rows, const Tensor& correction) const {
    AdaptedModule adapted(module);
    const Tensor seen = View(rows, {-1, config.hidden});
    Routing out;
    const Tensor factors = adapted.Read(weight);
    out.logits = ApplyLinear(To(seen, factors.dtype()), factors, Tensor());
    const Tensor scores = Sigmoid(To(out.logits, DType::kFloat32));
    const Tensor choice = Add(scores, correction);
    const auto [best, experts] = TopK(choice, config.per_token);
    Tensor weights = Gather(scores, 1, experts);
    const auto sum = [&] { return SumOver(weights, -1, /*keep=*/true); };
    weights = DivInto(weights, sum());
    out.weights = std::move(weights);
    out.experts = experts;
    return out;
  }

  Module module;
  ExpertsConfig config;
  ParameterId weight;
};

struct MiniMaxMlp {
  MiniMaxMlp(const Module& at, const ExpertsConfig& settings)
      : module(at), config(settings) {
    at.Buffer("e_score_correction_bias", {config.experts}, at.builder().dtype(),
              /*persistent=*/true);
    correction = at.builder().graph().buffers.back().value;
    gate.emplace(at.Child("gate", RegionKind::kRouter), config);
    experts.emplace(at.Child("experts", RegionKind::kExperts), config);
  }

  Tensor Forward(Tensor hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Shape shape = hidden.shape();
    hidden = ApplyJitter(std::move(hidden), config.jitter);
    hidden = View(hidden, {-1, config.hidden});
    const Routing routing =
        gate->Forward(hidden, module.builder().Read(correction));
    if (config.keeps_logits) call.router_logits->push_back(routing.logits);
    hidden = experts->Forward(hidden, routing, call.experts);
    return View(hidden, shape);
  }

  Module module;
  ExpertsConfig config;
  ValueId correction;
  std::optional<SigmoidRouter> gate;
  std::optional<FusedExperts> experts;
};

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 3072, .heads = 48});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 128);
  attention.qk_norm = QkNorm::kWhole;
  attention.projects_first = true;
  attention.turn = ApplySplitRotary;
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts =
      config.SizeOrZero({"num_experts", "num_local_experts"}, 256);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 8);
  experts.jitter = config.Real({"router_jitter_noise"}, 0);
  CheckExpertsPerToken(config, experts);
  CheckFields(config, {{"router_jitter_noise", FieldKind::kFloat}});
  experts.keeps_logits = ReadKeepsLogits(config);
  return experts;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 200064,
                                  .intermediate = 1536,
                                  .positions = 196608,
                                  .layers = 62});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  // The published files state how many dims of a head are turned.
  const auto turned = config.OptionalInteger({"rotary_dim"});
  const double part = turned ? static_cast<double>(*turned) /
                                   static_cast<double>(attention.head_dim)
                             : 1;
  decoder.rope = ReadRope(config, {.default_theta = 5e6,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .turns_part = true,
                                   .default_part = part});
  const ExpertsConfig experts = ReadExperts(config, keys);
  // The published code's; the library's class always norms, corrects and takes
  // a sigmoid, and has no shared expert and no further prediction.
  config.Ignore({"use_qk_norm", "qk_norm_type", "use_routing_bias", "use_mtp",
                 "mtp_transformer_layers", "num_mtp_modules",
                 "shared_intermediate_size", "scoring_func", "attention_bias",
                 "mlp_bias"});

  using Layer = DecoderLayer<MiniMaxMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) { return MiniMaxMlp(mlp, experts); });
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"minimax_m2"};
constexpr std::array<std::string_view, 2> kClasses = {"MiniMaxM2ForCausalLM",
                                                      "MiniMaxM2Model"};

}  // namespace

extern const Family kMiniMaxM2Family = {
    .name = "minimax_m2",
    .title = "MiniMax-M2",
    .doc =
        "Queries and keys normed across all heads and turned in part, with a "
        "feed-forward of experts that a corrected sigmoid chooses.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
