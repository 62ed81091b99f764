// Rotary positions on the first dims of each head, cut in the attention's own
// forward: its names hold what is turned and what passes until it returns.
//
// Source: transformers 5.23, models/{phi,stablelm,persimmon}/modeling_*.py
// (their attention's forward).
#ifndef FORETELL_MODELS_LAYERS_PARTIAL_ROTARY_H_
#define FORETELL_MODELS_LAYERS_PARTIAL_ROTARY_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "models/layers/attention.h"
#include "models/layers/rope.h"
#include "spec/config_view.h"

namespace foretell {

// q and k [b, h, s, d] take on their turned forms; gives the names that stay.
std::vector<Tensor> TurnFirstDims(Tensor& q, Tensor& k,
                                  const std::pair<Tensor, Tensor>& rotary);

// A finding where heads do not make up hidden_size: such a class that takes no
// head_dim refuses it.
void CheckEvenHeads(const ConfigView& config, const AttentionConfig& attention);

// ReadRope for such a class, `default_part` being what it sets where the file
// names no partial_rotary_factor; a finding where no pairs can be made.
RopeConfig ReadPartialRope(const ConfigView& config,
                           const AttentionConfig& attention, int64_t positions,
                           double default_part);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PARTIAL_ROTARY_H_
