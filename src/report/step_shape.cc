// What `foretell step` may say, in its order: the verdict first.
#include "report/findings_section.h"
#include "report/present_step.h"

namespace foretell {
namespace {

// The verdict and what it is about.
SectionShape Verdict() {
  return {
      .rows = {
          Optional(FieldRow("peak", "Peak", CellType::kFigure,
                            "The most bytes of tensors that live at once; "
                            "absent where the step cannot run.")),
          Optional(FieldRow("peak_at", "Reached", CellType::kText,
                            "In which phase, by which operation of which "
                            "module.")),
          Optional(FieldRow("exact", "Exact", CellType::kFlag,
                            "Whether the figures are claimed to equal what "
                            "PyTorch itself reports, byte by byte.")),
          Optional(FieldRow("not_exact", "Why not", CellType::kTexts,
                            "Each reason for which they are estimates.")),
          FieldRow("name", "Model", CellType::kText,
                   "The model's id, of the hub with @ and the commit, or the "
                   "file that was read."),
          FieldRow("class", "Class", CellType::kText, "The class that runs."),
          FieldRow("setting", "Step", CellType::kText,
                   "The mode, sizes, precision and settings of the step."),
          Optional(FieldRow("timeline_file", "Timeline", CellType::kText,
                            "The file that holds the memory over time.")),
      }};
}

SectionShape AtPeak() {
  return {.title = "What lives at the peak",
          .rows = {Optional(BarsRow(
              "at_peak", "What lives at the peak",
              "The peak by what its bytes are for.",
              {"kind", "For", CellType::kText, "What the bytes are for."},
              {"bytes", "Bytes", CellType::kFigure, "How many there are."}))}};
}

SectionShape Phases() {
  return {
      .title = "By phase",
      .rows = {
          Optional(KeyedRow(
              "phases", "By phase", "The phases of the step in their order.",
              {{"phase", "Phase", CellType::kText,
                "forward, backward or optimizer."},
               {"operations", "Operations", CellType::kInteger,
                "How many operations run."},
               {"flops", "FLOPs", CellType::kFigure,
                "As torch.utils.flop_counter counts them; a multiply-add is "
                "two."},
               {"peak", "Peak", CellType::kFigure,
                "The most bytes that live in it."},
               {"operation", "At", CellType::kText,
                "The operation that reached it; absent where the phase began "
                "with it.",
                true},
               {"module", "Module", CellType::kText,
                "The module of that operation.", true}})),
          Optional(
              FieldRow("flops", "FLOPs", CellType::kFigure, "Of all phases.")),
          Optional(FieldRow("kept_bytes", "Kept for the backward",
                            CellType::kFigure,
                            "What autograd keeps once the forward has run, "
                            "each storage once, parameters and inputs left "
                            "out.")),
          Optional(FieldRow("kept_count", "Kept tensors", CellType::kInteger,
                            "How many storages these are.")),
          Optional(FieldRow("gradient_bytes", "Gradients", CellType::kFigure,
                            "Of all parameters that train.")),
          Optional(FieldRow("optimizer_bytes", "Optimizer states",
                            CellType::kFigure,
                            "What the optimizer keeps between steps.")),
          Optional(FieldRow("cache_bytes", "Cache", CellType::kFigure,
                            "What generation keeps for the tokens to come.")),
      }};
}

SectionShape Regions() {
  return {
      .title = "By region",
      .rows = {
          Optional(BarsRow("regions_at_peak", "What lives at the peak",
                           "Bytes at the peak by the module that they belong "
                           "to: its parameters, their gradients and states, "
                           "and tensors that it made; * stands for an index.",
                           {"region", "Region", CellType::kText,
                            "The module, equal blocks folded."},
                           {"bytes", "Bytes", CellType::kFigure,
                            "What lives at the peak."})),
          Optional(TableRow(
              "regions", "Work and what is kept",
              "FLOPs and kept bytes by the module whose forward they belong "
              "to; * stands for an index.",
              {{"region", "Region", CellType::kText,
                "The module, equal blocks folded."},
               {"times", "Modules", CellType::kInteger,
                "How many modules the line stands for."},
               {"flops_forward", "Forward FLOPs", CellType::kFigure,
                "Of all of them in the forward."},
               {"flops_backward", "Backward FLOPs", CellType::kFigure,
                "In the backward, recomputation included."},
               {"kept", "Kept bytes", CellType::kFigure,
                "What they keep for the backward."}})),
      }};
}

SectionShape Operators() {
  return {
      .title = "By operator",
      .rows = {Optional(TableRow(
          "operators", "By operator",
          "Every operation that runs, by FLOPs and then by what is kept.",
          {{"operator", "Operator", CellType::kText, "Its name in PyTorch."},
           {"calls", "Calls", CellType::kInteger, "How often it runs."},
           {"flops_forward", "Forward FLOPs", CellType::kFigure,
            "Of all calls in the forward."},
           {"flops_backward", "Backward FLOPs", CellType::kFigure,
            "Of all calls in the backward."},
           {"kept", "Kept bytes", CellType::kFigure,
            "Bytes that it made and that are kept for the backward."}}))}};
}

SectionShape Kernels() {
  return {
      .title = "Attention",
      .rows = {Optional(TableRow(
          "attention_kernels", "Kernels that run attention",
          "Which kernel scaled_dot_product_attention picks in the forward.",
          {{"kernel", "Kernel", CellType::kText,
            "cuDNN, flash, memory-efficient or math, in the order in which "
            "they are asked."},
           {"calls", "Calls", CellType::kInteger, "How often it runs."},
           {"why", "Why", CellType::kText, "What those before it refuse."}}))}};
}

SectionShape Conventions() {
  return {
      .title = "FLOPs as others count them",
      .rows = {
          Optional(TableRow(
              "conventions", "Conventions",
              "The step's FLOPs under the conventions in which they are "
              "quoted; a multiply-add is two but in macs.",
              {{"convention", "Convention", CellType::kText, "Its name."},
               {"flops", "FLOPs", CellType::kFigure, "What it counts."},
               {"ratio", "Ratio", CellType::kText,
                "Over the convention that was asked for; absent where the step "
                "has "
                "none of it.",
                true},
               {"rule", "What it counts", CellType::kText, "Its rule."}})),
          Optional(TableRow(
              "reconciliation", "From 6 N D to what is executed",
              "Signed terms that add up to the FLOPs of every product that "
              "runs.",
              {{"term", "Term", CellType::kText, "What it stands for."},
               {"flops", "FLOPs", CellType::kInteger, "Its part, signed."}})),
          Optional(TableRow(
              "uncounted", "What torch's counter leaves out",
              "Operations that torch.utils.flop_counter has no formula for.",
              {{"operator", "Operator", CellType::kText,
                "Its name in PyTorch."},
               {"calls", "Calls", CellType::kInteger, "How often it runs."},
               {"flops", "FLOPs", CellType::kInteger,
                "Of products; 0 for work on single elements."}}))}};
}

SectionShape Assumptions() {
  return {.title = "Taken as given",
          .rows = {Optional(
              TableRow("assumptions", "Taken as given",
                       "What the figures rest on, beside the configuration.",
                       {{"assumption", "Assumption", CellType::kText,
                         "What was assumed."}}))}};
}

}  // namespace

const DocumentShape& StepShape() {
  static const DocumentShape shape = {
      .name = "step",
      .title = "What one step takes",
      .doc =
          "The memory and the FLOPs of one step of training or inference on "
          "one device: the peak, where it is reached and what lives then.",
      .sections = {Verdict(), AtPeak(), Phases(), Regions(), Operators(),
                   Kernels(), Conventions(), Assumptions(), FindingsSection()}};
  return shape;
}

}  // namespace foretell
