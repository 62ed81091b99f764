// The reports of `foretell gpus` and `foretell gpu`.
//
// In: the answers. Out: documents of GpusShape() and GpuShape(). What a card's
// description lacks is absent from its report, never zero.
#ifndef FORETELL_REPORT_PRESENT_GPUS_H_
#define FORETELL_REPORT_PRESENT_GPUS_H_

#include "answers/gpus.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& GpusShape();
const DocumentShape& GpuShape();

Document PresentGpus(const GpusAnswer& answer);
Document PresentGpu(const GpuAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_GPUS_H_
