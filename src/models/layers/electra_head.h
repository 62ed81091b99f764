// What stands on ELECTRA's encoder: the discriminator's score of each token,
// the generator's way back to the width of its tables, a head for sequences,
// and the summary of a choice.
//
// Source: transformers 5.23, models/electra/modeling_electra.py
// (ElectraDiscriminatorPredictions, ElectraGeneratorPredictions,
// ElectraClassificationHead, ElectraSequenceSummary).
#ifndef FORETELL_MODELS_LAYERS_ELECTRA_HEAD_H_
#define FORETELL_MODELS_LAYERS_ELECTRA_HEAD_H_

#include <cstdint>

#include "models/layers/gpt2_summary.h"
#include "models/layers/read_bert.h"

namespace foretell {

struct ElectraDiscriminator {
  ElectraDiscriminator(const Module& at, const BertConfig& config);
  // [b, s, width] -> [b, s]
  Tensor Forward(const Tensor& discriminated) const;

  Module module;
  Linear dense;
  ActivationModule activation;
  Linear dense_prediction;
};

struct ElectraGenerator {
  ElectraGenerator(const Module& at, const BertConfig& config);
  // [b, s, width] -> [b, s, width of the tables]
  Tensor Forward(const Tensor& generated) const;

  Module module;
  ActivationModule activation;
  LayerNorm norm;
  Linear dense;
};

struct ElectraSequenceHead {
  ElectraSequenceHead(const Module& at, const BertConfig& config);
  // [b, s, width] -> [b, labels]
  Tensor Forward(const Tensor& features) const;

  Module module;
  Linear dense;
  ActivationModule activation;
  Dropout dropout;
  Linear out_proj;
};

// The summary_* keys; `labels` is what the summary gives where it goes to them.
Gpt2SummaryConfig ReadElectraSummary(const ConfigView& config, bool needed,
                                     int64_t labels);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ELECTRA_HEAD_H_
