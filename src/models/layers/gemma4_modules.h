// Gemma 4's decoder: layers of two kinds with ropes of their own, of which the
// last may read the keys and values of earlier ones, and a table of embeddings
// for each layer.
//
// In: the text configuration as read. Out: the registered modules, what
// generation keeps, and the forward, alone or as the class with towers runs it
// with text alone. Errors: none; a generation cache under the unified class's
// mask of blocks is not modelled.
// Source: transformers 5.23, models/gemma4/modeling_gemma4.py
// (Gemma4TextModel, Gemma4Model).
#ifndef FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_
#define FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/gemma4_layer.h"
#include "models/layers/headed_decoder.h"

namespace foretell {

struct Gemma4Config : Gemma4LayerConfig {
  bool sees_both_sides = false;
  std::vector<Gemma4Layer> layers;
  // A kind of layer in use and how many angles turn its heads, by name.
  std::vector<std::pair<std::string, int64_t>> ropes;
  int64_t first_shared = 0;  // the first layer that reads others' keys
  int64_t layer_rows = 0;    // of the table that serves all layers
  int64_t all_widths = 0;    // of all layers
  // The class with towers holds it, and so embeds and masks in its place.
  bool in_whole = false;
  // That class has a tower which only has eager attention, and so has all.
  bool whole_is_eager = false;
  // It gives each token a block of images, of which there are none.
  bool whole_has_blocks = false;
};

class Gemma4Decoder : public HeadedDecoder {
 public:
  Gemma4Decoder(const Module& root, const Gemma4Config& config,
                const DecoderConfig& keys);

 private:
  // The table that serves all layers, and what mixes it with the tokens'.
  struct LayerInputs {
    LayerInputs(const Module& base, const Gemma4Config& config);

    Embedding embed_tokens_per_layer;
    Linear per_layer_model_projection;
    Gemma4Norm per_layer_projection_norm;
  };
  // What the layers are given, kind by kind in the order of `ropes`.
  struct Masks {
    Tensor full;
    Tensor sliding;
  };

  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override;
  Tensor RunText(const ForwardInputs& inputs, GenerationCache& cache) const;
  // Null where the forward is followed.
  const char* WhyNot(const ForwardInputs& inputs) const;
  Tensor RunInWhole(const ForwardInputs& inputs, GenerationCache& cache) const;
  Tensor LookUpLayers(const Tensor& ids) const;
  Tensor ProjectLayers(const Tensor& embedded, const Tensor& looked_up) const;
  Masks MakeMasks(const Tensor& embedded, const Tensor& position_ids,
                  std::string_view attention, const Tensor& blocks,
                  int64_t past) const;
  std::pair<Tensor, Tensor> Angles(size_t kind, const Tensor& position_ids,
                                   DType dtype) const;
  Tensor RunLayers(const Tensor& embedded, Tensor layer_inputs,
                   const Tensor& position_ids, Masks masks,
                   std::string_view attention, const ForwardInputs& inputs,
                   GenerationCache& cache) const;

  Gemma4Config config_;
  Embedding embed_tokens_;
  std::vector<Gemma4Block> layers_;
  Gemma4Norm norm_;
  Module rotary_emb_;
  std::vector<ValueId> frequencies_;  // one for each of `ropes`
  std::optional<LayerInputs> layer_inputs_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_
