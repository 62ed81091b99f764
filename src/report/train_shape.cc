// What `foretell train` may say, in its order: the verdict first.
#include "report/findings_section.h"
#include "report/present_train.h"
#include "report/present_train_time.h"
#include "report/runs_section.h"

namespace foretell {
namespace {

SectionShape Verdict() {
  return {
      .rows = {
          Optional(FieldRow(
              "verdict", "Verdict", CellType::kText,
              "fits, does not fit, or cannot tell, and which is likelier; "
              "the first two where the interval leaves no doubt.")),
          Optional(FieldRow("margin", "Margin", CellType::kText,
                            "What is left of the card, or what it lacks.")),
          Optional(FieldRow(
              "needed", "Needed", CellType::kFigure,
              "Tensors, workspaces and what lies outside the allocator.")),
          Optional(FieldRow("available", "The card has", CellType::kFigure,
                            "The total that a program sees on the card.")),
          Optional(FieldRow("peak_at", "Peak", CellType::kText,
                            "The phase, operation and module of the peak.")),
          FieldRow("name", "Model", CellType::kText,
                   "The catalogue's id, or the file that was read."),
          FieldRow("class", "Class", CellType::kText, "The class that trains."),
          Optional(FieldRow("setting", "Job", CellType::kText,
                            "The method, sizes, precision and settings.")),
          Optional(
              FieldRow("device", "Card", CellType::kText,
                       "The card, and the memory that programs see on it.")),
          Optional(FieldRow("trained", "Trains", CellType::kFigure,
                            "Parameters that take a gradient.")),
      }};
}

SectionShape AtPeak() {
  return {
      .title = "What fills the card at the peak",
      .rows = {
          Optional(BarsRow(
              "at_peak", "What fills the card at the peak",
              "The peak by what its bytes are for.",
              {"part", "For", CellType::kText, "What the bytes are for."},
              {"bytes", "Bytes", CellType::kFigure, "How many there are."})),
          Optional(Optional(
              KeyedRow("levels", "Three figures", "Of one card, at the peak.",
                       {{"level", "Figure", CellType::kText,
                         "allocated, reserved or device."},
                        {"bytes", "Bytes", CellType::kFigure, "How many."},
                        {"what", "Is", CellType::kText, "What it counts."}}))),
          Optional(KeyedRow("phases", "By phase",
                            "The peak of tensors in each phase.",
                            {{"phase", "Phase", CellType::kText,
                              "forward, backward or optimizer."},
                             {"peak", "Peak", CellType::kFigure,
                              "The most bytes of tensors that live in it."}})),
      }};
}

SectionShape Stages() {
  return {
      .title = "Over the run",
      .rows = {
          Optional(KeyedRow(
              "stages", "Over the run",
              "Tensors on the card, stage by stage, in the order of the run.",
              {{"stage", "Stage", CellType::kText,
                "first step, micro-steps, later step, evaluation, saving."},
               {"peak", "Peak", CellType::kFigure,
                "The most bytes of tensors that live in it."},
               {"stays", "Stays", CellType::kFigure,
                "What still lives once it is over."},
               {"at", "Peak at", CellType::kText, "Where the peak is."}})),
          Optional(FieldRow("timeline", "Timeline", CellType::kText,
                            "The file that the timeline was written to.")),
      }};
}

SectionShape Host() {
  return {
      .title = "On the host",
      .rows = {
          Optional(FieldRow("host_peak", "Memory", CellType::kFigure,
                            "The most at one time, of one host with at most "
                            "eight ranks.")),
          Optional(TableRow(
              "host", "Host memory", "What the job takes of the host.",
              {{"part", "For", CellType::kText, "What the bytes are for."},
               {"bytes", "Bytes", CellType::kFigure, "How many."},
               {"what", "Is", CellType::kText, "What they are."}})),
          Optional(TableRow(
              "disk", "On disk, each checkpoint",
              "What one checkpoint takes on disk.",
              {{"part", "For", CellType::kText, "What the bytes are for."},
               {"bytes", "Bytes", CellType::kFigure, "How many."},
               {"what", "Is", CellType::kText, "What they are."}})),
      }};
}

SectionShape WhatFits() {
  return {
      .title = "What makes it fit",
      .rows = {
          Optional(FieldRow("largest_batch", "Largest micro-batch",
                            CellType::kInteger,
                            "That is likely to fit; absent where not even one "
                            "sequence does.")),
          Optional(FieldRow("accumulate", "Micro-steps", CellType::kText,
                            "The micro-batch and accumulation that keep the "
                            "global batch.")),
          Optional(FieldRow("candidates", "Batches tried", CellType::kInteger,
                            "How many were compiled to find it.")),
          Optional(TableRow(
              "levers", "Changes",
              "What each change would give, the least invasive first.",
              {{"change", "Change", CellType::kText, "What is changed."},
               {"option", "Option", CellType::kText, "What to write."},
               {"needed", "Needs", CellType::kFigure,
                "What the job then needs."},
               {"verdict", "Verdict", CellType::kText,
                "fits, does not fit, or which is likelier."},
               {"flops", "FLOPs", CellType::kText,
                "Of the same tokens, over the job's own."},
               {"training", "What is trained", CellType::kText,
                "How it changes; absent where it does not.", true}})),
      }};
}

ColumnShape Card(std::string_view name, std::string_view label) {
  return {name, label, CellType::kText,
          "The largest micro-batch of 1, 2, 4, … that is likely to fit the "
          "card; with a question mark where the intervals leave a doubt about "
          "one sequence, no where not even that is likely."};
}

SectionShape MethodsAndCards() {
  return {.title = "Which method fits which card",
          .rows = {Optional(KeyedRow(
              "fits", "Which method fits which card",
              "Methods, the least invasive first, by cards.",
              {{"method", "Method", CellType::kText, "What trains, and how."},
               {"option", "Option", CellType::kText, "What to write."},
               {"needed", "Needs", CellType::kFigure,
                "What one sequence at a time needs."},
               Card("rtx_4090", "4090"),
               Card("rtx_5090", "5090"),
               Card("a100_40gb", "A100-40"),
               Card("l40s", "L40S"),
               Card("h100", "H100"),
               Card("h200", "H200"),
               Card("b200", "B200"),
               Card("mi300x", "MI300X")}))}};
}

SectionShape Assumptions() {
  return {
      .title = "Assumptions",
      .rows = {
          TableRow("assumptions", "Assumptions", "What was taken for granted.",
                   {{"what", "What", CellType::kText, "One assumption."}}),
          Optional(FieldRow("not_exact", "Why not exact", CellType::kTexts,
                            "Each reason for which tensors' bytes "
                            "are estimates."))}};
}

}  // namespace

const DocumentShape& TrainShape() {
  static const DocumentShape shape = {
      .name = "train",
      .title = "Training job",
      .doc =
          "Whether a training job fits its card, what fills the card at the "
          "peak, and what would make it fit.",
      .sections = {Verdict(), AtPeak(), RunsSection(), Stages(), WhatFits(),
                   TrainTimeSection(), TrainRunSection(), Host(),
                   MethodsAndCards(), Assumptions(), FindingsSection()}};
  return shape;
}

}  // namespace foretell
