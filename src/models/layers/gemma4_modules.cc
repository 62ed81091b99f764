#include "models/layers/gemma4_modules.h"

#include <cmath>
#include <limits>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/powers.h"
#include "graph/ops/views.h"
#include "models/layers/block_mask.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"
#include "models/layers/positions.h"

namespace foretell {
namespace {

LayerState StateOf(const Gemma4Config& config, const Gemma4Layer& layer) {
  LayerState state;
  if (layer.reuses) return state;
  state.kind =
      layer.slides ? LayerState::Kind::kSliding : LayerState::Kind::kFull;
  state.heads = layer.kv_heads;
  state.key_dim = layer.head_dim;
  state.value_dim = layer.head_dim;
  state.window = layer.slides ? config.window : 0;
  return state;
}

std::vector<Gemma4Block> MakeBlocks(const Module& list,
                                    const Gemma4Config& config) {
  std::vector<Gemma4Block> out;
  out.reserve(config.layers.size());
  for (size_t index = 0; index < config.layers.size(); ++index) {
    out.emplace_back(
        list.Child(static_cast<int64_t>(index), RegionKind::kBlock), config,
        config.layers[index]);
  }
  return out;
}

std::vector<ValueId> RegisterRotary(const Module& at,
                                    const Gemma4Config& config) {
  std::vector<ValueId> out;
  for (const auto& [kind, angles] : config.ropes) {
    at.Buffer(kind + "_inv_freq", {angles}, DType::kFloat32, false);
    out.push_back(at.builder().graph().buffers.back().value);
    at.Buffer(kind + "_original_inv_freq", {angles}, DType::kFloat32, false);
  }
  return out;
}

}  // namespace

Gemma4Decoder::LayerInputs::LayerInputs(const Module& base,
                                        const Gemma4Config& config)
    : embed_tokens_per_layer(
          base.Child("embed_tokens_per_layer", RegionKind::kEmbedding),
          config.layer_rows, config.all_widths, /*is_scaled=*/true),
      per_layer_model_projection(
          base.Child("per_layer_model_projection", RegionKind::kLinear),
          config.hidden, config.all_widths, false),
      per_layer_projection_norm(
          base.Child("per_layer_projection_norm", RegionKind::kNorm),
          config.layer_width, config.norm_epsilon) {}

Gemma4Decoder::Gemma4Decoder(const Module& root, const Gemma4Config& config,
                             const DecoderConfig& keys)
    : HeadedDecoder(root, "model", keys.head),
      config_(config),
      embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                    keys.vocabulary, keys.hidden, /*is_scaled=*/true),
      layers_(MakeBlocks(base_.Child("layers"), config)),
      norm_(base_.Child("norm", RegionKind::kNorm), keys.hidden,
            config.norm_epsilon),
      rotary_emb_(base_.Child("rotary_emb")),
      frequencies_(RegisterRotary(rotary_emb_, config)) {
  if (config.layer_width > 0) layer_inputs_.emplace(base_, config);
  AddHead(embed_tokens_, keys.tie_embeddings);
  for (const Gemma4Layer& layer : config.layers) {
    states.push_back(StateOf(config, layer));
  }
  stacks.push_back({"decoder", keys.layers});
}

const char* Gemma4Decoder::WhyNot(const ForwardInputs& inputs) const {
  if (inputs.fills_cache && !inputs.HasCache()) {
    return "a cache that Gemma 4 fills in training is not modelled";
  }
  if (inputs.HasCache() && config_.whole_has_blocks) {
    return "a cache under a mask of blocks is not modelled";
  }
  if (config_.sees_both_sides) return "attention to both sides is not modelled";
  if (config_.ropes.empty() && !layers_.empty()) {
    return "a kind of layer has no rope";
  }
  return nullptr;
}

Tensor Gemma4Decoder::RunBase(const ForwardInputs& inputs,
                              GenerationCache& cache) const {
  if (const char* why = WhyNot(inputs)) {
    root_.builder().Fail(why);
    return inputs.input_ids;
  }
  return config_.in_whole ? RunInWhole(inputs, cache) : RunText(inputs, cache);
}

Tensor Gemma4Decoder::LookUpLayers(const Tensor& ids) const {
  const auto count = static_cast<int64_t>(layers_.size());
  return Reshape(layer_inputs_->embed_tokens_per_layer.Forward(ids),
                 {ids.size(0), ids.size(1), count, config_.layer_width});
}

Tensor Gemma4Decoder::ProjectLayers(const Tensor& embedded,
                                    const Tensor& looked_up) const {
  const auto count = static_cast<int64_t>(layers_.size());
  const double scale = std::pow(static_cast<double>(config_.hidden), -0.5);
  Tensor projected = MulScalar(
      layer_inputs_->per_layer_model_projection.Forward(embedded), scale);
  projected = Reshape(projected, {embedded.size(0), embedded.size(1), count,
                                  config_.layer_width});
  projected = layer_inputs_->per_layer_projection_norm.Forward(projected);
  return MulScalar(Add(projected, looked_up), std::pow(2.0, -0.5));
}

Gemma4Decoder::Masks Gemma4Decoder::MakeMasks(const Tensor& embedded,
                                              const Tensor& position_ids,
                                              std::string_view attention,
                                              const Tensor& blocks,
                                              int64_t past) const {
  Masks out;
  if (!blocks.empty()) {
    out.full = BlockMask(embedded, position_ids, attention, 0, blocks);
    out.sliding =
        BlockMask(embedded, position_ids, attention, config_.window, blocks);
    return out;
  }
  out.full = CausalMask(embedded, position_ids, attention, 0, past);
  out.sliding =
      CausalMask(embedded, position_ids, attention, config_.window, past);
  return out;
}

std::pair<Tensor, Tensor> Gemma4Decoder::Angles(size_t kind,
                                                const Tensor& position_ids,
                                                DType dtype) const {
  const Scope scope = rotary_emb_.Enter();
  Builder& builder = rotary_emb_.builder();
  const auto angles = [&] {
    return Mul(To(Unsqueeze(position_ids, 2), DType::kFloat32),
               builder.Read(frequencies_[kind]));
  };
  const Tensor each = angles();
  const Tensor both = Cat2(each, each, -1);
  const Tensor cosines = MulScalar(Cos(both), 1.0);
  const Tensor sines = MulScalar(Sin(both), 1.0);
  const Tensor cosines_out = To(cosines, dtype);
  return {cosines_out, To(sines, dtype)};
}

Tensor Gemma4Decoder::RunText(const ForwardInputs& inputs,
                              GenerationCache& cache) const {
  const Scope scope = base_.Enter();
  const Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
  Tensor layer_inputs;
  if (layer_inputs_) {
    layer_inputs = LookUpLayers(inputs.input_ids);
    layer_inputs = ProjectLayers(embedded, layer_inputs);
  }
  cache = StartCacheFor(inputs);
  const Tensor position_ids =
      PositionIds(base_.builder(), inputs.input_ids.size(1), inputs.past);
  // With a cache nobody looks for several sequences in a row.
  const Tensor looked_at = inputs.HasCache() ? Tensor() : position_ids;
  Masks masks =
      MakeMasks(embedded, looked_at, inputs.attention, {}, inputs.past);
  return RunLayers(embedded, std::move(layer_inputs), position_ids,
                   std::move(masks), inputs.attention, inputs, cache);
}

Tensor Gemma4Decoder::RunInWhole(const ForwardInputs& inputs,
                                 GenerationCache& cache) const {
  Builder& builder = root_.builder();
  const Tensor& given = inputs.input_ids;
  std::string_view attention = inputs.attention;
  if (config_.whole_is_eager) attention = "eager";
  const Scope whole(builder,
                    builder.graph().regions[base_.region().index].parent);
  // Tokens of images, films and sounds.
  const Tensor images = EqScalar(given, 0);
  const Tensor films = EqScalar(given, 1);
  const Tensor sounds = EqScalar(given, 2);
  const auto any = [&] { return BitwiseOr(BitwiseOr(images, films), sounds); };
  const Tensor others = any();
  Tensor ids = CloneContiguous(given);
  const auto replaced = [&] {
    const Tensor padding = ScalarTensor(builder, 0, DType::kInt64);
    return Where(others, padding, ids);
  };
  ids = replaced();
  const Tensor embedded = embed_tokens_.Forward(ids);
  Tensor padded;
  Tensor row;
  Tensor layer_inputs;
  if (layer_inputs_) {
    row = Select(builder.Read(embed_tokens_.weight), 0, 0);
    const auto replace = [&] {
      const Tensor condition = Unsqueeze(others, 2);
      return Where(condition, View(row, {1, 1, -1}), embedded);
    };
    padded = replace();
    layer_inputs = LookUpLayers(ids);
  }
  // The text model makes an empty one, behind the masks.
  if (inputs.past > 0) cache = StartCacheFor(inputs);
  const Tensor position_ids = PositionIds(builder, given.size(1), inputs.past);
  const Tensor looked_at = inputs.past > 0 ? Tensor() : position_ids;
  Tensor blocks;
  if (config_.whole_has_blocks) {
    blocks = Full(builder, given.shape(), -1, DType::kInt64);
  }
  const Masks masks =
      MakeMasks(embedded, looked_at, attention, blocks, inputs.past);
  const Scope scope = base_.Enter();
  if (inputs.past == 0) cache = StartCacheFor(inputs);
  Tensor projected;
  if (layer_inputs_) projected = ProjectLayers(embedded, layer_inputs);
  return RunLayers(embedded, std::move(projected), position_ids, masks,
                   attention, inputs, cache);
}

Tensor Gemma4Decoder::RunLayers(const Tensor& embedded, Tensor layer_inputs,
                                const Tensor& position_ids, Masks masks,
                                std::string_view attention,
                                const ForwardInputs& inputs,
                                GenerationCache& cache) const {
  Builder& builder = base_.builder();
  std::vector<std::pair<Tensor, Tensor>> rotary;
  for (size_t kind = 0; kind < frequencies_.size(); ++kind) {
    rotary.push_back(Angles(kind, position_ids, embedded.dtype()));
  }
  std::pair<Tensor, Tensor> shared[2];
  Tensor hidden = embedded;
  for (size_t index = 0; index < layers_.size(); ++index) {
    const bool cuts = static_cast<int64_t>(index) == config_.first_shared &&
                      embedded.size(1) > 1 && !builder.execution().flash;
    if (cuts) {
      // The places whose logits are asked for: in training all, which is a
      // slice of whole axes.
      const auto cut = [&](Tensor& x, int axis) {
        if (x.empty()) return;
        constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
        x = inputs.prefill ? Slice(x, axis, -1, kToTheEnd) : Alias(x);
      };
      cut(hidden, 1);
      cut(layer_inputs, 1);
      for (auto& [cosines, sines] : rotary) {
        cut(cosines, 1);
        cut(sines, 1);
      }
      cut(masks.full, 2);
      cut(masks.sliding, 2);
    }
    const Gemma4Layer& layer = config_.layers[index];
    const size_t kind = layer.slides && rotary.size() > 1 ? 1 : 0;
    Gemma4Call call;
    call.rotary = rotary.empty() ? std::pair<Tensor, Tensor>() : rotary[kind];
    call.mask = layer.slides ? masks.sliding : masks.full;
    call.position_ids = position_ids;
    if (!layer_inputs.empty()) {
      call.layer_input = Select(layer_inputs, 2, static_cast<int64_t>(index));
    }
    call.attention = attention;
    call.experts = inputs.experts;
    if (!layer.reuses) call.cached = cache.NextLayer();
    call.shared = &shared[layer.slides ? 1 : 0];
    hidden = layers_[index].Forward(hidden, call);
  }
  return norm_.Forward(hidden);
}

}  // namespace foretell
