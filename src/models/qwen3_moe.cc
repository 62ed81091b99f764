// Qwen3-MoE: Qwen3's attention, and layers whose feed-forward is of experts,
// all of them or every so many.
//
// Source: transformers 5.23, models/qwen3_moe/modeling_qwen3_moe.py and
// configuration_qwen3_moe.py.
#include <algorithm>
#include <array>

#include "graph/ops/views.h"
#include "models/axis_text.h"
#include "models/family.h"
#include "models/layers/axis_rope.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/shared_expert_mlp.h"

namespace foretell {
namespace {

// Experts, then their router: the order of the names.
struct SparseMoeBlock {
  SparseMoeBlock(const Module& at, const ExpertsConfig& config)
      : module(at),
        experts(at.Child("experts", RegionKind::kExperts), config),
        gate(at.Child("gate", RegionKind::kRouter), config) {}

  Tensor Forward(const Tensor& hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Tensor rows = View(hidden, {-1, gate.config.hidden});
    const Routing routing = gate.Forward(rows);
    if (gate.config.keeps_logits) call.router_logits->push_back(routing.logits);
    const Tensor out = experts.Forward(rows, routing, call.experts);
    return View(out, hidden.shape());
  }

  Module module;
  FusedExperts experts;
  TopKRouter gate;
};

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2048, .heads = 32});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 768);
  experts.activation = keys.activation;
  // None or fewer: every layer is dense.
  experts.experts = std::max<int64_t>(
      0, config.Whole({"num_local_experts", "num_experts"}, 128));
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 8);
  experts.normalizes = config.Flag({"norm_topk_prob"}, false);
  experts.softmax_casts = true;
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  return experts;
}

// Windows are switched by use_sliding_window; all layers then have one.
int64_t ReadWindow(const ConfigView& config) {
  const bool is_used = config.Flag({"use_sliding_window"}, false);
  const int64_t window =
      config.Raw("sliding_window") == nullptr
          ? config.Size({"sliding_window"}, 4096)
          : config.OptionalSize({"sliding_window"}).value_or(0);
  // Once loaded, the window alone decides.
  if (is_used || config.config().is_loaded) return window;
  config.Derive("sliding_window", ConfigValue::Null());
  return 0;
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name, bool has_axes) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 151936,
                                  .intermediate = 6144,
                                  .positions = 32768,
                                  .layers = 24});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  decoder.window = ReadWindow(config);
  attention.window = decoder.window;
  ReadLayerTypes(config, decoder.layers);
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  if (has_axes) {
    decoder.rope.sections = ReadRopeSections(config, {24, 20, 20});
  }
  const ExpertsConfig experts = ReadExperts(config, keys);
  const SparseLayers sparse = ReadSparseLayers(config, decoder.layers, experts);
  // Qwen3's list of windows by layer is not this class's.
  config.Ignore({"max_window_layers", "mlp_bias", "use_qk_norm"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<SparseOrDense<SparseMoeBlock>>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              SparseOrDense<SparseMoeBlock> out;
              if (sparse.Contains(index)) {
                out.sparse.emplace(mlp, experts);
              } else {
                out.dense.emplace(mlp, decoder.hidden, keys.intermediate, false,
                                  keys.activation);
              }
              return out;
            });
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, decoder.window));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  return BuildText(config, root, class_name, false);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen3_moe"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Qwen3MoeForCausalLM", "Qwen3MoeModel", "Qwen3MoeForSequenceClassification",
    "Qwen3MoeForTokenClassification", "Qwen3MoeForQuestionAnswering"};

}  // namespace

std::unique_ptr<Model> BuildQwen3MoeAxes(const ConfigView& config,
                                         const Module& root,
                                         std::string_view class_name) {
  return BuildText(config, root, class_name, true);
}

extern const Family kQwen3MoeFamily = {
    .name = "qwen3_moe",
    .title = "Qwen3-MoE",
    .doc =
        "Qwen3's attention with a feed-forward of many small experts in every "
        "layer, or in every so many.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
