// ERNIE 4.5's models of experts: attention turned in pairs of dims, and experts
// beside shared ones in a range of the layers.
//
// Source: transformers 5.23, models/ernie4_5_moe/modeling_ernie4_5_moe.py and
// configuration_ernie4_5_moe.py.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "graph/autocast.h"
#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/fixed_parameter.h"
#include "models/layers/functional.h"
#include "models/layers/mlp.h"
#include "models/layers/pair_rotary.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/shared_expert_mlp.h"

namespace foretell {
namespace {

// weight [experts, hidden] in float32, and a correction [1, experts] that no
// step trains.
struct CorrectedRouter {
  CorrectedRouter(const Module& at, const ExpertsConfig& settings, double least)
      : module(at),
        config(settings),
        smallest_sum(least),
        weight(at.builder().AddParameter(at.region(), "weight",
                                         {config.experts, config.hidden},
                                         DType::kFloat32)),
        moe_statics(at.Child("moe_statics")),
        correction(FixedParameter(moe_statics, "e_score_correction_bias",
                                  {1, config.experts}, DType::kFloat32)) {}

  Tensor Correct(const Tensor& scores) const {
    const Scope scope = moe_statics.Enter();
    return Add(scores, Squeeze(module.builder().Read(correction)));
  }

  Routing Forward(const Tensor& rows) const {
    AdaptedModule adapted(module);
    Routing out;
    const AutocastScope exact(module.builder(), std::nullopt);
    const auto multiply = [&] {
      const Tensor wide = To(rows, DType::kFloat32);
      return ApplyLinear(wide, To(adapted.Read(weight), DType::kFloat32),
                         Tensor());
    };
    out.logits = multiply();
    Tensor weights = SoftmaxOp(out.logits, 1);
    const auto [best, experts] = TopK(Correct(weights), config.per_token);
    weights = Gather(weights, -1, experts);
    const auto divisor = [&] {
      return ClampLeast(SumOver(weights, -1, /*keep=*/true), smallest_sum);
    };
    weights = Div(weights, divisor());
    out.weights = To(std::move(weights), rows.dtype());
    out.experts = experts;
    return out;
  }

  Module module;
  ExpertsConfig config;
  double smallest_sum;
  ParameterId weight;
  Module moe_statics;
  ParameterId correction;
};

struct ErnieKeys {
  ExpertsConfig experts;
  double smallest_sum = 1e-12;  // moe_norm_min
  int64_t shared = 0;           // width of the shared experts; 0: none
  bool bias = false;
};

struct ErnieSparseMlp {
  ErnieSparseMlp(const Module& at, const ErnieKeys& keys)
      : module(at),
        gate(at.Child("gate", RegionKind::kRouter), keys.experts,
             keys.smallest_sum),
        experts(at.Child("experts", RegionKind::kExperts), keys.experts) {
    if (keys.shared == 0) return;
    shared_experts.emplace(at.Child("shared_experts", RegionKind::kMlp),
                           keys.experts.hidden, keys.shared, keys.bias,
                           keys.experts.activation);
  }

  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Tensor rows = View(hidden, {-1, gate.config.hidden});
    Tensor shared;
    if (shared_experts) shared = shared_experts->Forward(rows);
    const Routing routing = gate.Forward(rows);
    if (gate.config.keeps_logits) {
      call.router_logits->push_back(routing.logits);
    }
    Tensor out = experts.Forward(rows, routing, call.experts);
    if (shared_experts) out = Add(out, shared);
    out = View(out, hidden.shape());
    return To(std::move(out), hidden.dtype());
  }

  Module module;
  CorrectedRouter gate;
  FusedExperts experts;
  std::optional<GatedMlp> shared_experts;
};

AttentionConfig ReadAttention(const ConfigView& config, bool bias) {
  AttentionConfig attention;
  attention.hidden = config.Size({"hidden_size"}, 2560);
  attention.heads = config.Size({"num_attention_heads"}, 20);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = bias;
  attention.output_bias = bias;
  attention.turn = ApplyWidePairRotary;
  return attention;
}

ErnieKeys ReadExperts(const ConfigView& config, const DecoderKeys& keys,
                      bool bias) {
  ErnieKeys out;
  out.bias = bias;
  ExpertsConfig& experts = out.experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 1536);
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_experts", "moe_num_experts"}, 64);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok", "moe_k"}, 6);
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  out.smallest_sum = config.Real({"moe_norm_min"}, 1e-12);
  out.shared =
      experts.intermediate *
      std::max<int64_t>(0, config.Whole({"moe_num_shared_experts"}, 2));
  CheckFields(config, {{"moe_norm_min", FieldKind::kFloat}});
  return out;
}

// Which layers have experts: a range, and in it every so many.
struct SparseRange {
  int64_t first = 1;
  int64_t last = 0;
  int64_t step = 1;

  bool Contains(int64_t layer) const {
    return (layer + 1) % step == 0 && layer >= first && layer <= last;
  }
};

SparseRange ReadRange(const ConfigView& config, int64_t layers) {
  SparseRange out;
  out.first = config.Whole({"moe_layer_start_index"}, 1);
  out.last = config.Whole({"moe_layer_end_index"}, -1);
  if (out.last == -1 && !config.config().is_loaded) {
    out.last = layers - 1;
    config.Derive("moe_layer_end_index",
                  ConfigValue::Number(std::to_string(out.last)));
  }
  out.step = config.Whole({"moe_layer_interval"}, 1);
  if (out.step != 0) return out;
  out.step = 1;
  if (layers == 0) return out;
  config.Find("model/experts", Severity::kBlock, "moe_layer_interval",
              "moe_layer_interval is 0",
              "the class takes the number of a layer modulo it and fails",
              "set it to 1 for experts in every layer of the range");
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const bool bias = FlagOrNull(config, "use_bias", false);
  const AttentionConfig attention = ReadAttention(config, bias);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 103424,
                                  .intermediate = 12288,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 28,
                                  .ties = true,
                                  .padding = 0});
  DecoderConfig& decoder = keys.decoder;
  decoder.head.lm_bias = bias;
  decoder.rope =
      ReadRope(config, {.default_theta = 500000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  decoder.rope.stays_wide = true;
  const ErnieKeys experts = ReadExperts(config, keys, bias);
  const SparseRange sparse = ReadRange(config, decoder.layers);
  // Its attention never drops, and takes its biases from use_bias.
  config.Ignore({"attention_dropout", "attention_bias", "mlp_bias"});

  using Mlp = SparseOrDense<ErnieSparseMlp>;
  using Layer = DecoderLayer<Mlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              Mlp out;
              if (sparse.Contains(index)) {
                out.sparse.emplace(mlp, experts);
              } else {
                out.dense.emplace(mlp, decoder.hidden, keys.intermediate, bias,
                                  keys.activation);
              }
              return out;
            });
      });
  if (experts.experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts.experts));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"ernie4_5_moe"};
constexpr std::array<std::string_view, 2> kClasses = {"Ernie4_5_MoeForCausalLM",
                                                      "Ernie4_5_MoeModel"};

}  // namespace

extern const Family kErnie4_5MoeFamily = {
    .name = "ernie4_5_moe",
    .title = "ERNIE 4.5 MoE",
    .doc =
        "Attention turned in pairs of dims, and from the second layer on "
        "experts that a corrected softmax chooses, beside shared ones.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
