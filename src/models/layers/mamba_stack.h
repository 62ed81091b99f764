// A model of recurrent blocks alone, as Mamba, FalconMamba and Mamba 2 share
// it: embeddings, blocks, a norm, and the language-modelling head.
//
// A mixer has Forward(hidden, RecurrentCache*).
// Source: transformers 5.23, models/mamba/modeling_mamba.py (MambaBlock,
// MambaModel, MambaForCausalLM), models/{falcon_mamba,mamba2}/modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_MAMBA_STACK_H_
#define FORETELL_MODELS_LAYERS_MAMBA_STACK_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/short_convolution.h"
#include "models/model.h"

namespace foretell {

// What a model of recurrent blocks is made of.
template <class MixerConfig>
struct MambaStackConfig {
  MixerConfig mixer;
  int64_t vocabulary = 0;
  int64_t layers = 0;
  double norm_epsilon = 0;
  bool residual_in_float32 = true;
  bool tie_embeddings = true;
};

// A norm and a mixer, added to its input.
template <class Mixer, class Config>
struct MambaBlock {
  MambaBlock(const Module& at, const Config& config)
      : module(at),
        residual_in_float32(config.residual_in_float32),
        norm(at.Child("norm", RegionKind::kNorm), config.mixer.hidden,
             config.norm_epsilon),
        mixer(at.Child("mixer", RegionKind::kMixer), config.mixer) {}

  Tensor Forward(const Tensor& input, RecurrentCache* cache) const {
    const CheckpointScope checkpoint(module.builder(), {input});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = norm.Forward(To(input, module.builder().dtype()));
    if (residual_in_float32) residual = To(residual, DType::kFloat32);
    hidden = mixer.Forward(hidden, cache);
    hidden = Add(residual, hidden);
    return hidden;
  }

  Module module;
  bool residual_in_float32;
  RmsNorm norm;
  Mixer mixer;
};

template <class Mixer, class Config>
class MambaStack : public Model {
  using Block = MambaBlock<Mixer, Config>;

 public:
  MambaStack(const Module& root, const Config& config, bool has_head)
      : base_(has_head ? root.Child("backbone") : root),
        embeddings_(base_.Child("embeddings", RegionKind::kEmbedding),
                    config.vocabulary, config.mixer.hidden),
        blocks_(MakeBlocks(base_.Child("layers"), config)),
        norm_f_(base_.Child("norm_f", RegionKind::kNorm), config.mixer.hidden,
                config.norm_epsilon) {
    embeddings_.module.MarkInputEmbeddings();
    if (!has_head) return;
    lm_head_.emplace(root.Child("lm_head", RegionKind::kHead),
                     config.mixer.hidden, config.vocabulary, false);
    lm_head_->module.MarkOutputEmbeddings();
    if (config.tie_embeddings) {
      root.builder().Tie(lm_head_->weight, embeddings_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor hidden = RunBase(inputs);
    if (!lm_head_) return hidden;
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor kept =
        inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden);
    const auto project = [&] {
      return lm_head_->Forward(To(kept, base_.builder().dtype()));
    };
    const Tensor logits = To(project(), DType::kFloat32);
    return Scored(logits, inputs, CausalLmLoss);
  }

 private:
  static std::vector<Block> MakeBlocks(const Module& list,
                                       const Config& config) {
    std::vector<Block> blocks;
    blocks.reserve(static_cast<size_t>(config.layers));
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config);
    }
    return blocks;
  }

  // What an earlier prefill has left. Recordings see it once the step writes
  // into it.
  RecurrentCache TakeCache(const Mixer& mixer, int64_t batch) const {
    Builder& builder = base_.builder();
    const LayerState state = StateOf(mixer.config);
    Shape shape = {batch};
    const Shape extents = RecurrentExtents(mixer.config);
    for (const int64_t extent : extents.dims()) shape.Append(extent);
    RecurrentCache cache;
    cache.conv_bdk = builder.Constant(
        {batch, state.conv_channels, state.conv_tokens}, builder.dtype());
    cache.recurrent = builder.Constant(shape, DType::kFloat32);
    return cache;
  }

  Tensor RunBase(const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(inputs.input_ids);
    Tensor hidden = embedded;
    for (const Block& block : blocks_) {
      RecurrentCache cache;
      if (inputs.past > 0) {
        cache = TakeCache(block.mixer, inputs.input_ids.size(0));
      }
      hidden = block.Forward(hidden, inputs.HasCache() ? &cache : nullptr);
      inputs.Return(cache.conv_bdk);
      inputs.Return(cache.recurrent);
    }
    hidden = norm_f_.Forward(hidden);
    return hidden;
  }

  Module base_;
  Embedding embeddings_;
  std::vector<Block> blocks_;
  RmsNorm norm_f_;
  std::optional<Linear> lm_head_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MAMBA_STACK_H_
