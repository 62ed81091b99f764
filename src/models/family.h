// A family: the classes that one modeling file of transformers defines, and
// how their configuration becomes a model.
//
// One file per family; `registry.cc` holds a line for each.
#ifndef FORETELL_MODELS_FAMILY_H_
#define FORETELL_MODELS_FAMILY_H_

#include <memory>
#include <span>
#include <string_view>

#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

struct Family {
  std::string_view name;   // transformers' folder: "llama"
  std::string_view title;  // "Llama", for people
  // One or two sentences: what its layers are and what sets it apart.
  std::string_view doc;
  // `model_type`s whose configuration class this family reads.
  std::span<const std::string_view> model_types;
  // Classes of transformers, the first being what a configuration without a
  // known architecture is loaded as (AutoModelForCausalLM and so on).
  std::span<const std::string_view> classes;
  // Architecture names of old files that mean one of `classes`.
  std::span<const std::pair<std::string_view, std::string_view>> old_names;
  // The oldest version of the library that recordings show it to follow.
  std::string_view oldest_library = "5.23";
  // Its forward computes with the attention mask itself.
  bool reads_mask = false;
  // Registers the model of `class_name` below `root`. Problems and findings go
  // to the view's log; the result is dropped when there are any problems.
  std::unique_ptr<Model> (*build)(const ConfigView& config, const Module& root,
                                  std::string_view class_name);
  // What the layers follow where the library has no such class and nothing is
  // recorded against PyTorch; empty where it has.
  std::string_view described_by = {};
  // False where only parameters are modelled: its steps are refused.
  bool has_operations = true;
};

// All families, by name.
std::span<const Family* const> AllFamilies();

// The family that has this class; null where none does.
const Family* FamilyOfClass(std::string_view class_name);
const Family* FamilyOfModelType(std::string_view model_type);

}  // namespace foretell

#endif  // FORETELL_MODELS_FAMILY_H_
