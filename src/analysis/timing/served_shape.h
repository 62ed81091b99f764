// What serving a text model reads and multiplies, per step and per token: sums
// over its tensors and over what generation keeps.
//
// In: a model's tensors by part, the states of its layers, its sizes. Out:
// elements of the linear layers by how a step touches them, and what one token
// of context costs. Towers for images and sound are left out: a step of
// decoding never runs them. Any family that states its tensors and its states
// has such a shape; no family is known by name here.
#ifndef FORETELL_ANALYSIS_TIMING_SERVED_SHAPE_H_
#define FORETELL_ANALYSIS_TIMING_SERVED_SHAPE_H_

#include <cstdint>
#include <vector>

#include "analysis/parameters.h"
#include "spec/layer_state.h"

namespace foretell {

// Elements and sizes as real numbers: they enter estimates only.
struct ServedShape {
  double layers = 0;
  double hidden = 0;
  double query_heads = 0;
  // Elements of weights, all layers.
  double attention = 0;  // and mixers in its place
  double mlp = 0;        // dense ones, and experts that every token takes
  double experts = 0;    // of which a token takes `experts_per_token`
  double head = 0;       // of the vocabulary
  double stored = 0;     // all of a checkpoint's tables, towers aside
  double expert_layers = 0;
  double expert_count = 1;  // of one layer
  double experts_per_token = 0;
  // Kept per token of context, in elements, all layers.
  double kept = 0;             // by layers that keep every token
  double kept_in_windows = 0;  // by layers that keep a window
  double window = 1;           // tokens
  double recurrent_bytes = 0;  // read and written once a step and sequence
  double key_value_heads = 1;  // the least of any layer
  double attention_width = 0;  // key and value dims, over heads and layers
  bool is_latent = false;      // keys and values are widened from one row
  bool is_recurrent = false;   // some layers keep a state of one size
  bool has_indexer = false;    // attention picks tokens first

  // Elements that take part in one token's forward.
  double Active() const;
};

struct ServedSizes {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t query_heads = 0;
};

ServedShape ShapeOfServed(const ParameterAnalysis& parameters,
                          const std::vector<LayerState>& states,
                          const ServedSizes& sizes);

// A dense decoder of that many equal layers, with a feed-forward of four times
// the width and as many key and value heads as query heads (GPT-2's form).
ServedShape ShapeOfPlainDecoder(const ServedSizes& sizes, int64_t vocabulary);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_SERVED_SHAPE_H_
