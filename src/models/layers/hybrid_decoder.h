// A decoder whose layers attend, or run a recurrence over the tokens, or both:
// embeddings, layers, a norm, and one of the heads. Families differ in their
// layer, which is the template's argument.
//
// A layer is built by the family's `make_layer(at, index)` and has
//   Tensor Forward(const Tensor& hidden, const HybridContext& context,
//                  HybridCache* cache) const;
// Source: transformers 5.23, models/bamba/modeling_bamba.py (BambaModel,
// BambaForCausalLM) and models/{granitemoehybrid,falcon_h1,jamba,nemotron_h}/
// modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_HYBRID_DECODER_H_
#define FORETELL_MODELS_LAYERS_HYBRID_DECODER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "models/layers/causal_mask.h"
#include "models/layers/decoder_head.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/rope.h"
#include "models/layers/short_convolution.h"
#include "models/model.h"

namespace foretell {

// What the cache keeps of one layer.
struct HybridCache {
  CachedLayer attention;
  RecurrentCache recurrent;
};

struct HybridConfig {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  double norm_epsilon = 0;
  std::optional<RopeConfig> rope;  // nothing: no positions
  std::string embeddings_name = "embed_tokens";
  std::string norm_name = "norm";
  std::optional<double> embedding_multiplier;
  bool clones_embeddings = false;  // for the layers: HybridContext::embedded
  std::optional<double> logit_multiplier;
  std::optional<double> logit_divisor;
  bool logits_in_float = false;
  bool tie_embeddings = false;
  // Positions start behind what the cache holds.
  bool counts_past = true;
  // Fills a cache in training too: no `use_cache` reaches the base.
  bool fills_cache = false;
  // The mask is built without the positions.
  bool hides_positions = false;
  HeadConfig head;
};

// What every layer's forward is given.
struct HybridContext {
  Tensor embedded;                   // a copy; empty where no layer needs it
  Tensor position_ids;               // [1, s]
  std::pair<Tensor, Tensor> rotary;  // empty where there are no positions
  Tensor mask;                       // of attention; may be empty
  std::string attention;
  std::string experts;
  std::vector<Tensor>* router_logits = nullptr;
};

// What a class does to its loss before it returns it: a function of the loss,
// of the logits, and of the routers' scores.
using HybridFinish = std::function<Tensor(const Tensor&, const Tensor&,
                                          std::span<const Tensor>)>;

template <class Layer, class Norm = RmsNorm>
class HybridDecoder : public Model {
 public:
  template <class MakeLayer>
  HybridDecoder(const Module& root, const HybridConfig& config,
                MakeLayer make_layer)
      : config_(config),
        base_(config.head.kind == Head::kNone ? root : root.Child("model")),
        embeddings_(base_.Child(config.embeddings_name, RegionKind::kEmbedding),
                    config.vocabulary, config.hidden),
        layers_(MakeLayers(base_.Child("layers"), config.layers, make_layer)),
        norm_(base_.Child(config.norm_name, RegionKind::kNorm), config.hidden,
              config.norm_epsilon),
        rotary_emb_(MakeRotary(base_, config)),
        head_(root, config.head),
        kept_(static_cast<size_t>(config.layers)) {
    stacks.push_back({"decoder", config.layers});
    embeddings_.module.MarkInputEmbeddings();
    if (config.head.kind == Head::kCausalLm && config.tie_embeddings) {
      root.builder().Tie(head_.projection->weight, embeddings_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    std::vector<HybridCache> cache;
    std::vector<Tensor> router_logits;
    const Tensor hidden = RunBase(inputs, cache, router_logits);
    const Tensor output = config_.head.kind == Head::kCausalLm
                              ? RunHead(hidden, inputs, router_logits)
                              : head_.Forward(hidden, inputs);
    for (const Tensor& logits : router_logits) inputs.Return(logits);
    for (const HybridCache& layer : cache) {
      inputs.Return(layer.recurrent.conv_bdk);
      inputs.Return(layer.recurrent.recurrent);
      if (layer.attention.keys.empty()) continue;
      inputs.ReturnCache(layer.attention.keys);
      inputs.ReturnCache(layer.attention.values);
    }
    return output;
  }

  // States that a layer keeps. `extents` are those of a recurrent state behind
  // the batch.
  void Keep(int64_t layer, const LayerState& state, const Shape& extents = {}) {
    states.push_back(state);
    kept_[static_cast<size_t>(layer)].emplace_back(state, extents);
  }

  void FinishWith(HybridFinish finish) { finish_ = std::move(finish); }

 private:
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

  static std::optional<RotaryEmbedding> MakeRotary(const Module& base,
                                                   const HybridConfig& config) {
    if (!config.rope) return std::nullopt;
    return std::optional<RotaryEmbedding>(
        std::in_place, base.Child("rotary_emb"), *config.rope);
  }

  // What an earlier prefill has left. The caller has gone through keys and
  // values and still names the last of them.
  std::vector<HybridCache> TakeCache(const ForwardInputs& inputs) const {
    Builder& builder = base_.builder();
    const int64_t batch = inputs.input_ids.size(0);
    std::vector<HybridCache> cache(static_cast<size_t>(config_.layers));
    const auto take = [&](const Shape& shape, DType dtype) {
      return builder.State(shape, ContiguousStrides(shape), dtype);
    };
    Tensor named;
    for (size_t layer = 0; layer < cache.size(); ++layer) {
      for (const auto& [state, extents] : kept_[layer]) {
        if (state.kind == LayerState::Kind::kRecurrent) {
          // Recordings see these once the step writes into them.
          RecurrentCache& kept = cache[layer].recurrent;
          kept.conv_bdk = builder.Constant(
              {batch, state.conv_channels, state.conv_tokens}, builder.dtype());
          Shape shape = {batch};
          for (const int64_t extent : extents.dims()) shape.Append(extent);
          kept.recurrent = builder.Constant(shape, DType::kFloat32);
          continue;
        }
        const Shape shape = {batch, state.heads, inputs.past, state.key_dim};
        cache[layer].attention.keys = take(shape, builder.dtype());
        cache[layer].attention.values = take(shape, builder.dtype());
        named = cache[layer].attention.values;
      }
    }
    inputs.Return(named);
    return cache;
  }

  // Some layer attends.
  bool KeepsTokens() const {
    for (const auto& layer : kept_) {
      for (const auto& [state, extents] : layer) {
        if (state.kind != LayerState::Kind::kRecurrent) return true;
      }
    }
    return false;
  }

  Tensor RunBase(const ForwardInputs& inputs, std::vector<HybridCache>& cache,
                 std::vector<Tensor>& router_logits) const {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    const auto embed = [&] {
      const Tensor rows = embeddings_.Forward(inputs.input_ids);
      return config_.embedding_multiplier
                 ? MulScalar(rows, *config_.embedding_multiplier)
                 : rows;
    };
    const Tensor embedded = embed();
    Tensor hidden = embedded;
    HybridContext context;
    if (config_.clones_embeddings) {
      context.embedded = CloneContiguous(embedded);
    }
    context.attention = inputs.attention;
    context.experts = inputs.experts;
    context.router_logits = &router_logits;
    // A block that runs again is given no cache.
    const bool fills_cache =
        inputs.HasCache() || ((config_.fills_cache || inputs.fills_cache) &&
                              !builder.execution().checkpoint);
    if (inputs.HasCache() && !KeepsTokens()) {
      builder.Fail(
          "the library asks the cache how long it is, which a cache of "
          "recurrent layers alone cannot tell");
    }
    if (inputs.past > 0) {
      cache = TakeCache(inputs);
    } else if (fills_cache) {
      cache.resize(static_cast<size_t>(config_.layers));
    }
    Tensor position_ids = Arange(builder, hidden.size(1));
    if (config_.counts_past) {
      position_ids = AddScalar(position_ids, static_cast<double>(inputs.past));
    }
    position_ids = Unsqueeze(position_ids, 0);
    // With a cache nobody looks for several sequences in a row.
    const Tensor looked_at =
        inputs.HasCache() || config_.hides_positions ? Tensor() : position_ids;
    context.mask =
        CausalMask(hidden, looked_at, context.attention, 0, inputs.past);
    context.position_ids = position_ids;
    if (rotary_emb_)
      context.rotary = rotary_emb_->Forward(hidden, position_ids);
    for (size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i].Forward(hidden, context,
                                  cache.empty() ? nullptr : &cache[i]);
    }
    return norm_.Forward(hidden);
  }

  Tensor RunHead(const Tensor& hidden, const ForwardInputs& inputs,
                 std::span<const Tensor> router_logits) const {
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor kept =
        inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden);
    const auto project = [&] {
      Tensor logits = head_.projection->Forward(kept);
      if (config_.logits_in_float) logits = To(logits, DType::kFloat32);
      return logits;
    };
    Tensor logits = project();
    if (config_.logit_multiplier) {
      logits = MulScalar(logits, *config_.logit_multiplier);
    }
    if (config_.logit_divisor) {
      logits = DivScalar(logits, *config_.logit_divisor);
    }
    inputs.Return(logits);
    if (inputs.labels.empty()) return logits;
    const Tensor loss = CausalLmLoss(logits, inputs.labels);
    return finish_ ? finish_(loss, logits, router_logits) : loss;
  }

  HybridConfig config_;
  Module base_;
  Embedding embeddings_;
  std::vector<Layer> layers_;
  Norm norm_;
  std::optional<RotaryEmbedding> rotary_emb_;
  DecoderHead head_;
  std::vector<std::vector<std::pair<LayerState, Shape>>> kept_;  // by layer
  HybridFinish finish_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_HYBRID_DECODER_H_
