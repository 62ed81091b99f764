// What diffusers' transformers have in common, by their parameters: embeddings
// of the step and the prompt, attention over images and text at once, and the
// feed-forward that its files call `net`.
//
// Source: diffusers 0.42.1, models/embeddings.py, models/attention.py,
// models/attention_processor.py and models/normalization.py.
#ifndef FORETELL_MODELS_LAYERS_DIFFUSION_PARTS_H_
#define FORETELL_MODELS_LAYERS_DIFFUSION_PARTS_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "models/layers/module.h"
#include "models/layers/tower_module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

// Attention heads, and the width that they make up.
struct DiffusionWidth {
  int64_t head_dim = 0;
  int64_t width = 0;
};
DiffusionWidth ReadDiffusionWidth(const ConfigView& config, int64_t heads,
                                  int64_t head_dim);

// linear_1 and linear_2.
void AddEmbedder(const TowerModule& at, int64_t in, int64_t width);
// The sinusoids of a step are this wide before they are embedded.
inline constexpr int64_t kStepChannels = 256;

// net.0.proj and net.2, four times as wide between them.
void AddNet(const TowerModule& at, int64_t width);

// A modulation: `times` vectors of the width from one.
void AddModulation(const TowerModule& at, int64_t width, int64_t times);

struct JointAttention {
  int64_t width = 0;
  int64_t head_dim = 0;
  bool norms = true;       // of queries and keys
  bool text = true;        // text has projections of its own
  bool text_ends = false;  // the last layer gives no more text
  bool output = true;      // else a product outside makes it
};
void AddJointAttention(const TowerModule& at, const JointAttention& attention);

// A model without a forward.
std::unique_ptr<Model> DiffusionModel(const Module& root, int64_t layers);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DIFFUSION_PARTS_H_
