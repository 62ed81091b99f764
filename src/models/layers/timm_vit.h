// A vision transformer as timm has it, by its parameters: patches, prefix
// tokens, learned places, and blocks of one product for queries, keys and
// values.
//
// Source: timm 1.0, timm/models/vision_transformer.py.
#ifndef FORETELL_MODELS_LAYERS_TIMM_VIT_H_
#define FORETELL_MODELS_LAYERS_TIMM_VIT_H_

#include <cstdint>

#include "models/layers/tower_module.h"

namespace foretell {

struct TimmVit {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t patch = 0;
  int64_t image = 0;
  int64_t registers = 0;   // tokens beside the class's
  bool has_class = false;  // a token of the whole image
  bool has_scales = false;
  bool pools = false;  // by attention over one learned query
};

void AddTimmVit(const TowerModule& at, const TimmVit& vit);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_TIMM_VIT_H_
