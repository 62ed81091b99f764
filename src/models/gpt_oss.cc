// GPT-OSS: attention with a learned sink per head, every other layer over a
// window, and experts with biases behind a clamped gate.
//
// Source: transformers 5.23, models/gpt_oss/modeling_gpt_oss.py and
// configuration_gpt_oss.py.
// Does not model: float16 weights as `from_pretrained` loads them, which keeps
// the norms in float32.
#include <array>
#include <utility>
#include <vector>

#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/functional.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

// weight [experts, hidden], bias [experts]: the best are chosen by their
// scores, and softmax is over those alone.
struct BiasedRouter {
  BiasedRouter(const Module& at, const ExpertsConfig& settings)
      : module(at),
        config(settings),
        weight(at.Parameter("weight", {config.experts, config.hidden})),
        bias(at.Parameter("bias", {config.experts})) {}

  Routing Forward(const Tensor& rows) const {
    const Scope scope = module.Enter();
    Builder& builder = module.builder();
    Routing out;
    out.logits = ApplyLinear(rows, builder.Read(weight), builder.Read(bias));
    auto [best, experts] = TopK(out.logits, config.per_token);
    out.weights = SoftmaxAsIs(best, 1);
    out.experts = std::move(experts);
    return out;
  }

  Module module;
  ExpertsConfig config;
  ParameterId weight;
  ParameterId bias;
};

struct GptOssMlp {
  GptOssMlp(const Module& at, const ExpertsConfig& config)
      : module(at),
        router(at.Child("router", RegionKind::kRouter), config),
        experts(at.Child("experts", RegionKind::kExperts), config) {}

  Tensor Forward(Tensor hidden, const ExpertsCall& call) const {
    const Scope scope = module.Enter();
    const Shape shape = hidden.shape();
    hidden = View(hidden, {-1, router.config.hidden});
    const Routing routing = router.Forward(hidden);
    if (router.config.keeps_logits) {
      call.router_logits->push_back(routing.logits);
    }
    hidden = experts.Forward(hidden, routing, call.experts);
    return View(hidden, shape);
  }

  Module module;
  BiasedRouter router;
  FusedExperts experts;
};

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2880, .heads = 64});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 64);
  attention.qkv_bias = config.Flag({"attention_bias"}, true);
  attention.output_bias = attention.qkv_bias;
  attention.has_sinks = true;
  attention.turn = ApplyHalfRotary;
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.experts =
      config.SizeOrZero({"num_experts", "num_local_experts"}, 128);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 4);
  experts.clamped = {config.Real({"swiglu_alpha"}, 1.702),
                     config.Real({"swiglu_limit"}, 7)};
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  CheckFields(config, {{"router_aux_loss_coef", FieldKind::kFloat},
                       {"swiglu_alpha", FieldKind::kFloat},
                       {"swiglu_limit", FieldKind::kFloat},
                       {"hidden_act", FieldKind::kText}});
  return experts;
}

// What the class takes where a file states no rope.
ConfigValue DefaultRope() {
  ConfigValue rope = ConfigValue::Object();
  rope.Set("rope_type", ConfigValue::String("yarn"));
  rope.Set("factor", ConfigValue::Number("32.0"));
  rope.Set("beta_fast", ConfigValue::Number("32.0"));
  rope.Set("beta_slow", ConfigValue::Number("1.0"));
  rope.Set("truncate", ConfigValue::Bool(false));
  rope.Set("original_max_position_embeddings", ConfigValue::Number("4096"));
  return rope;
}

// The kind of each layer; those with a window alternate with those without,
// where nothing is said.
std::vector<std::string> ReadTypes(const ConfigView& config, int64_t layers) {
  std::vector<std::string> types = ReadLayerTypes(config, layers);
  if (config.Has("layer_types")) return types;
  std::vector<ConfigValue> items;
  for (int64_t layer = 0; layer < layers; ++layer) {
    types.emplace_back(layer % 2 == 0 ? kSliding : kFull);
    items.push_back(ConfigValue::String(types.back()));
  }
  config.Derive("layer_types", ConfigValue::Array(std::move(items)));
  return types;
}

// Both masks are built whichever layers there are.
int64_t ReadWindow(const ConfigView& config) {
  if (config.Raw("sliding_window") == nullptr) {
    return config.Size({"sliding_window"}, 128);
  }
  const auto window = config.OptionalSize({"sliding_window"});
  if (window) return *window;
  config.Find("model/window", Severity::kBlock, "sliding_window",
              "sliding_window is null",
              "the forward fails as it builds the mask of the window",
              "\"sliding_window\": 128");
  return 0;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 201088,
                                  .intermediate = 2880,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 36,
                                  .activation_key = ""});
  DecoderConfig& decoder = keys.decoder;
  const ConfigValue rope = DefaultRope();
  decoder.rope = ReadRope(config, {.default_theta = 150000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .when_absent = &rope});
  decoder.rope.halves = true;
  decoder.window = ReadWindow(config);
  decoder.mixes_masks = true;
  decoder.hides_positions = true;
  decoder.is_eager_only = true;
  decoder.norm_scale = RmsScale::kWeightInFloat;
  const std::vector<std::string> types = ReadTypes(config, decoder.layers);
  const auto window_of = [&](int64_t layer) {
    const auto at = static_cast<size_t>(layer);
    return at < types.size() && types[at] == kSliding ? decoder.window : 0;
  };
  const ExpertsConfig experts = ReadExperts(config, keys);
  // Written by the first files under other names of keys that they state too.
  config.Ignore({"experts_per_token", "initial_context_length", "mlp_bias"});

  using Layer = DecoderLayer<GptOssMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = window_of(index);
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) { return GptOssMlp(mlp, experts); },
            decoder.norm_scale);
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, window_of(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gpt_oss"};
constexpr std::array<std::string_view, 4> kClasses = {
    "GptOssForCausalLM", "GptOssModel", "GptOssForSequenceClassification",
    "GptOssForTokenClassification"};

}  // namespace

extern const Family kGptOssFamily = {
    .name = "gpt_oss",
    .title = "GPT-OSS",
    .doc =
        "A decoder of experts behind a clamped gate; each head has a learned "
        "sink, and every other layer attends to a window.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
