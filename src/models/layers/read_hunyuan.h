// What Hunyuan's dense models and its models of experts read alike.
//
// Source: transformers 5.23, models/{hunyuan_v1_dense,hunyuan_v1_moe}/
// configuration_*.py and modeling_*.py (the rotary embedding).
#ifndef FORETELL_MODELS_LAYERS_READ_HUNYUAN_H_
#define FORETELL_MODELS_LAYERS_READ_HUNYUAN_H_

#include "models/layers/attention.h"
#include "models/layers/rope.h"
#include "spec/config_view.h"

namespace foretell {

// The heads, which must have a stated width.
AttentionConfig ReadHunyuanAttention(const ConfigView& config);

// The rope: a fixed alpha makes the type dynamic one whose frequencies never
// change.
RopeConfig ReadHunyuanRope(const ConfigView& config, int64_t positions,
                           const AttentionConfig& attention);

// Settings of the code that came with the first files, for which the classes
// have no choice, and tokens of other inputs.
void IgnoreHunyuanCode(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_HUNYUAN_H_
