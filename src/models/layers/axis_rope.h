// Positions of three axes (time, height, width), which turn the pairs of a
// head's dims in turn or side by side; a text's three are equal.
//
// Source: transformers 5.23, models/qwen3_5/modeling_qwen3_5.py
// (Qwen3_5TextModel, Qwen3_5TextRotaryEmbedding), qwen3_vl, qwen2_vl
// (Qwen2VLTextModel, Qwen2VLRotaryEmbedding).
#ifndef FORETELL_MODELS_LAYERS_AXIS_ROPE_H_
#define FORETELL_MODELS_LAYERS_AXIS_ROPE_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "spec/config_view.h"

namespace foretell {

// `mrope_section` of the rope's settings: how many pairs each axis turns.
std::vector<int64_t> ReadRopeSections(const ConfigView& config,
                                      std::vector<int64_t> otherwise);

// Of one row of positions [s]: [batch, s] for masks, [3, batch, s] for the
// rotary embedding.
struct AxisPositions {
  Tensor text;
  Tensor axes;
};
// Without one for masks `text` is empty.
AxisPositions PlaceOnAxes(Tensor positions, int64_t batch, bool has_text);

// positions [3, b, s] -> cosines and sines [b, s, 2 frequencies] in `dtype`.
std::pair<Tensor, Tensor> AxisAngles(const Tensor& positions,
                                     const Tensor& frequencies,
                                     std::span<const int64_t> sections,
                                     bool side_by_side, DType dtype);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_AXIS_ROPE_H_
