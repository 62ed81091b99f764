// The text models of Qwen's classes with towers, where they differ from the
// text family that they are written after: positions of three axes.
//
// In: the text's configuration and where the model goes, as a family's build
// takes them; `class_name` is the text family's. Source: transformers 5.23,
// models/{qwen2_vl,qwen2_5_vl,qwen3_vl,qwen3_vl_moe}/modeling_*.py.
#ifndef FORETELL_MODELS_AXIS_TEXT_H_
#define FORETELL_MODELS_AXIS_TEXT_H_

#include <memory>
#include <string_view>

#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

std::unique_ptr<Model> BuildQwen2Axes(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name);
std::unique_ptr<Model> BuildQwen3Axes(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name);
std::unique_ptr<Model> BuildQwen3MoeAxes(const ConfigView& config,
                                         const Module& root,
                                         std::string_view class_name);

}  // namespace foretell

#endif  // FORETELL_MODELS_AXIS_TEXT_H_
