// What trains: parameters that are frozen, and low-rank adapters that peft lays
// beside linear layers.
//
// Both act on a registered model before its forward is written: which values
// take a gradient decides what a forward records and which kernels it takes.
//
// An adapted layer's parameters move one level down, to "base_layer", and
// "lora_A.default.weight" [rank, in] and "lora_B.default.weight" [out, rank]
// come beside them; the model's own names begin with "base_model.model". All
// that is no adapter stops training.
//
// Where transformers 5 made fused parameters of what were linear layers
// (experts and their router), the old names mean those: the module is wrapped
// once for each, and a parameter that fuses two has twice the rank.
// Source: peft 0.21, tuners/tuners_utils.py (inject_adapter,
// _inject_parameters, _maybe_include_all_linear_layers), tuners/lora/layer.py
// (LoraLayer.update_layer, ParamWrapper), utils/
// transformers_weight_conversion.py (_convert_peft_config_moe).
// DoRA's magnitude [out] follows B among the parameters, in a region named
// "lora_magnitude_vector.default". A module that is saved beside adapters keeps
// its original parameters, frozen, next to a copy that trains.
// Source: peft 0.21, tuners/lora/dora.py, utils/other.py
// (ModulesToSaveWrapper).
// Not modelled: biases that train, other variants, adapters of embeddings and
// convolutions; DoRA of parameters that no linear layer holds.
//
//   if (const auto refusal = AddAdapters(builder, {.targets = {"q_proj"}})) …
#ifndef FORETELL_PASSES_ADAPTERS_H_
#define FORETELL_PASSES_ADAPTERS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/builder.h"
#include "spec/step_case.h"

namespace foretell {

// Parameters whose names begin with one of `prefixes` take no gradient.
void Freeze(Graph& graph, std::span<const std::string> prefixes);

struct AdapterRefusal {
  std::string what;
  std::string cure;
};

// `model_type` is the configuration's. Nothing where all went well; else the
// graph is of no use.
std::optional<AdapterRefusal> AddAdapters(Builder& builder,
                                          std::string_view model_type,
                                          const LoraSettings& settings);

}  // namespace foretell

#endif  // FORETELL_PASSES_ADAPTERS_H_
