#include "report/present_graph.h"

#include "report/findings_section.h"

namespace foretell {

const DocumentShape& GraphShape() {
  static const DocumentShape shape = {
      .name = "graph",
      .title = "What one forward pass executes",
      .doc =
          "The operations of one forward pass in training, in order, with "
          "their FLOPs as PyTorch's counter counts them.",
      .sections = {
          {.rows =
               {
                   FieldRow("name", "Model", CellType::kText,
                            "The model's id, of the hub with @ and the commit, "
                            "or the "
                            "file that was read."),
                   FieldRow("class", "Class", CellType::kText,
                            "The class that runs."),
                   FieldRow("operations", "Operations", CellType::kInteger,
                            "How many operations run."),
                   FieldRow("drops", "Drops", CellType::kInteger,
                            "How many tensors lose their last name."),
                   FieldRow(
                       "flops", "FLOPs", CellType::kFigure,
                       "Of all counted operations; a multiply-add is two."),
                   TableRow("by_operation", "By operation",
                            "Operations that the counter registers.",
                            {{"operation", "Operation", CellType::kText,
                              "The operation's name."},
                             {"times", "Times", CellType::kInteger,
                              "How often it runs."},
                             {"flops", "FLOPs", CellType::kFigure,
                              "Of all these runs."}}),
                   PreformattedRow("text", "Sequence",
                                   "One operation a line, under its module."),
               }},
          FindingsSection()}};
  return shape;
}

Document PresentGraph(const GraphAnswer& answer) {
  Document document(GraphShape());
  document.Set("name", answer.name);
  document.Set("class", answer.class_name);
  document.Set("operations", answer.operations);
  document.Set("drops", answer.drops);
  document.Set("flops", answer.flops);
  document.Touch("by_operation");
  for (const OperationFlops& entry : answer.by_operation) {
    document.AddRow("by_operation",
                    {entry.operation, entry.times, entry.flops});
  }
  document.Set("text", answer.text);
  SetFindings(document, answer.findings, {}, {});
  return document;
}

}  // namespace foretell
