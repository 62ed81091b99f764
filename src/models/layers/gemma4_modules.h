// Gemma 4's decoder by its parameters alone: heads of two widths, layers that
// read the keys and values of others, embeddings for each layer, and experts
// beside the feed-forward.
//
// In: the text configuration as read. Out: the registered modules and what
// generation keeps. Errors: none; the forward refuses.
// Source: transformers 5.23, models/gemma4/modeling_gemma4.py.
#ifndef FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_
#define FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/model.h"

namespace foretell {

struct Gemma4Layer {
  bool slides = false;
  bool reuses = false;  // the keys and values of an earlier layer of its kind
  int64_t head_dim = 0;
  int64_t kv_heads = 0;
  bool has_values = true;  // else keys serve as values
  int64_t intermediate = 0;
};

struct Gemma4Config {
  int64_t heads = 0;
  bool bias = false;
  int64_t window = 0;
  std::vector<Gemma4Layer> layers;
  // A kind of layer in use and how many angles turn its heads, by name.
  std::vector<std::pair<std::string, int64_t>> ropes;
  int64_t layer_rows = 0;   // of the table that serves all layers
  int64_t layer_width = 0;  // of a layer's embeddings; 0: there are none
  int64_t all_widths = 0;   // of all layers
  bool has_experts = false;
  ExpertsConfig experts;
};

class Gemma4Decoder : public Model {
 public:
  Gemma4Decoder(const Module& root, const Gemma4Config& config,
                const DecoderConfig& keys);
  // Refuses: it is not modelled.
  Tensor Forward(const ForwardInputs& inputs) override;

 private:
  Module root_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA4_MODULES_H_
