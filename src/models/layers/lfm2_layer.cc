#include "models/layers/lfm2_layer.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

bool Lfm2Config::Convolves(int64_t layer) const {
  const auto at = static_cast<size_t>(layer);
  return at < layer_types.size() && layer_types[at] == "conv";
}

Lfm2Config ReadLfm2(const ConfigView& config, std::string_view class_name,
                    const DecoderDefaults& defaults, int64_t hidden) {
  Lfm2Config out;
  AttentionConfig& attention = out.attention;
  // No field of the class, and no dropout.
  attention.hidden = config.Size({"hidden_size"}, hidden);
  attention.heads = config.Size({"num_attention_heads"}, 32);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 64);
  attention.q_norm_name = "q_layernorm";
  attention.k_norm_name = "k_layernorm";
  attention.output_name = "out_proj";
  out.keys = ReadDecoder(config, class_name, attention.hidden, defaults);
  DecoderConfig& decoder = out.keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  // An old name, which decides as the file is loaded.
  if (config.Raw("tie_embedding") != nullptr && !config.config().is_loaded) {
    decoder.tie_embeddings = config.Flag({"tie_embedding"}, true);
    config.Derive("tie_word_embeddings",
                  ConfigValue::Bool(decoder.tie_embeddings));
  }
  decoder.norm_name = "embedding_norm";
  decoder.rope =
      ReadRope(config, {.default_theta = 1000000,
                        .positions = out.keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  out.kernel = config.Size({"conv_L_cache"}, 3);
  out.conv_bias = config.Flag({"conv_bias"}, false);
  out.layer_types = ReadLayerTypes(config, decoder.layers);
  for (const std::string& type : out.layer_types) {
    if (type == "conv" || type == "full_attention") continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class has no mask for layers of the kind {}", type),
        "its forward fails on the first of them",
        "write conv or full_attention for each layer");
    break;
  }
  // Names of the authors' own code.
  config.Ignore({"block_dim", "block_mlp_init_scale", "block_norm_eps",
                 "block_out_init_scale", "block_use_swiglu",
                 "block_use_xavier_init", "conv_dim", "conv_dim_out",
                 "conv_use_xavier_init", "num_heads", "use_pos_enc"});
  return out;
}

Lfm2Mlp::Lfm2Mlp(const Module& at, int64_t hidden, int64_t intermediate)
    : module(at),
      w1(at.Child("w1", RegionKind::kLinear), hidden, intermediate, false),
      w3(at.Child("w3", RegionKind::kLinear), hidden, intermediate, false),
      w2(at.Child("w2", RegionKind::kLinear), intermediate, hidden, false) {}

Tensor Lfm2Mlp::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  Tensor gate = Silu(w1.Forward(x));
  return w2.Forward(Mul(std::move(gate), w3.Forward(x)));
}

Lfm2SparseMlp::Lfm2SparseMlp(const Module& at, const Lfm2Experts& settings)
    : module(at),
      config(settings),
      experts(at.Child("experts", RegionKind::kExperts), config.experts),
      gate(at.Child("gate", RegionKind::kRouter)),
      gate_weight(gate.Parameter(
          "weight", {config.experts.experts, config.experts.hidden})) {
  if (!config.has_bias) return;
  at.Buffer("expert_bias", {config.experts.experts}, DType::kFloat32, true);
  expert_bias = at.builder().graph().buffers.back().value;
}

Routing Lfm2SparseMlp::Route(const Tensor& rows) const {
  AdaptedModule adapted(gate);
  Builder& builder = module.builder();
  Routing out;
  out.logits = ApplyLinear(rows, adapted.Read(gate_weight), Tensor());
  out.weights = Sigmoid(out.logits);
  // Names there, which live to the end.
  Tensor biased;
  Tensor best;
  if (expert_bias) {
    biased = Add(out.weights, builder.Read(*expert_bias));
    std::tie(best, out.experts) = TopK(biased, config.experts.per_token);
    out.weights = To(Gather(out.weights, 1, out.experts), out.logits.dtype());
  } else {
    std::tie(out.weights, out.experts) =
        TopK(out.weights, config.experts.per_token);
  }
  if (config.experts.normalizes) {
    const auto normalize = [&] {
      const auto sum = [&] {
        return AddScalar(SumOver(out.weights, -1, /*keep=*/true), 1e-6);
      };
      return Div(out.weights, sum());
    };
    out.weights = normalize();
  }
  out.weights = MulScalar(out.weights, config.scaling);
  return out;
}

Tensor Lfm2SparseMlp::Forward(const Tensor& hidden,
                              const ExpertsCall& call) const {
  const Scope scope = module.Enter();
  const Tensor rows = View(hidden, {-1, hidden.size(-1)});
  const Routing routing = Route(rows);
  if (config.experts.keeps_logits) {
    call.router_logits->push_back(routing.logits);
  }
  const Tensor out = experts.Forward(rows, routing, call.experts);
  return Reshape(out, hidden.shape());
}

Lfm2ShortConv::Lfm2ShortConv(const Module& at, const Lfm2Config& config)
    : module(at),
      channels(config.attention.hidden),
      kernel(config.kernel),
      conv(at.Child("conv"), config.attention.hidden, config.kernel,
           config.conv_bias),
      in_proj(at.Child("in_proj", RegionKind::kLinear), config.attention.hidden,
              3 * config.attention.hidden, config.conv_bias),
      out_proj(at.Child("out_proj", RegionKind::kLinear),
               config.attention.hidden, config.attention.hidden,
               config.conv_bias) {}

Tensor Lfm2ShortConv::Forward(const Tensor& input, CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t length = input.size(1);
  const Tensor projected = Transpose(in_proj.Forward(input), -1, -2);
  const std::vector<Tensor> parts = Split(projected, channels, -2);
  if (parts.size() != 3) return input;  // the graph has failed already
  Tensor hidden = Mul(parts[0], parts[2]);
  if (cached != nullptr && cached->recurrent.IsFilled() && length == 1) {
    hidden = UpdateConvolution(module, conv, {}, hidden, cached->recurrent);
  } else {
    if (cached != nullptr) {
      hidden = FillConvCache(hidden, kernel, cached->recurrent);
    }
    hidden = CausalConvolution(module, conv, {}, hidden);
    if (cached != nullptr) hidden = LatestTokens(hidden, length);
  }
  Tensor y = Mul(parts[1], hidden);
  y = Contiguous(Transpose(y, -1, -2));
  y = out_proj.Forward(y);
  return y;
}

namespace {

template <class Part, class... Arguments>
std::optional<Part> MakeIf(bool exists, Arguments&&... arguments) {
  if (!exists) return std::nullopt;
  return std::optional<Part>(std::in_place,
                             std::forward<Arguments>(arguments)...);
}

bool IsSparse(const Lfm2Config& config, int64_t index) {
  return config.sparse && index >= config.sparse->dense_layers;
}

}  // namespace

Lfm2Layer::Lfm2Layer(const Module& at, const Lfm2Config& config, int64_t index)
    : module(at),
      self_attn(MakeIf<GroupedQueryAttention>(
          !config.Convolves(index),
          at.Child("self_attn", RegionKind::kAttention), config.attention)),
      conv(MakeIf<Lfm2ShortConv>(config.Convolves(index),
                                 at.Child("conv", RegionKind::kMixer), config)),
      dense(MakeIf<Lfm2Mlp>(!IsSparse(config, index),
                            at.Child("feed_forward", RegionKind::kMlp),
                            config.attention.hidden, config.keys.intermediate)),
      sparse(MakeIf<Lfm2SparseMlp>(IsSparse(config, index),
                                   at.Child("feed_forward", RegionKind::kMlp),
                                   config.sparse.value_or(Lfm2Experts()))),
      operator_norm(at.Child("operator_norm", RegionKind::kNorm),
                    config.attention.hidden, config.keys.decoder.norm_epsilon),
      ffn_norm(at.Child("ffn_norm", RegionKind::kNorm), config.attention.hidden,
               config.keys.decoder.norm_epsilon) {}

Tensor Lfm2Layer::Forward(const Tensor& input,
                          const DecoderContext& context) const {
  const Tensor mask = conv ? Tensor() : context.mask;
  const CheckpointScope checkpoint(
      module.builder(), {input},
      {mask, context.rotary.first, context.rotary.second,
       context.position_ids});
  const Scope scope = module.Enter();
  CachedLayer* cached = nullptr;
  if (context.fills_cache) cached = context.output->NextLayer();
  const auto mix = [&] {
    const Tensor normed = operator_norm.Forward(input);
    return conv ? conv->Forward(normed, cached)
                : self_attn->Forward(normed, context.rotary, mask,
                                     context.attention, cached);
  };
  Tensor hidden = mix();
  hidden = Add(hidden, input);
  const auto feed = [&] {
    const Tensor normed = ffn_norm.Forward(hidden);
    const ExpertsCall call = {context.experts, &context.output->router_logits};
    return sparse ? sparse->Forward(normed, call) : dense->Forward(normed);
  };
  return Add(hidden, feed());
}

std::unique_ptr<Model> MakeLfm2(const Module& root, const Lfm2Config& config) {
  const DecoderConfig& decoder = config.keys.decoder;
  auto model = std::make_unique<Decoder<Lfm2Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Lfm2Layer(at, config, index);
      });
  LayerState short_conv;
  short_conv.kind = LayerState::Kind::kRecurrent;
  short_conv.conv_channels = config.attention.hidden;
  short_conv.conv_tokens = config.kernel;
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(
        config.Convolves(layer) ? short_conv : StateOf(config.attention, 0));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

}  // namespace foretell
