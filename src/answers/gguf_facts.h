// What llama.cpp's converter and recipes read of a configuration.
//
// In: the configuration and the model built of it. Out: the facts that
// analysis/quantization/gguf_layout.h asks for, and the vocabulary's size.
// Source: llama.cpp 0.5.0, conversion/*.py; a text part's keys stand in
// text_config (conversion/base.py, ModelBase.load_hparams).
#ifndef FORETELL_ANSWERS_GGUF_FACTS_H_
#define FORETELL_ANSWERS_GGUF_FACTS_H_

#include <cstdint>
#include <vector>

#include "analysis/parameters.h"
#include "analysis/quantization/gguf_layout.h"
#include "answers/read_model.h"
#include "spec/model_config.h"

namespace foretell {

GgufFacts GgufFactsOf(const ModelConfig& config, const ReadModel& model);

int64_t VocabularyOf(const ModelConfig& config);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_GGUF_FACTS_H_
