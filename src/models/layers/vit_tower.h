// A vision transformer's tower as CLIP, SigLIP, Idefics and MiniCPM-V, which
// may leave its last layer out, have it, by its
// parameters: patches, learned positions, and layers of attention and a
// feed-forward behind LayerNorms.
//
// Source: transformers 5.23, models/clip/modeling_clip.py, models/siglip/
// modeling_siglip.py, models/siglip2/modeling_siglip2.py and
// models/idefics3/modeling_idefics3.py.
#ifndef FORETELL_MODELS_LAYERS_VIT_TOWER_H_
#define FORETELL_MODELS_LAYERS_VIT_TOWER_H_

#include <cstdint>

#include "models/layers/module.h"
#include "models/layers/tower_module.h"
#include "spec/config_view.h"

namespace foretell {

enum class VitKind : uint8_t {
  kClip,
  kSiglip,
  kSiglip2,
  kIdefics,
  kIdefics2,
  kMiniCpm,
  kMiniCpmShort,  // without its last layer
};

// The kind of a tower's `model_type`; a problem where it is none of these.
VitKind ReadVitKind(const ConfigView& config, VitKind otherwise);

// What follows the tower needs of it.
struct VitTower {
  int64_t hidden = 0;
  int64_t layers = 0;
};

// One layer; CLIP's and SigLIP's text towers have the same.
void AddVitLayer(const TowerModule& at, VitKind kind, int64_t hidden,
                 int64_t intermediate);

VitTower AddVitTower(const ConfigView& config, const Module& at, VitKind kind);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_VIT_TOWER_H_
