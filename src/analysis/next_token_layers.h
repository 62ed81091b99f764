// Layers beyond a model's own that predict further tokens (MTP), which its
// publisher's checkpoint carries and the class leaves out.
//
// In: a configuration, the class and its parameters. Out: their tensors, and
// what they hold once more of the model's own. Shapes are those of the model's
// own layers, which such a layer is one of, behind a product that joins the
// last hidden state with the next token's embedding.
// Source: the DeepSeek-V3 report (arXiv 2412.19437, 2.2), the tensor names of
// the published checkpoints that the rows name, and their published totals.
#ifndef FORETELL_ANALYSIS_NEXT_TOKEN_LAYERS_H_
#define FORETELL_ANALYSIS_NEXT_TOKEN_LAYERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/parameters.h"
#include "spec/model_config.h"

namespace foretell {

struct NextTokenLayers {
  int64_t count = 0;
  bool is_stated = false;  // by the configuration; else by the class alone
  std::string place;       // "model.layers.61"
  std::vector<TensorGroup> tensors;
  // The model's table and head once more, as some checkpoints hold them.
  std::vector<TensorGroup> copies;
  bool copies_usual = false;
};

// Count 0 where the class has none or the configuration says so.
NextTokenLayers NextTokenLayersOf(const ModelConfig& config,
                                  std::string_view class_name,
                                  const ParameterAnalysis& parameters);

// Whether a group's first index takes `layer`: of "0-2,4" or "0-2 x 0-63".
bool HasLayer(const TensorGroup& group, int64_t layer);

// The model's layers as they are numbered in names: the largest first index
// and one.
int64_t LayersNamed(const ParameterAnalysis& parameters);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_NEXT_TOKEN_LAYERS_H_
