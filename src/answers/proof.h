// What shows that a derived parameter count is the model's own.
//
// In: a configuration and the model read of it. Out: which of three kinds of
// proof there is, and the words for it. A class of the library is followed
// source line by source line and held to recordings; a class whose code comes
// with its weights is as good as a published header that gives the same total,
// and without one it is a description.
#ifndef FORETELL_ANSWERS_PROOF_H_
#define FORETELL_ANSWERS_PROOF_H_

#include <span>
#include <string>
#include <string_view>

#include "answers/read_model.h"
#include "spec/model_config.h"

namespace foretell {

enum class ProofKind : uint8_t { kLibrary, kHeader, kDescription };

struct Proof {
  ProofKind kind = ProofKind::kLibrary;
  std::string words;  // "by description: …"
};

// A class whose code comes with its weights, and the model of the catalogue
// whose published total its layers give: what proves its other sizes.
struct ProvenClass {
  std::string_view class_name;
  std::string_view by;
};
std::span<const ProvenClass> ProvenClasses();

Proof ProofOf(const ModelConfig& config, const ReadModel& model);

// Whether a configuration is of a model for text alone: it has a vocabulary and
// no part or key of images or sounds.
bool IsTextModel(const ModelConfig& config);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_PROOF_H_
