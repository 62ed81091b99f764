// Mamba 2's scan: chunk by chunk, as matrix products inside each and a short
// recurrence between them; and its step for one token.
//
// Source: transformers 5.23, models/mamba2/modeling_mamba2.py
// (mamba2_chunk_scan, segment_sum, mamba2_selective_state_update), which Bamba,
// Falcon H1, GraniteMoeHybrid, Nemotron H and Zamba2 share, as it runs without
// the package mamba-ssm.
#ifndef FORETELL_MODELS_LAYERS_CHUNK_SCAN_H_
#define FORETELL_MODELS_LAYERS_CHUNK_SCAN_H_

#include <cstdint>

#include "graph/builder.h"

namespace foretell {

// b batch, s tokens, h heads, p the width of a head, g groups, n the state's
// size.
struct ChunkScanInputs {
  Tensor hidden_bshp;
  Tensor step_bsh;
  Tensor a_h;
  Tensor b_bsgn;
  Tensor c_bsgn;
  Tensor skip_h;
  Tensor step_bias_h;
  int64_t chunk = 0;
  double least_step = 0;
  double most_step = 0;
};

// -> [b, s, h, p] in float32; `last_bhpn` takes the state after the last token,
// where it is not null.
Tensor ChunkScan(const ChunkScanInputs& inputs, Tensor* last_bhpn);

// As the caller spreads them for one token.
struct ScanStepInputs {
  Tensor hidden_bhp;
  Tensor step_bhp;
  Tensor a_hpn;
  Tensor b_bgn;
  Tensor c_bgn;
  Tensor skip_hp;
  Tensor step_bias_hp;
  Tensor gate_bhp;  // may be empty
};

// -> [b, h, p]; writes the new state into `state_bhpn`.
Tensor ScanStep(const ScanStepInputs& inputs, const Tensor& state_bhpn);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CHUNK_SCAN_H_
