// The vision towers of Qwen2-VL, Qwen2.5-VL, EXAONE 4.5, Qwen3-VL and the Omni
// models, by their parameters: patches of several frames, blocks, and a merger
// of neighbouring patches into the text model's width.
//
// Source: transformers 5.23, models/qwen2_vl/modeling_qwen2_vl.py,
// models/qwen2_5_vl/modeling_qwen2_5_vl.py, models/exaone4_5/
// modeling_exaone4_5.py, models/qwen3_vl/modeling_qwen3_vl.py,
// models/qwen2_5_omni/modeling_qwen2_5_omni.py and
// models/qwen3_omni_moe/modeling_qwen3_omni_moe.py.
#ifndef FORETELL_MODELS_LAYERS_QWEN_VISION_TOWER_H_
#define FORETELL_MODELS_LAYERS_QWEN_VISION_TOWER_H_

#include <cstdint>

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

void AddQwen2VlTower(const ConfigView& config, const Module& at);

enum class Qwen25Kind : uint8_t {
  kVl,
  kExaone,  // fewer heads of keys and values
  kOmni,    // a product each for queries, keys and values
};
void AddQwen25VlTower(const ConfigView& config, const Module& at,
                      Qwen25Kind kind = Qwen25Kind::kVl);

// `deep` also feeds layers of the text model from blocks on the way.
void AddQwen3VlTower(const ConfigView& config, const Module& at, bool deep);
void AddQwen3OmniTower(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_QWEN_VISION_TOWER_H_
