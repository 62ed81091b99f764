#include "models/layers/gemma3n_modules.h"

#include "graph/ops/activations.h"
#include "graph/ops/compare.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"
#include "models/layers/positions.h"

namespace foretell {
namespace {

LayerState StateOf(const Gemma3nConfig& config, const Gemma3nLayer& layer) {
  LayerState state;
  if (layer.reuses) return state;
  state.kind =
      layer.slides ? LayerState::Kind::kSliding : LayerState::Kind::kFull;
  state.heads = config.kv_heads;
  state.key_dim = config.head_dim;
  state.value_dim = config.head_dim;
  state.window = layer.slides ? config.window : 0;
  return state;
}

std::vector<Gemma3nBlock> MakeBlocks(const Module& list,
                                     const Gemma3nConfig& config) {
  std::vector<Gemma3nBlock> out;
  out.reserve(config.layers.size());
  for (size_t index = 0; index < config.layers.size(); ++index) {
    out.emplace_back(
        list.Child(static_cast<int64_t>(index), RegionKind::kBlock), config,
        config.layers[index]);
  }
  return out;
}

std::vector<RotaryEmbedding> MakeRotary(const Module& at,
                                        const Gemma3nConfig& config) {
  std::vector<RotaryEmbedding> out;
  for (const KindRope& kind : config.ropes) {
    out.emplace_back(at, kind.rope, kind.kind);
  }
  return out;
}

// One for each stream but the first.
std::vector<Linear> MakeStreams(const Module& list,
                                const Gemma3nConfig& config) {
  std::vector<Linear> out;
  for (int64_t index = 0; index + 1 < config.streams; ++index) {
    out.emplace_back(list.Child(index, RegionKind::kLinear), config.hidden,
                     config.hidden, false);
  }
  return out;
}

Tensor MagnitudeOf(const Tensor& x) {
  return PowScalar(MeanLast(PowScalar(x, 2)), 0.5);
}

// Python names of a loop that brings streams to one magnitude.
struct StreamNames {
  Tensor projected;
  Tensor current;
  Tensor magnitude;
};

// x, made as large as `target` says.
void BringTo(const Tensor& target, StreamNames& names) {
  constexpr double kLeast = 1e-5;
  names.current = names.projected;
  names.magnitude = MeanLast(PowScalar(names.current, 2));
  names.magnitude = Sqrt(ClampLeast(names.magnitude, kLeast));
  names.current = Div(Mul(names.current, target), names.magnitude);
}

}  // namespace

Gemma3nEmbedder::Gemma3nEmbedder(const Module& at,
                                 const Gemma3nEmbedderConfig& config,
                                 int64_t hidden)
    : module(at),
      offset(config.offset),
      rows(config.rows),
      embedding(at.Child("embedding", RegionKind::kEmbedding), config.rows,
                config.width),
      hard_embedding_norm(at.Child("hard_embedding_norm", RegionKind::kNorm),
                          config.width, config.epsilon),
      soft_embedding_norm(at.Child("soft_embedding_norm", RegionKind::kNorm),
                          config.width, config.epsilon),
      embedding_projection(
          at.Child("embedding_projection", RegionKind::kLinear), config.width,
          hidden, false),
      embedding_post_projection_norm(
          at.Child("embedding_post_projection_norm", RegionKind::kNorm), hidden,
          config.epsilon, /*has_weight=*/false) {}

Tensor Gemma3nEmbedder::Forward(const Tensor& ids) const {
  const Scope scope = module.Enter();
  const auto look_up = [&] {
    return embedding.Forward(SubScalar(ids, static_cast<double>(offset)));
  };
  const Tensor embedded = look_up();
  const Tensor normed = hard_embedding_norm.Forward(embedded);
  const Tensor projected = embedding_projection.Forward(normed);
  return embedding_post_projection_norm.Forward(projected);
}

Gemma3nDecoder::Gemma3nDecoder(const Module& root, const Gemma3nConfig& config)
    : HeadedDecoder(root, "model", config.head),
      config_(config),
      embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                    config.vocabulary, config.hidden, /*is_scaled=*/true),
      layers_(MakeBlocks(base_.Child("layers"), config)),
      norm_(base_.Child("norm", RegionKind::kNorm), config.hidden,
            config.norm_epsilon),
      rotary_at_(base_.Child("rotary_emb")),
      rotary_emb_(MakeRotary(rotary_at_, config)),
      embed_tokens_per_layer_(
          base_.Child("embed_tokens_per_layer", RegionKind::kEmbedding),
          config.layer_rows, config.all_widths, /*is_scaled=*/true),
      per_layer_model_projection_(
          base_.Child("per_layer_model_projection", RegionKind::kLinear),
          config.hidden, config.all_widths, false),
      per_layer_projection_norm_(
          base_.Child("per_layer_projection_norm", RegionKind::kNorm),
          config.layer_width, config.norm_epsilon),
      altup_projections_(MakeStreams(base_.Child("altup_projections"), config)),
      altup_unembed_projections_(
          MakeStreams(base_.Child("altup_unembed_projections"), config)),
      per_layer_projection_scale_(
          NumberBuffer(base_, "per_layer_projection_scale")),
      per_layer_input_scale_(NumberBuffer(base_, "per_layer_input_scale")) {
  AddHead(embed_tokens_, config.ties);
  for (const Gemma3nLayer& layer : config.layers) {
    states.push_back(StateOf(config, layer));
  }
  stacks.push_back({"decoder", static_cast<int64_t>(config.layers.size())});
}

void Gemma3nDecoder::AddEmbedders(const Module& whole,
                                  const Gemma3nEmbedderConfig& vision,
                                  const Gemma3nEmbedderConfig& audio) {
  whole_ = whole;
  embed_vision_.emplace(whole.Child("embed_vision"), vision, config_.hidden);
  embed_audio_.emplace(whole.Child("embed_audio"), audio, config_.hidden);
}

Tensor Gemma3nDecoder::LookUpLayers(const Tensor& ids) const {
  const auto known = [&] {
    const Tensor from_zero = GeScalar(ids, 0);
    const Tensor in_table =
        LtScalar(ids, static_cast<double>(config_.layer_rows));
    return LogicalAnd(from_zero, in_table);
  };
  const Tensor in_table = known();
  const auto replaced = [&] {
    const Tensor padding = ScalarTensor(ids.builder(), 0, DType::kInt64);
    return Where(in_table, ids, padding);
  };
  const Tensor looked_up = replaced();
  return Reshape(embed_tokens_per_layer_.Forward(looked_up),
                 {ids.size(0), ids.size(1),
                  static_cast<int64_t>(layers_.size()), config_.layer_width});
}

Tensor Gemma3nDecoder::ProjectLayers(const Tensor& embedded,
                                     const Tensor& looked_up) const {
  Builder& builder = embedded.builder();
  Tensor projected = per_layer_model_projection_.Forward(embedded);
  projected = MulInto(projected, builder.Read(per_layer_projection_scale_));
  projected = Reshape(
      projected, {embedded.size(0), embedded.size(1),
                  static_cast<int64_t>(layers_.size()), config_.layer_width});
  projected = per_layer_projection_norm_.Forward(projected);
  return Mul(Add(projected, looked_up), builder.Read(per_layer_input_scale_));
}

Tensor Gemma3nDecoder::EmbedAll(const Tensor& ids, const Tensor& embedded,
                                std::vector<Tensor>& names) const {
  Builder& builder = ids.builder();
  const auto last_of = [](const Gemma3nEmbedder& embedder) {
    return static_cast<double>(embedder.offset) +
           static_cast<double>(embedder.rows - 1);
  };
  const auto own = [&](const Tensor& mask, const Gemma3nEmbedder& embedder) {
    const Tensor other =
        ScalarTensor(builder, last_of(embedder), DType::kInt64);
    return Where(mask, ids, other);
  };
  const auto first_vision = static_cast<double>(embed_vision_->offset);
  const auto first_audio = static_cast<double>(embed_audio_->offset);
  const auto between = [&] {
    const Tensor from = GeScalar(ids, first_vision);
    const Tensor below = LtScalar(ids, first_audio);
    return LogicalAnd(from, below);
  };
  const Tensor is_vision = between();
  const Tensor vision_ids = own(is_vision, *embed_vision_);
  const Tensor vision = embed_vision_->Forward(vision_ids);
  const Tensor wide_vision = Unsqueeze(is_vision, -1);
  Tensor out = Where(wide_vision, vision, embedded);
  const Tensor is_audio = GeScalar(ids, first_audio);
  const Tensor audio_ids = own(is_audio, *embed_audio_);
  const Tensor audio = embed_audio_->Forward(audio_ids);
  const Tensor wide_audio = Unsqueeze(is_audio, -1);
  out = Where(wide_audio, audio, out);
  names = {is_vision, vision_ids, vision, is_audio, audio_ids, audio};
  return out;
}

Tensor Gemma3nDecoder::RunBase(const ForwardInputs& inputs,
                               GenerationCache& cache) const {
  if (rotary_emb_.empty() && !layers_.empty()) {
    base_.builder().Fail("a kind of layer has no rope");
  }
  if (!whole_) {
    const Scope scope = base_.Enter();
    const Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
    return RunText(inputs, embedded, LookUpLayers(inputs.input_ids), cache);
  }
  const Scope whole = whole_->Enter();
  Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
  Tensor looked_up;
  {
    const Scope scope = base_.Enter();
    looked_up = LookUpLayers(inputs.input_ids);
  }
  std::vector<Tensor> names;
  embedded = EmbedAll(inputs.input_ids, embedded, names);
  const Scope scope = base_.Enter();
  return RunText(inputs, embedded, looked_up, cache);
}

Tensor Gemma3nDecoder::RunText(const ForwardInputs& inputs,
                               const Tensor& embedded, Tensor layer_inputs,
                               GenerationCache& cache) const {
  Builder& builder = base_.builder();
  layer_inputs = ProjectLayers(embedded, layer_inputs);
  cache = StartCacheFor(inputs);
  const Tensor position_ids =
      PositionIds(builder, embedded.size(1), inputs.past);
  // With a cache nobody looks for several sequences in a row.
  const Tensor looked_at = cache.layers.empty() ? position_ids : Tensor();
  const auto mask_of = [&](int64_t window) {
    return CausalMask(embedded, looked_at, inputs.attention, window,
                      inputs.past);
  };
  const Tensor full = mask_of(0);
  const std::array<Tensor, 2> masks = {full, mask_of(config_.window)};
  Tensor target = MagnitudeOf(embedded);
  std::vector<Tensor> streams = {embedded};
  StreamNames names;
  for (const Linear& projection : altup_projections_) {
    names.projected = projection.Forward(embedded);
    BringTo(target, names);
    streams.push_back(names.current);
  }
  Tensor hidden = Stack(streams, 0);
  Shared shared;
  hidden = RunLayers(inputs, std::move(hidden), layer_inputs, position_ids,
                     masks, shared, cache);
  target = MagnitudeOf(Select(hidden, 0, 0));
  streams = {Select(hidden, 0, 0)};
  StreamNames last = {{}, names.current, names.magnitude};
  names.current = {};
  names.magnitude = {};
  for (size_t index = 0; index < altup_unembed_projections_.size(); ++index) {
    const auto project = [&] {
      return altup_unembed_projections_[index].Forward(
          Select(hidden, 0, static_cast<int64_t>(index) + 1));
    };
    last.projected = project();
    BringTo(target, last);
    streams.push_back(last.current);
  }
  hidden = Stack(streams, 0);
  hidden = MeanOver(hidden, 0);
  return norm_.Forward(hidden);
}

Tensor Gemma3nDecoder::RunLayers(const ForwardInputs& inputs, Tensor streams,
                                 const Tensor& layer_inputs,
                                 const Tensor& position_ids,
                                 const std::array<Tensor, 2>& masks,
                                 Shared& shared, GenerationCache& cache) const {
  std::vector<std::pair<Tensor, Tensor>>& rotary = shared.rotary;
  for (const RotaryEmbedding& kind : rotary_emb_) {
    rotary.push_back(kind.Forward(streams, position_ids));
  }
  for (size_t index = 0; index < layers_.size(); ++index) {
    const Gemma3nLayer& layer = config_.layers[index];
    Gemma3nCall call;
    for (size_t kind = 0; kind < rotary.size(); ++kind) {
      if (config_.ropes[kind].slides == layer.slides) {
        call.rotary = rotary[kind];
      }
    }
    const size_t kind = layer.slides ? 1 : 0;
    call.mask = masks[kind];
    call.position_ids = position_ids;
    call.layer_input = Select(layer_inputs, 2, static_cast<int64_t>(index));
    call.attention = inputs.attention;
    call.shared = &shared.keys_and_values[kind];
    if (!layer.reuses) call.cached = cache.NextLayer();
    streams = layers_[index].Forward(streams, call);
  }
  return streams;
}

}  // namespace foretell
