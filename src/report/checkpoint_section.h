// The sections of `foretell model` about a checkpoint's headers.
//
// In: what the headers say and how it compares with the derived tensors. Out:
// rows of the document; nothing where no checkpoint was read.
#ifndef FORETELL_REPORT_CHECKPOINT_SECTION_H_
#define FORETELL_REPORT_CHECKPOINT_SECTION_H_

#include <cstdint>

#include "answers/model_checkpoint.h"
#include "base/figure.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

SectionShape CheckpointSection();
SectionShape AgainstSection();

// At most `most` rows of differences. `parameters` are those of the model, for
// bits per parameter; unknown where there is none.
void SetCheckpoint(Document& document, const ModelCheckpoint& checkpoint,
                   const Parameters& parameters, size_t most);

}  // namespace foretell

#endif  // FORETELL_REPORT_CHECKPOINT_SECTION_H_
