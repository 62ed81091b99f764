// The classes of BART's modeling file and of those made like it: an encoder, a
// decoder, their shared table of words, and the heads.
//
// Source: transformers 5.23, models/{bart,mbart,marian,pegasus,m2m_100}/
// modeling_*.py (BartModel to BartForCausalLM and their namesakes).
#ifndef FORETELL_MODELS_LAYERS_BART_CLASSES_H_
#define FORETELL_MODELS_LAYERS_BART_CLASSES_H_

#include <memory>
#include <string_view>

#include "models/layers/read_bart.h"
#include "models/model.h"

namespace foretell {

enum class BartHead { kNone, kLm, kCausalLm, kSequence, kAnswer };

struct BartClass {
  std::string_view name;
  BartHead head;
};

// What the classes around the stacks do differently.
struct BartRules {
  bool logits_bias = true;     // a buffer added to the head's scores
  bool shifts_inputs = true;   // a decoder without tokens reads the encoder's
  bool shifts_around = false;  // the last token comes first (mBART)
};

std::unique_ptr<Model> BuildBartClass(const ConfigView& config,
                                      const Module& root,
                                      const BartClass& which,
                                      const BartDialect& dialect,
                                      const BartRules& rules);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BART_CLASSES_H_
