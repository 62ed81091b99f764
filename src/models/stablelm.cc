// StableLM 3B and 2: Llama's layer with LayerNorms, a part of each head turned,
// and in the largest a norm for each head and both branches side by side.
//
// Source: transformers 5.23, models/stablelm/modeling_stablelm.py and
// configuration_stablelm.py.
#include <array>
#include <optional>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/mlp.h"
#include "models/layers/partial_rotary.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// A LayerNorm without a bias for each head, [b, h, s, d].
struct HeadNorms {
  HeadNorms(const Module& at, int64_t heads, int64_t width, double epsilon)
      : module(at) {
    for (int64_t head = 0; head < heads; ++head) {
      norms.emplace_back(at.Child("norms").Child(head, RegionKind::kNorm),
                         width, epsilon, LayerNormTerms::kWeight);
    }
  }

  Tensor Forward(const Tensor& x) const {
    const Scope scope = module.Enter();
    const std::vector<Tensor> heads = Split(x, 1, 1);
    if (heads.size() != norms.size()) {
      module.builder().Fail("a norm for each head");
      return x;
    }
    std::vector<Tensor> normed;
    for (size_t i = 0; i < heads.size(); ++i) {
      normed.push_back(norms[i].Forward(heads[i]));
    }
    return Cat(normed, 1);
  }

  Module module;
  std::vector<LayerNorm> norms;
};

struct StableLmSettings {
  bool norms_heads = false;
  bool is_parallel = false;
  double dropout = 0;
};

struct StableLmLayer {
  StableLmLayer(const Module& at, const AttentionConfig& attention,
                const DecoderKeys& keys, const StableLmSettings& settings)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden,
            keys.intermediate, false, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon),
        dropout(at.Child("dropout"), settings.dropout) {
    if (settings.is_parallel) return;
    post_attention_layernorm.emplace(
        at.Child("post_attention_layernorm", RegionKind::kNorm),
        attention.hidden, keys.decoder.norm_epsilon);
  }

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    const Tensor attended = self_attn.Forward(
        hidden, context.rotary, context.mask, context.attention, cached);
    Tensor forwarded;
    if (!post_attention_layernorm) {
      forwarded = mlp.Forward(hidden);
      forwarded = dropout.Forward(forwarded);
      return Add(Add(residual, attended), forwarded);
    }
    residual = Add(residual, attended);
    forwarded = mlp.Forward(post_attention_layernorm->Forward(residual));
    forwarded = dropout.Forward(forwarded);
    return Add(residual, forwarded);
  }

  Module module;
  GroupedQueryAttention self_attn;
  GatedMlp mlp;
  LayerNorm input_layernorm;
  std::optional<LayerNorm> post_attention_layernorm;
  Dropout dropout;
};

AttentionConfig ReadStableLmAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2560});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 32);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = EvenHeadDim(config, attention);
  CheckEvenHeads(config, attention);
  attention.qkv_bias = config.Flag({"use_qkv_bias"}, false);
  attention.turn = nullptr;
  attention.projects_first = true;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadStableLmAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 50304,
                                  .intermediate = 6912,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5,
                                  .norm_key = "layer_norm_eps"});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadPartialRope(config, attention, keys.positions, 0.25);
  StableLmSettings settings;
  settings.norms_heads = config.Flag({"qk_layernorm"}, false);
  settings.is_parallel = config.Flag({"use_parallel_residual"}, false);
  settings.dropout = ReadDropout(config, "hidden_dropout", 0);
  // A field of the class, which a head for tokens therefore finds.
  if (!config.Has("classifier_dropout")) {
    decoder.head.token_dropout = settings.dropout;
  }
  attention.extend = [norms = settings.norms_heads,
                      epsilon = decoder.norm_epsilon](
                         const Module& at, GroupedQueryAttention& one) {
    one.before_turn = TurnFirstDims;
    if (!norms) return;
    const AttentionConfig& heads = one.config;
    const HeadNorms q_norm(at.Child("q_layernorm"), heads.heads, heads.head_dim,
                           epsilon);
    const HeadNorms k_norm(at.Child("k_layernorm"), heads.kv_heads,
                           heads.head_dim, epsilon);
    one.before_turn = [q_norm, k_norm](Tensor& q, Tensor& k,
                                       const auto& rotary) {
      q = q_norm.Forward(q);
      k = k_norm.Forward(k);
      return TurnFirstDims(q, k, rotary);
    };
  };
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // Names of the code that came with the first files.
  config.Ignore({"norm_eps", "rope_pct", "rotary_scaling_factor"});

  auto model = std::make_unique<Decoder<StableLmLayer, LayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return StableLmLayer(at, attention, keys, settings);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"stablelm"};
constexpr std::array<std::string_view, 4> kClasses = {
    "StableLmForCausalLM", "StableLmModel", "StableLmForSequenceClassification",
    "StableLmForTokenClassification"};

}  // namespace

extern const Family kStablelmFamily = {
    .name = "stablelm",
    .title = "StableLM",
    .doc =
        "Llama's decoder with LayerNorms and a part of each head turned; "
        "StableLM 3B and StableLM 2.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
