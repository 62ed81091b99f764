// GPT-2's head for choices: one vector per sequence, projected.
//
// Source: transformers 5.23, models/gpt2/modeling_gpt2.py
// (GPT2SequenceSummary).
#ifndef FORETELL_MODELS_LAYERS_GPT2_SUMMARY_H_
#define FORETELL_MODELS_LAYERS_GPT2_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/linear.h"
#include "spec/config_view.h"

namespace foretell {

struct Gpt2SummaryConfig {
  std::string type = "cls_index";  // last, first, mean, cls_index
  bool project = true;
  bool project_to_labels = true;  // else to the width
  int64_t labels = 1;
  std::optional<Activation> activation;
  double first_dropout = 0.1;
  double last_dropout = 0;
};

// The summary_* keys. Where no head reads them (`needed` is false) only their
// kinds are checked, as the library does for every class.
Gpt2SummaryConfig ReadGpt2Summary(const ConfigView& config, bool needed);

struct Gpt2Summary {
  Gpt2Summary(const Module& at, const Gpt2SummaryConfig& config,
              int64_t hidden);
  // [b, s, width] -> [b, 1] or [b, width]
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  std::string type;
  std::optional<Linear> summary;
  std::optional<ActivationModule> activation;
  Dropout first_dropout;
  Dropout last_dropout;

 private:
  Tensor Pick(const Tensor& hidden) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GPT2_SUMMARY_H_
