// What generation keeps per token and at most, from the layers' states.
//
// In: the states that a family gives per layer, and the dtype of keys and
// values. Out: groups of equal layers and bytes per token, exact. It does not
// model what an engine adds: blocks, padding, replicated heads.
#ifndef FORETELL_ANALYSIS_CACHE_H_
#define FORETELL_ANALYSIS_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/figure.h"
#include "spec/layer_state.h"

namespace foretell {

// Layers that keep the same state.
struct StateGroup {
  LayerState state;
  int64_t layers = 0;
  // Keys and values of one token, all layers of the group.
  BytesPerToken per_token;
  // Of a window: all its tokens. Of a recurrent state: all of it.
  Bytes at_most;
};

struct CacheAnalysis {
  std::vector<StateGroup> groups;  // in the order of the first such layer
  // While every window is still filling: each further token of one sequence.
  BytesPerToken per_token;
  // Past every window: what each further token still adds.
  BytesPerToken per_token_past_windows;
  // Cross-attention, per token of the encoder's input.
  BytesPerToken per_encoder_token;
  // Recurrent states, per sequence of any length.
  Bytes recurrent;
};

CacheAnalysis AnalyzeCache(const std::vector<LayerState>& states, DType dtype);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_CACHE_H_
