// Gemma 3n's decoder: several residual streams made of the embeddings, layers
// of two kinds of which the last may read the keys and values of earlier ones,
// and a table of embeddings for each layer.
//
// In: the text configuration as read. Out: the registered modules, what
// generation keeps, and the forward, alone or as the class with towers runs it
// with text alone.
// Source: transformers 5.23, models/gemma3n/modeling_gemma3n.py
// (Gemma3nTextModel, Gemma3nMultimodalEmbedder, Gemma3nModel).
#ifndef FORETELL_MODELS_LAYERS_GEMMA3N_MODULES_H_
#define FORETELL_MODELS_LAYERS_GEMMA3N_MODULES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/layers/gemma3n_layer.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/rope.h"

namespace foretell {

struct Gemma3nConfig : Gemma3nLayerConfig {
  int64_t vocabulary = 0;
  HeadConfig head;
  bool ties = true;
  std::vector<Gemma3nLayer> layers;
  std::vector<KindRope> ropes;  // of the kinds in use
  int64_t layer_rows = 0;       // of the table that serves all layers
  int64_t all_widths = 0;       // of all layers
};

struct Gemma3nEmbedderConfig {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t offset = 0;  // the first token that it embeds
  double epsilon = 1e-6;
};

// Embeds the tokens of images or sounds into the text model's width.
struct Gemma3nEmbedder {
  Gemma3nEmbedder(const Module& at, const Gemma3nEmbedderConfig& config,
                  int64_t hidden);
  Tensor Forward(const Tensor& ids) const;

  Module module;
  int64_t offset;
  int64_t rows;
  Embedding embedding;
  Gemma4Norm hard_embedding_norm;
  Gemma4Norm soft_embedding_norm;
  Linear embedding_projection;
  Gemma4Norm embedding_post_projection_norm;
};

class Gemma3nDecoder : public HeadedDecoder {
 public:
  Gemma3nDecoder(const Module& root, const Gemma3nConfig& config);
  // The class that holds this model has these two; it embeds all tokens.
  void AddEmbedders(const Module& whole, const Gemma3nEmbedderConfig& vision,
                    const Gemma3nEmbedderConfig& audio);

 private:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override;
  Tensor LookUpLayers(const Tensor& ids) const;
  Tensor ProjectLayers(const Tensor& embedded, const Tensor& looked_up) const;
  // The whole's ways to embed each token, chosen by what the token is.
  Tensor EmbedAll(const Tensor& ids, const Tensor& embedded,
                  std::vector<Tensor>& names) const;
  Tensor RunText(const ForwardInputs& inputs, const Tensor& embedded,
                 Tensor layer_inputs, GenerationCache& cache) const;
  // What the forward's dictionaries hold until it ends.
  struct Shared {
    std::vector<std::pair<Tensor, Tensor>> rotary;
    std::array<std::pair<Tensor, Tensor>, 2> keys_and_values;
  };
  Tensor RunLayers(const ForwardInputs& inputs, Tensor streams,
                   const Tensor& layer_inputs, const Tensor& position_ids,
                   const std::array<Tensor, 2>& masks, Shared& shared,
                   GenerationCache& cache) const;

  Gemma3nConfig config_;
  Embedding embed_tokens_;
  std::vector<Gemma3nBlock> layers_;
  Gemma4Norm norm_;
  Module rotary_at_;
  std::vector<RotaryEmbedding> rotary_emb_;  // one for each of `ropes`
  Embedding embed_tokens_per_layer_;
  Linear per_layer_model_projection_;
  Gemma4Norm per_layer_projection_norm_;
  std::vector<Linear> altup_projections_;
  std::vector<Linear> altup_unembed_projections_;
  ValueId per_layer_projection_scale_;
  ValueId per_layer_input_scale_;
  std::optional<Module> whole_;
  std::optional<Gemma3nEmbedder> embed_vision_;
  std::optional<Gemma3nEmbedder> embed_audio_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA3N_MODULES_H_
