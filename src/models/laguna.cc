// Laguna: gated attention with a window in most layers and heads of its own
// number in each, and experts that a corrected sigmoid chooses beside shared
// ones.
//
// Source: transformers 5.23, models/laguna/modeling_laguna.py and
// configuration_laguna.py.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/adapted_module.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/fixed_parameter.h"
#include "models/layers/functional.h"
#include "models/layers/kind_ropes.h"
#include "models/layers/laguna_attention.h"
#include "models/layers/own_attention_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/read_mlp_types.h"
#include "models/layers/shared_expert_mlp.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

struct LagunaKeys {
  ExpertsConfig experts;
  double softcap = 0;  // of the router's scores; 0: none
  double scale = 1;    // of what the chosen experts give
  int64_t shared = 0;  // width of the shared experts
};

// weight [experts, hidden], and a correction [experts] that no step trains.
struct LagunaRouter {
  LagunaRouter(const Module& at, const LagunaKeys& keys)
      : module(at),
        config(keys.experts),
        softcap(keys.softcap),
        weight(at.Parameter("weight", {config.experts, config.hidden})),
        correction(
            FixedParameter(at, "e_score_correction_bias", {config.experts})) {}

  Routing Forward(const Tensor& rows) const {
    AdaptedModule adapted(module);
    const Tensor seen = View(rows, {-1, config.hidden});
    Routing out;
    out.logits =
        To(ApplyLinear(seen, adapted.Read(weight), Tensor()), DType::kFloat32);
    if (softcap > 0) {
      const auto cap = [&] { return Tanh(DivScalar(out.logits, softcap)); };
      out.logits = MulScalar(cap(), softcap);
    }
    const Tensor scores = Sigmoid(out.logits);
    const Tensor choice =
        Add(scores, To(module.builder().Read(correction), scores.dtype()));
    const auto [best, experts] = TopK(choice, config.per_token);
    Tensor weights = Gather(scores, -1, experts);
    const auto sum = [&] { return SumOver(weights, -1, /*keep=*/true); };
    weights = Div(weights, sum());
    out.weights = To(std::move(weights), rows.dtype());
    out.experts = experts;
    return out;
  }

  Module module;
  ExpertsConfig config;
  double softcap;
  ParameterId weight;
  ParameterId correction;
};

struct LagunaSparseMlp {
  LagunaSparseMlp(const Module& at, const LagunaKeys& keys)
      : module(at),
        scale(keys.scale),
        experts(at.Child("experts", RegionKind::kExperts), keys.experts),
        gate(at.Child("gate", RegionKind::kRouter), keys),
        shared_experts(at.Child("shared_experts", RegionKind::kMlp),
                       keys.experts.hidden, keys.shared, false,
                       keys.experts.activation) {}

  Tensor Forward(Tensor hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Shape shape = hidden.shape();
    hidden = View(hidden, {-1, gate.config.hidden});
    const Tensor shared = shared_experts.Forward(hidden);
    const Routing routing = gate.Forward(hidden);
    if (gate.config.keeps_logits) {
      call.router_logits->push_back(routing.logits);
    }
    hidden = experts.Forward(hidden, routing, call.experts);
    hidden = MulScalar(hidden, scale);
    hidden = Add(hidden, shared);
    return View(hidden, shape);
  }

  Module module;
  double scale;
  FusedExperts experts;
  LagunaRouter gate;
  GatedMlp shared_experts;
};

LagunaKeys ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  LagunaKeys out;
  ExpertsConfig& experts = out.experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 512);
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_experts"}, 256);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 8);
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  out.shared = config.Size({"shared_expert_intermediate_size"}, 512);
  out.scale = config.Real({"moe_routed_scaling_factor"}, 1);
  out.softcap = config.Real({"moe_router_logit_softcapping"}, 0);
  CheckFields(config, {{"moe_routed_scaling_factor", FieldKind::kFloat},
                       {"output_router_logits", FieldKind::kFlag},
                       {"router_aux_loss_coef", FieldKind::kFloat},
                       {"moe_router_logit_softcapping", FieldKind::kFloat}});
  if (config.Flag({"moe_apply_router_weight_on_input"}, false)) {
    config.Find("model/experts", Severity::kBlock,
                "moe_apply_router_weight_on_input",
                "moe_apply_router_weight_on_input is true",
                "the library refuses the configuration", "set it to false");
  }
  return out;
}

// Heads of queries, layer by layer.
std::vector<int64_t> ReadHeadsByLayer(const ConfigView& config, int64_t layers,
                                      const AttentionConfig& attention) {
  constexpr std::string_view kKey = "num_attention_heads_per_layer";
  const auto count = static_cast<size_t>(layers);
  auto stated = config.IntegerList({kKey});
  if (!stated) return std::vector<int64_t>(count, attention.heads);
  if (config.log().most_layers == layers && stated->size() > count) {
    stated->resize(count);
  }
  if (stated->size() != count) {
    config.Find("model/heads", Severity::kBlock, kKey,
                "num_attention_heads_per_layer names " +
                    std::to_string(stated->size()) + " layers of " +
                    std::to_string(layers),
                "the library refuses the configuration",
                "list a number for each layer, or remove the key");
  }
  stated->resize(count, attention.heads);
  for (int64_t& heads : *stated) {
    if (heads >= 1 && heads <= kLargestSize &&
        heads % attention.kv_heads == 0) {
      continue;
    }
    config.Problem(kKey,
                   "holds " + std::to_string(heads) +
                       ", which num_key_value_heads does not divide",
                   "list whole multiples of num_key_value_heads");
    heads = attention.heads;
  }
  return *std::move(stated);
}

// true and "per-head" gate by head, and all else by dim.
bool GatesByHead(const ConfigView& config) {
  const ConfigValue* stated = config.Raw("gating");
  if (stated == nullptr) return config.Flag({"gating"}, true);
  if (stated->is_string()) return config.Text({"gating"}, "") == "per-head";
  return config.Flag({"gating"}, true);
}

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2048, .heads = 48});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  attention.head_dim = config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 100352,
                                  .intermediate = 8192,
                                  .positions = 131072,
                                  .layers = 40});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  const std::vector<int64_t> heads =
      ReadHeadsByLayer(config, decoder.layers, attention);
  const bool by_head = GatesByHead(config);
  const WindowedLayers windows = ReadListedWindows(config, decoder.layers, 512);
  decoder.window = windows.any_slides ? windows.window : 0;
  decoder.mixes_masks = windows.Mixes();
  decoder.kinds =
      ReadKindRopes(config, windows,
                    {.positions = keys.positions,
                     .head_dim = attention.head_dim,
                     .defaults = {{"full_attention", 500000, 0.5},
                                  {"sliding_attention", 10000, 1}}});
  const LagunaKeys experts = ReadExperts(config, keys);
  const std::vector<bool> sparse = ReadMlpTypes(config, decoder.layers, 1);
  // The published code's; the library's class has no such choice.
  config.Ignore({"norm_topk_prob", "decoder_sparse_step", "mlp_only_layers",
                 "use_bidirectional_attention", "mlp_bias"});

  using Mlp = SparseOrDense<LagunaSparseMlp>;
  using Layer = OwnAttentionLayer<LagunaAttention, Mlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        const auto place = static_cast<size_t>(index);
        attention.heads = heads[place];
        attention.window = windows.WindowOf(index);
        LagunaAttention self_attn(at.Child("self_attn", RegionKind::kAttention),
                                  attention, by_head);
        const Module mlp = at.Child("mlp", RegionKind::kMlp);
        Mlp feed_forward;
        if (sparse[place]) {
          feed_forward.sparse.emplace(mlp, experts);
        } else {
          feed_forward.dense.emplace(mlp, decoder.hidden, keys.intermediate,
                                     false, keys.activation);
        }
        return Layer(at, std::move(self_attn), std::move(feed_forward),
                     decoder.hidden, decoder.norm_epsilon);
      });
  if (experts.experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts.experts));
  }
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length.tokens = keys.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"laguna"};
constexpr std::array<std::string_view, 2> kClasses = {"LagunaForCausalLM",
                                                      "LagunaModel"};

}  // namespace

extern const Family kLagunaFamily = {
    .name = "laguna",
    .title = "Laguna",
    .doc =
        "Attention behind a softplus gate, over a window in most layers, and "
        "many small experts beside shared ones.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
