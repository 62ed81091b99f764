// Mamba's configuration: its keys, what the class works out from them, and
// what it refuses.
//
// Source: transformers 5.23, models/mamba/configuration_mamba.py and the
// constructors of modeling_mamba.py.
#ifndef FORETELL_MODELS_LAYERS_READ_MAMBA_H_
#define FORETELL_MODELS_LAYERS_READ_MAMBA_H_

#include <cstdint>

#include "models/layers/mamba_block.h"
#include "spec/config_view.h"

namespace foretell {

struct MambaConfig {
  MambaBlockConfig block;
  int64_t vocabulary = 0;
  int64_t layers = 0;
  bool tie_embeddings = true;
};

MambaConfig ReadMamba(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_MAMBA_H_
