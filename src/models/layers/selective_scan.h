// Mamba's selective scan, token by token: what is executed where its fused
// kernels are not installed.
//
// Source: transformers 5.23, models/mamba/modeling_mamba.py
// (mamba_selective_scan, mamba_selective_state_update). It does not model
// mambapy's parallel scan, which takes its place where that package is
// installed and `use_mambapy` asks for it, nor the associative scan of compiled
// models.
#ifndef FORETELL_MODELS_LAYERS_SELECTIVE_SCAN_H_
#define FORETELL_MODELS_LAYERS_SELECTIVE_SCAN_H_

#include "graph/builder.h"

namespace foretell {

// In the order in which the caller makes them: b batch, d channels, s tokens,
// n the state's size.
struct SelectiveScanInputs {
  Tensor hidden_bds;
  Tensor step_bds;
  Tensor a_dn;  // float32
  Tensor b_bns;
  Tensor c_bns;
  Tensor skip_d;  // float32
  Tensor gate_bds;
  Tensor step_bias_d;  // float32
};

// -> [b, d, s]; `last_bdn` takes the state after the last token, where it is
// not null.
Tensor SelectiveScan(const SelectiveScanInputs& inputs,
                     Tensor* last_bdn = nullptr);

// One more token. What the caller makes of tensors that live on is a view.
struct SelectiveStepInputs {
  Tensor hidden_bd;
  Tensor step_bd;
  Tensor a_dn;  // float32
  Tensor b_bn;
  Tensor c_bn;
  Tensor skip_d;
  Tensor gate_bd;
  Tensor step_bias_d;  // float32
};

// -> [b, d]; `state_bdn` is moved on in place.
Tensor SelectiveStep(const SelectiveStepInputs& inputs,
                     const Tensor& state_bdn);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SELECTIVE_SCAN_H_
