// ModernBERT's layers: rotary attention in which most layers look a short way
// in both directions, a gated feed-forward, and norms that come first.
//
// Source: transformers 5.23, models/modernbert/modeling_modernbert.py
// (ModernBertEmbeddings to ModernBertPredictionHead), masking_utils.py
// (create_bidirectional_sliding_window_mask).
#ifndef FORETELL_MODELS_LAYERS_MODERNBERT_LAYER_H_
#define FORETELL_MODELS_LAYERS_MODERNBERT_LAYER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/linear.h"
#include "models/layers/read_modernbert.h"

namespace foretell {

// torch.nn.LayerNorm whose bias may be left out.
struct ModernBertNorm {
  ModernBertNorm(const Module& at, const ModernBertConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  ParameterId weight;
  std::optional<ParameterId> bias;
  double epsilon;
};

// Cosines and sines [1, s, d] of one kind of layer, and its mask, which may be
// empty.
struct ModernBertKind {
  Tensor cosines;
  Tensor sines;
  Tensor mask;
};

struct ModernBertAttention {
  ModernBertAttention(const Module& at, const ModernBertConfig& config);
  Tensor Forward(const Tensor& hidden, const ModernBertKind& kind,
                 std::string_view attention) const;

  Module module;
  int64_t head_dim;
  double chance;  // of its dropouts
  Linear wqkv;
  Linear wo;
  Dropout out_drop;
};

struct ModernBertFeedForward {
  ModernBertFeedForward(const Module& at, const ModernBertConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  int64_t inner;
  Linear wi;
  ActivationModule act;
  Dropout drop;
  Linear wo;
};

struct ModernBertLayer {
  ModernBertLayer(const Module& at, const ModernBertConfig& config,
                  bool is_first);
  Tensor Forward(Tensor hidden, const ModernBertKind& kind,
                 std::string_view attention) const;

  Module module;
  std::optional<ModernBertNorm> attn_norm;  // the first layer has none
  ModernBertAttention attn;
  ModernBertNorm mlp_norm;
  ModernBertFeedForward mlp;
};

// The whole of ModernBertModel.
struct ModernBertBody {
  ModernBertBody(const Module& at, const ModernBertConfig& config);
  // input_ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& input_ids, std::string_view attention) const;

  Module module;
  ModernBertConfig config;
  Embedding tok_embeddings;
  ModernBertNorm norm;
  Dropout drop;
  std::vector<ModernBertLayer> layers;
  ModernBertNorm final_norm;
  Module rotary_emb;
  // inv_freq of layers that see all tokens, and of those that do not.
  std::optional<ValueId> full_frequencies;
  std::optional<ValueId> window_frequencies;

 private:
  Tensor Embed(const Tensor& input_ids) const;
  Tensor WindowMask(const Tensor& hidden, std::string_view attention) const;
  void Turn(const Tensor& hidden, const Tensor& positions, ValueId frequencies,
            ModernBertKind& kind) const;
};

// norm(act(dense(x)))
struct ModernBertHead {
  ModernBertHead(const Module& at, const ModernBertConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  Linear dense;
  ActivationModule act;
  ModernBertNorm norm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MODERNBERT_LAYER_H_
