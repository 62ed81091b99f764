// What a training step of litgpt's own blocks holds on the card.
//
// litgpt does not run transformers' classes: its blocks keep other tensors for
// the backward, it has a head of its own where a model ties it, and its loop
// holds the logits of the micro-step before. Counted from its sources.
//
// In: a model's configuration, the job, when the record was made. Out: bytes
// beside what stays between two steps. No errors: a size that the
// configuration lacks counts nothing.
//
// Source: litgpt 0.4.13, model.py, lora.py, adapter.py, adapter_v2.py, utils.py
// and finetune/lora.py; lightning 2.4, fabric/plugins/precision/half.py (what a
// module returns is made float32); bitsandbytes 0.42, autograd/_functions.py
// (MatMul4Bit keeps its input as an attribute, which lives as long as the loss
// does); litgpt at its tutorial's commit of October 2023, where the longest
// sample comes first.
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_LITGPT_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_LITGPT_H_

#include <cstdint>
#include <string_view>

#include "spec/config_value.h"
#include "spec/training_job.h"

namespace foretell {

// Which small parts of a block train.
enum class LitgptMethod : uint8_t { kLora, kAdapter, kAdapterV2 };

LitgptMethod LitgptMethodOf(std::string_view task);

// What is there at the peak beside what stays: activations, logits, the loss,
// and a whole weight where packed ones are unpacked.
double LitgptMadeAnew(const ConfigValue& config, const TrainingJob& job,
                      LitgptMethod method, bool longest_first);

// What its weights take more (or less) than those of transformers' class.
double LitgptWeightsBeside(const ConfigValue& config, const TrainingJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_LITGPT_H_
