// A document with every kind of row, for the tests of the renderers.
//
// It holds hostile texts too: escapes, pipes, control bytes. It is not part of
// the program.
#ifndef FORETELL_REPORT_EXAMPLE_DOCUMENT_H_
#define FORETELL_REPORT_EXAMPLE_DOCUMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "base/figure.h"
#include "base/finding.h"
#include "report/document.h"
#include "report/findings_section.h"
#include "report/shape.h"

namespace foretell {

inline const DocumentShape& ExampleShape() {
  static const DocumentShape shape = {
      .name = "example",
      .title = "An example",
      .doc = "One row of every kind.",
      .sections = {
          {.title = "Model",
           .rows =
               {FieldRow("class", "Class", CellType::kText, "The class."),
                FieldRow("layers", "Layers", CellType::kInteger,
                         "How many layers."),
                FieldRow("ratio", "Ratio", CellType::kReal, "A ratio."),
                FieldRow("tied", "Tied", CellType::kFlag,
                         "Whether weights are tied."),
                FieldRow("parameters", "Parameters", CellType::kFigure,
                         "How many parameters."),
                FieldRow("weights", "Weights", CellType::kFigure,
                         "Bytes of the parameters."),
                FieldRow("step", "Step", CellType::kFigure, "Time of a step."),
                FieldRow("names", "Names", CellType::kTexts, "Other names."),
                Optional(
                    FieldRow("note", "Note", CellType::kText, "A remark."))}},
          {.name = "memory",
           .title = "Memory",
           .doc = "What takes memory.",
           .rows = {BarsRow("parts", "By part", "Bytes of each part.",
                            {"part", "Part", CellType::kText, "The part."},
                            {"size", "Size", CellType::kFigure, "Its bytes."}),
                    MapRow("left_out", "Left out", "Rows left out.",
                           {"reason", "Reason", CellType::kText, "Why."},
                           {"n", "Rows", CellType::kInteger, "How many."})}},
          {.title = "Tensors",
           .rows = {TableRow("tensors", "Tensors", "Every tensor.",
                             {{"name", "Name", CellType::kText, "Its name."},
                              {"count", "Parameters", CellType::kFigure,
                               "Its elements."},
                              {"of", "Tied to", CellType::kText,
                               "The other name.", true}}),
                    KeyedRow("fields", "By figure", "One row a figure.",
                             {{"figure", "Figure", CellType::kText, "Which."},
                              {"n", "Rows", CellType::kInteger, "Rows."},
                              {"equal", "Equal", CellType::kInteger,
                               "Equal rows."}}),
                    KeyedRow("by_class", "By class", "Rows by class.",
                             {{"class", "Class", CellType::kText, "Which."},
                              {"figure", "Figure", CellType::kText, "Which."},
                              {"n", "Rows", CellType::kInteger, "Rows."}},
                             2),
                    Optional(PreformattedRow("equation", "Equation",
                                             "How it adds up."))}},
          FindingsSection()}};
  return shape;
}

inline Finding ExampleFinding() {
  Finding finding;
  finding.rule = "model/heads";
  finding.severity = Severity::kBlock;
  finding.what = "6 does not divide 32 heads";
  finding.why = "the model cannot be built";
  finding.fix = "\"num_key_value_heads\": 8";
  finding.place = {"config.json",
                   12,
                   26,
                   "num_key_value_heads",
                   "\"num_key_value_heads\": 6",
                   23};
  return finding;
}

// Every row but the optional ones; texts that are outside's are `outside`.
inline Document ExampleDocument(const std::string& outside = "Qwen3") {
  Document document(ExampleShape());
  document.Set("class", outside);
  document.Set("layers", 1234);
  document.Set("ratio", 0.25);
  document.Set("tied", true);
  document.Set("parameters", Parameters::Exact(9'007'199'254'740'993));
  document.Set("weights",
               Bytes::Exact(3072) + Bytes::Unknown("the adapter's rank"));
  document.Set("step", Seconds::Estimated(0.0123, 0.011, 0.0141, "records"));
  document.Set("names", std::vector<std::string>{outside, "other"});
  document.AddRow("memory.parts", {"experts", Bytes::Exact(3'221'225'472)});
  document.AddRow("memory.parts", {outside, Bytes::Exact(1'073'741'824)});
  document.AddRow("memory.left_out", {"no configuration", 4});
  document.AddRow("tensors",
                  {"lm_head.weight", Parameters::Exact(622'329'856), "embed"});
  document.AddRow("tensors",
                  {"adapter", Parameters::Unknown("the rank"), Cell()});
  document.AddRow("fields", {"parameters", 3, 2});
  document.AddRow("by_class", {"A", "parameters", 1});
  document.AddRow("by_class", {"B", "parameters", 1});
  document.AddRow("by_class", {"A", "tensors", 2});
  SetFindings(document, {ExampleFinding()}, {"model/heads"},
              {{"model/rope", "there is no rope_theta"}});
  return document;
}

}  // namespace foretell

#endif  // FORETELL_REPORT_EXAMPLE_DOCUMENT_H_
