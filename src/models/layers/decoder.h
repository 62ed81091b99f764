// A decoder with rotary positions: embeddings, a stack of layers, a norm, and
// one of the heads. Families differ in their layer, which is the template's
// argument.
//
// A layer is built by the family's `make_layer(at, index)` and has
//   Tensor Forward(const Tensor& hidden, const DecoderContext& context) const;
// Source: transformers 5.23, models/llama/modeling_llama.py (LlamaModel,
// LlamaForCausalLM) and the models that share its text.
#ifndef FORETELL_MODELS_LAYERS_DECODER_H_
#define FORETELL_MODELS_LAYERS_DECODER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "models/layers/attention.h"
#include "models/layers/axis_rope.h"
#include "models/layers/causal_mask.h"
#include "models/layers/decoder_head.h"
#include "models/layers/dropout.h"
#include "models/layers/experts.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/positions.h"
#include "models/layers/rope.h"
#include "models/model.h"

namespace foretell {

struct DecoderConfig {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  RopeConfig rope;
  // One for each kind of layer in use, by name, in place of `rope`.
  std::vector<KindRope> kinds;
  double norm_epsilon = 0;
  RmsScale norm_scale = RmsScale::kWeight;
  bool scales_embeddings = false;
  bool scale_is_whole = false;  // by a number that was written as a whole one
  // The model multiplies what the table gives, once the masks are there.
  std::optional<double> embedding_multiplier;
  bool multiplies_first = false;  // not behind the masks
  // Every token sees those on both sides, in a window or all (EmbeddingGemma).
  bool sees_both_sides = false;
  bool tie_embeddings = false;
  int64_t window = 0;  // of the layers that attend to one; 0: none does
  // Builds the mask over all tokens beside the window's: layers differ.
  bool mixes_masks = false;
  // Builds the window's mask also where no window is in use, of length zero.
  bool masks_empty_window = false;
  // Its layers read the mask themselves, which is therefore always there.
  bool needs_mask = false;
  // Its masks are built without the positions.
  bool hides_positions = false;
  // The class refuses sdpa, and who asks for it gets eager attention.
  bool is_eager_only = false;
  bool caps_scores = false;  // which is why
  HeadConfig head;
  std::string base_name = "model";  // the base model's name below a head
  std::string embeddings_name = "embed_tokens";
  std::string layers_name = "layers";
  std::string norm_name = "norm";  // the last norm's below the base model
  std::string rotary_name = "rotary_emb";
  // Behind the embeddings, once the masks are there. As a module, which has a
  // name, its result takes the embeddings' name.
  double embedding_dropout = 0;
  std::string embedding_dropout_name;
  // Fills a generation cache in training too: no `use_cache` reaches the base.
  bool fills_cache = false;
};

// What lives as long as the model's output: a cache, and scores of routers.
struct DecoderOutput {
  std::vector<CachedLayer> cache;  // one per layer, where one is filled
  size_t filled = 0;
  CachedLayer* NextLayer() {
    return filled < cache.size() ? &cache[filled++] : nullptr;
  }
  std::vector<Tensor> router_logits;
};

// What a class does to its loss before it returns it; a function of the loss
// and of what the layers left behind.
using DecoderFinish = std::function<Tensor(const Tensor&, const DecoderOutput&,
                                           const ForwardInputs&)>;

// What every layer's forward is given.
struct DecoderContext {
  Tensor position_ids;               // [1, s]
  std::pair<Tensor, Tensor> rotary;  // cosines and sines [b, s, d]
  // Of layers with a window, where these have a rope of their own.
  std::pair<Tensor, Tensor> window_rotary;
  Tensor mask;         // over all tokens; may be empty
  Tensor window_mask;  // of layers with a window
  std::string attention;
  std::string experts;
  bool fills_cache = false;
  DecoderOutput* output = nullptr;

  const std::pair<Tensor, Tensor>& RotaryOf(int64_t layer_window) const {
    const bool own = layer_window > 0 && !window_rotary.first.empty();
    return own ? window_rotary : rotary;
  }
  // What the last layer with an indexer chose, for those after it that have
  // none (layers/latent_layer.h).
  mutable Tensor chosen_keys;
};

// A norm of a family's own kind: built of a place, a width and an epsilon.
template <class Norm>
Norm MakeNorm(const Module& at, int64_t width, double epsilon, RmsScale scale) {
  if constexpr (std::is_same_v<Norm, RmsNorm>) {
    return RmsNorm(at, width, epsilon, scale);
  } else {
    return Norm(at, width, epsilon);
  }
}

// `Norm` is the last norm's class, built of a place, a width and an epsilon.
template <class Layer, class Norm = RmsNorm>
class Decoder : public Model {
 public:
  template <class MakeLayer>
  Decoder(const Module& root, const DecoderConfig& config, MakeLayer make_layer)
      : config_(config),
        root_(root),
        base_(config.head.kind == Head::kNone ? root
                                              : root.Child(config.base_name)),
        embed_tokens_(
            base_.Child(config.embeddings_name, RegionKind::kEmbedding),
            config.vocabulary, config.hidden, config.scales_embeddings,
            config.scale_is_whole),
        layers_(MakeLayers(base_.Child(config.layers_name), config.layers,
                           make_layer)),
        norm_(MakeNorm<Norm>(base_.Child(config.norm_name, RegionKind::kNorm),
                             config.hidden, config.norm_epsilon,
                             config.norm_scale)),
        rotary_emb_(MakeRotary(base_.Child(config.rotary_name), config)),
        head_(root, config.head) {
    stacks.push_back({"decoder", config.layers});
    if (!config.embedding_dropout_name.empty()) {
      embedding_dropout_.emplace(base_.Child(config.embedding_dropout_name),
                                 config.embedding_dropout);
    }
    embed_tokens_.module.MarkInputEmbeddings();
    if (config.head.kind == Head::kCausalLm && config.tie_embeddings) {
      root.builder().Tie(head_.projection->weight, embed_tokens_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    follows_mask = FollowsMask();
    DecoderOutput kept;
    const Tensor hidden = RunBase(inputs, kept);
    const Tensor output = head_.Forward(hidden, inputs);
    for (const Tensor& logits : kept.router_logits) inputs.Return(logits);
    // The object of answers has no place for a cache.
    const bool returns_cache = config_.head.kind != Head::kQuestionAnswering;
    for (const CachedLayer& layer : kept.cache) {
      if (!returns_cache) break;
      if (!layer.keys.empty()) inputs.ReturnCache(layer.keys);
      if (!layer.values.empty()) inputs.ReturnCache(layer.values);
      if (!layer.window.empty()) inputs.ReturnCache(layer.window);
      // Held by the cache, but no tensors that its layers list.
      inputs.Return(layer.recurrent.conv_bdk);
      inputs.Return(layer.recurrent.recurrent);
      if (!layer.indexer_keys.empty()) inputs.ReturnCache(layer.indexer_keys);
    }
    return finish_ ? finish_(output, kept, inputs) : output;
  }

  void FinishWith(DecoderFinish finish) { finish_ = std::move(finish); }

 private:
  // Nothing but the masks is made of a mask of padding: no layer reads it, and
  // no loss over the routers' scores.
  bool FollowsMask() const {
    const bool any_reads =
        std::ranges::any_of(states, [](const LayerState& state) {
          return state.kind == LayerState::Kind::kRecurrent ||
                 state.index_dim > 0;
        });
    return !any_reads && !finish_ && !config_.needs_mask &&
           !config_.sees_both_sides;
  }

  // DynamicCache(config): a layer of its own for each of the model's.
  void MakeCache(DecoderOutput& kept) const {
    kept.cache.resize(states.size());
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].kind != LayerState::Kind::kSliding) continue;
      kept.cache[i].window = LiftFresh(base_.builder(), {}, DType::kInt64);
    }
  }

  // What an earlier prefill has left.
  void TakeCache(const ForwardInputs& inputs, DecoderOutput& kept) const {
    Builder& builder = base_.builder();
    const int64_t batch = inputs.input_ids.size(0);
    for (const LayerState& state : states) {
      if (state.kind == LayerState::Kind::kRecurrent) {
        kept.cache.push_back(TakeRecurrent(builder, state, batch));
        continue;
      }
      const auto take = [&](int64_t dim) {
        const Shape shape = {batch, state.heads, inputs.past, dim};
        return builder.State(shape, ContiguousStrides(shape), builder.dtype());
      };
      CachedLayer& layer = kept.cache.emplace_back();
      layer.keys = take(state.key_dim);
      layer.values = take(state.value_dim);
      if (state.index_dim > 0) {
        const Shape shape = {batch, inputs.past, state.index_dim};
        layer.indexer_keys =
            builder.State(shape, ContiguousStrides(shape), builder.dtype());
      }
      if (state.kind != LayerState::Kind::kSliding) continue;
      layer.window = builder.State({}, {}, DType::kInt64);
      if (inputs.past < state.window) continue;
      // Views of the last tokens, which keep the whole of what they are of.
      layer.keys = builder.CutBefore(layer.keys, 2, state.window - 1);
      layer.values = builder.CutBefore(layer.values, 2, state.window - 1);
    }
    // The caller has gone through the cache and still names its last tensor.
    const auto last = std::find_if(
        kept.cache.rbegin(), kept.cache.rend(),
        [](const CachedLayer& one) { return !one.values.empty(); });
    if (last == kept.cache.rend()) return;
    inputs.Return(last->window.empty() ? last->values : last->window);
  }

  static std::vector<RotaryEmbedding> MakeRotary(const Module& at,
                                                 const DecoderConfig& config) {
    std::vector<RotaryEmbedding> out;
    for (const KindRope& kind : config.kinds) {
      out.emplace_back(at, kind.rope, kind.kind);
    }
    if (out.empty()) out.emplace_back(at, config.rope);
    return out;
  }

  template <class MakeLayer>
  static std::vector<Layer> MakeLayers(const Module& list, int64_t count,
                                       MakeLayer make_layer) {
    std::vector<Layer> layers;
    layers.reserve(static_cast<size_t>(count));
    for (int64_t index = 0; index < count; ++index) {
      layers.push_back(
          make_layer(list.Child(index, RegionKind::kBlock), index));
    }
    return layers;
  }

  Tensor RunBase(const ForwardInputs& inputs, DecoderOutput& kept) const {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
    if (config_.embedding_multiplier && config_.multiplies_first) {
      embedded = MulScalar(std::move(embedded), *config_.embedding_multiplier);
    }
    Tensor hidden = embedded;
    DecoderContext context;
    context.attention = TakesSdpa() ? inputs.attention : "eager";
    context.experts = inputs.experts;
    context.output = &kept;
    // Checkpointing switches `use_cache` off.
    const bool fills_cache = ((config_.fills_cache || inputs.fills_cache) &&
                              !builder.execution().checkpoint) ||
                             inputs.HasCache();
    if (inputs.past > 0) {
      TakeCache(inputs, kept);
    } else if (fills_cache) {
      MakeCache(kept);
    }
    Tensor positions = Positions(builder, hidden.size(1), inputs.past);
    Tensor position_ids;
    Tensor turned_by;  // what turns queries and keys
    if (config_.rope.sections.empty()) {
      position_ids = Unsqueeze(positions, 0);
      turned_by = position_ids;
    } else {
      AxisPositions places =
          PlaceOnAxes(std::move(positions), inputs.input_ids.size(0),
                      !config_.rope.sections_side_by_side);
      position_ids = std::move(places.text);
      turned_by = std::move(places.axes);
    }
    // With a cache nobody looks for several sequences in a row.
    const Tensor looked_at =
        fills_cache || config_.hides_positions ? Tensor() : position_ids;
    const auto mask_of = [&](int64_t window) {
      if (!inputs.attention_mask.empty()) {
        return CausalMaskOver(inputs.attention_mask, hidden, context.attention,
                              {window, inputs.past, !config_.needs_mask});
      }
      return CausalMask(hidden, looked_at, context.attention, window,
                        inputs.past, !config_.needs_mask);
    };
    if (config_.sees_both_sides) {
      if (fills_cache) builder.Fail("a mask of both sides over a cache");
      context.mask = MaskOfBothSides(hidden, looked_at, context.attention, 0);
    } else if (config_.window == 0 || config_.mixes_masks) {
      context.mask = mask_of(0);
    }
    if (config_.window > 0) {
      if (fills_cache && !inputs.HasCache()) {
        builder.Fail(
            "a cache that keeps a window only is not modelled; some classes "
            "fill one in training, too, unless use_cache is false");
      }
      context.window_mask =
          config_.sees_both_sides
              ? MaskOfBothSides(hidden, looked_at, context.attention,
                                config_.window)
              : mask_of(config_.window);
    } else if (config_.masks_empty_window) {
      context.window_mask = mask_of(kEmptyWindow);
    }
    if (config_.embedding_multiplier && !config_.multiplies_first) {
      hidden = Tensor();
      embedded = MulScalar(std::move(embedded), *config_.embedding_multiplier);
      hidden = embedded;
    }
    context.fills_cache = fills_cache;
    context.position_ids = position_ids;
    if (embedding_dropout_) {
      embedded = embedding_dropout_->Forward(embedded);
      hidden = embedded;
    } else {
      hidden = ApplyDropout(hidden, config_.embedding_dropout);
    }
    for (size_t i = 0; i < rotary_emb_.size(); ++i) {
      const bool slides = !config_.kinds.empty() && config_.kinds[i].slides;
      (slides ? context.window_rotary : context.rotary) =
          rotary_emb_[i].Forward(hidden, turned_by);
    }
    Tensor scale;  // has its name until the model returns
    if (config_.scales_embeddings && builder.library().scales_by_constant) {
      scale = LiftFresh(builder, {}, hidden.dtype());
      hidden = Mul(hidden, scale);
    }
    for (const Layer& layer : layers_) hidden = layer.Forward(hidden, context);
    return norm_.Forward(hidden);
  }

  // Where its scores have a cap, an older library leaves it out.
  bool TakesSdpa() const {
    Builder& builder = base_.builder();
    if (!config_.is_eager_only) return true;
    // flash-attention has a cap of its own.
    const bool is_flash = builder.execution().flash;
    if (is_flash && !config_.caps_scores) {
      builder.Fail("the class has no flash-attention");
    }
    return config_.caps_scores &&
           (is_flash || builder.library().caps_scores_in_eager_only);
  }

  DecoderConfig config_;
  Module root_;
  Module base_;
  Embedding embed_tokens_;
  std::optional<Dropout> embedding_dropout_;
  std::vector<Layer> layers_;
  Norm norm_;
  std::vector<RotaryEmbedding> rotary_emb_;  // one, or one for each kind
  DecoderHead head_;
  DecoderFinish finish_;
};

// What a family calls the two norms of its layer.
struct NormNames {
  std::string_view before_attention = "input_layernorm";
  std::string_view before_mlp = "post_attention_layernorm";
};

// Attention and a feed-forward, each behind a norm and added to its input:
// the layer of Llama, Mistral, Mixtral, Qwen2, Qwen3 and Gemma.
template <class Mlp, class Norm = RmsNorm>
struct DecoderLayer {
  template <class MakeMlp>
  DecoderLayer(const Module& at, const AttentionConfig& attention,
               double norm_epsilon, MakeMlp make_mlp,
               RmsScale norm_scale = RmsScale::kWeight,
               const NormNames& names = {})
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(make_mlp(at.Child("mlp", RegionKind::kMlp))),
        input_layernorm(
            MakeNorm<Norm>(at.Child(names.before_attention, RegionKind::kNorm),
                           attention.hidden, norm_epsilon, norm_scale)),
        post_attention_layernorm(
            MakeNorm<Norm>(at.Child(names.before_mlp, RegionKind::kNorm),
                           attention.hidden, norm_epsilon, norm_scale)) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const Tensor& mask =
        self_attn.config.window > 0 ? context.window_mask : context.mask;
    const auto& rotary = context.RotaryOf(self_attn.config.window);
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {mask, rotary.first, rotary.second, context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, rotary, mask, context.attention, cached,
                               context.position_ids);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    const ExpertsCall call = {context.experts, &context.output->router_logits};
    if constexpr (requires { mlp.Forward(hidden, call); }) {
      hidden = mlp.Forward(hidden, call);
    } else {
      hidden = mlp.Forward(hidden);
    }
    return Add(residual, hidden);
  }

  Module module;
  GroupedQueryAttention self_attn;
  Mlp mlp;
  Norm input_layernorm;
  Norm post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DECODER_H_
