#include "report/present_models.h"

namespace foretell {

const DocumentShape& ModelsShape() {
  static const DocumentShape shape = {
      .name = "models",
      .title = "Models of the catalogue",
      .doc =
          "Which published models the catalogue answers for, without any "
          "network.",
      .sections = {
          {.rows = {
               FieldRow("found", "Found", CellType::kInteger,
                        "How many models match."),
               FieldRow("derived", "Derived", CellType::kInteger,
                        "For how many of them a family derives parameters."),
               TableRow("models", "Models", "The models that match, by id.",
                        {{"id", "Id", CellType::kText, "The id on the hub."},
                         {"class", "Class", CellType::kText,
                          "The configuration's first architecture.", true},
                         {"parameters", "Parameters", CellType::kFigure,
                          "The derived total; unknown where no family has the "
                          "class."},
                         {"date", "Read", CellType::kText,
                          "The date of the configuration's source."},
                         {"aliases", "Same architecture", CellType::kTexts,
                          "Ids whose models are built alike."}}),
           }}}};
  return shape;
}

Document PresentModels(const ModelsAnswer& answer) {
  Document document(ModelsShape());
  document.Set("found", answer.rows.size());
  document.Set("derived", answer.derived);
  document.Touch("models");
  for (const ModelsRow& row : answer.rows) {
    const CatalogueEntry& entry = row.entry;
    document.AddRow(
        "models",
        {entry.id, entry.class_name.empty() ? Cell() : Cell(entry.class_name),
         row.parameters, entry.date, entry.aliases});
  }
  return document;
}

}  // namespace foretell
