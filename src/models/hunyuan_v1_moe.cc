// Hunyuan's models of experts: the dense model's attention, and in every layer
// experts beside a feed-forward that serves every token.
//
// Source: transformers 5.23, models/hunyuan_v1_moe/modeling_hunyuan_v1_moe.py
// and configuration_hunyuan_v1_moe.py.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/head_norms.h"
#include "models/layers/linear.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/read_hunyuan.h"

namespace foretell {
namespace {

// wg, a linear layer whose weight is float32 whatever the model's dtype.
struct WideGate {
  WideGate(const Module& at, const ExpertsConfig& settings)
      : module(at),
        config(settings),
        wg(at.Child("wg", RegionKind::kLinear), config.hidden, config.experts,
           false, DType::kFloat32) {}

  Routing Forward(const Tensor& hidden) const {
    const Scope scope = module.Enter();
    const Tensor rows = To(View(hidden, {-1, config.hidden}),
                           module.builder().Read(wg.weight).dtype());
    Routing out;
    out.logits = wg.Forward(rows);
    Tensor weights = SoftmaxOp(To(out.logits, DType::kFloat32), 1);
    auto [best, experts] = TopK(weights, config.per_token);
    weights = std::move(best);
    const auto sum = [&] { return SumOver(weights, -1, /*keep=*/true); };
    weights = DivInto(weights, sum());
    out.weights = To(std::move(weights), out.logits.dtype());
    out.experts = std::move(experts);
    return out;
  }

  Module module;
  ExpertsConfig config;
  Linear wg;
};

struct HunyuanMlp {
  HunyuanMlp(const Module& at, const ExpertsConfig& config)
      : module(at),
        gate(at.Child("gate", RegionKind::kRouter), config),
        experts(at.Child("experts", RegionKind::kExperts), config),
        shared_mlp(at.Child("shared_mlp", RegionKind::kMlp), config.hidden,
                   config.intermediate, false, config.activation) {}

  Tensor Forward(Tensor hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Shape shape = hidden.shape();
    const Tensor shared = shared_mlp.Forward(hidden);
    hidden = View(hidden, {-1, gate.config.hidden});
    const Routing routing = gate.Forward(hidden);
    if (gate.config.keeps_logits) {
      call.router_logits->push_back(routing.logits);
    }
    const Tensor out =
        View(experts.Forward(hidden, routing, call.experts), shape);
    return Add(out, shared);
  }

  Module module;
  WideGate gate;
  FusedExperts experts;
  GatedMlp shared_mlp;
};

// How many experts a token meets, layer by layer: one number or a list.
std::vector<int64_t> ReadPerToken(const ConfigView& config, int64_t layers,
                                  ExpertsConfig experts) {
  const std::string_view key = config.Raw("num_experts_per_tok") != nullptr
                                   ? "num_experts_per_tok"
                                   : "moe_topk";
  const ConfigValue* stated = config.Raw(key);
  std::vector<int64_t> out;
  if (stated != nullptr && stated->is_array()) {
    out = config.IntegerList({key}).value_or(out);
    if (out.size() < static_cast<size_t>(layers)) {
      config.Find("model/experts", Severity::kBlock, key,
                  std::string(key) + " lists fewer layers than there are",
                  "the class fails as it builds a layer that is not listed",
                  "list a number for each layer, or write one for all");
    }
  } else {
    out.assign(static_cast<size_t>(layers),
               config.SizeOrZero({"num_experts_per_tok", "moe_topk"}, 1));
  }
  config.Ignore({"moe_topk"});
  out.resize(static_cast<size_t>(layers), 1);
  for (int64_t& one : out) {
    if (one < 0) {
      config.Problem(key, "holds a number below zero", "correct the list");
      one = 0;
    }
    experts.per_token = one;
    if (one > experts.experts) {
      CheckExpertsPerToken(config, experts);
      break;
    }
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadHunyuanAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 290943,
                                  .intermediate = 11008,
                                  .positions = 2048,
                                  .norm_epsilon = 1e-5,
                                  .padding = 0});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadHunyuanRope(config, keys.positions, attention);
  attention.extend = NormsBehindTurn(decoder.norm_epsilon);
  ExpertsConfig experts;
  experts.hidden = decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts", "num_experts"}, 1);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  const std::vector<int64_t> per_token =
      ReadPerToken(config, decoder.layers, experts);
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole},
                       {"eod_token_id", FieldKind::kWhole, true},
                       {"sep_token_id", FieldKind::kWhole, true}});
  IgnoreHunyuanCode(config);
  // The same: experts are as wide as intermediate_size, one is shared.
  config.Ignore({"moe_intermediate_size", "num_shared_expert",
                 "use_mixed_mlp_moe", "moe_layer_num_skipped"});

  using Layer = DecoderLayer<HunyuanMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        experts.per_token = per_token[static_cast<size_t>(index)];
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) { return HunyuanMlp(mlp, experts); });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"hunyuan_v1_moe"};
constexpr std::array<std::string_view, 3> kClasses = {
    "HunYuanMoEV1ForCausalLM", "HunYuanMoEV1Model",
    "HunYuanMoEV1ForSequenceClassification"};

}  // namespace

extern const Family kHunyuanV1MoeFamily = {
    .name = "hunyuan_v1_moe",
    .title = "Hunyuan (experts)",
    .doc =
        "Norms of queries and keys behind their turn, and in every layer "
        "experts beside a feed-forward that every token passes; Hunyuan-A13B.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
