// Text models whose forward differs where a class with towers runs them.
//
// In: the text's configuration and where the model goes, as a family's build
// takes them; `class_name` is the text family's. Source: transformers 5.23,
// models/llama4/modeling_llama4.py (Llama4ForConditionalGeneration.forward).
#ifndef FORETELL_MODELS_WHOLE_TEXT_H_
#define FORETELL_MODELS_WHOLE_TEXT_H_

#include <memory>
#include <string_view>

#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

// The caller names the embeddings until it returns.
std::unique_ptr<Model> BuildLlama4InWhole(const ConfigView& config,
                                          const Module& root,
                                          std::string_view class_name);

}  // namespace foretell

#endif  // FORETELL_MODELS_WHOLE_TEXT_H_
