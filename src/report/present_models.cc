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
               FieldRow("text", "Of text alone", CellType::kInteger,
                        "How many of them have a vocabulary and no part for "
                        "images or sounds."),
               FieldRow("text_derived", "Of these derived", CellType::kInteger,
                        "For how many of those a family derives parameters."),
               FieldRow("text_proven", "Of these proven", CellType::kInteger,
                        "How many of those are a class of the library, or "
                        "reproduce a published total."),
               TableRow("models", "Models", "The models that match, by id.",
                        {{"id", "Id", CellType::kText, "The id on the hub."},
                         {"parameters", "Parameters", CellType::kFigure,
                          "The derived total; absent where no family has the "
                          "class.",
                          true},
                         {"class", "Class", CellType::kText,
                          "The configuration's first architecture.", true},
                         {"date", "Read", CellType::kText,
                          "The date of the configuration's source."}}),
               Optional(TableRow(
                   "aliases", "Same architecture under other ids",
                   "Ids that are answered for by a model above.",
                   {{"alias", "Id", CellType::kText, "The other id."},
                    {"id", "As", CellType::kText, "The model above."}})),
           }}}};
  return shape;
}

Document PresentModels(const ModelsAnswer& answer) {
  Document document(ModelsShape());
  document.Set("found", answer.rows.size());
  document.Set("derived", answer.derived);
  document.Set("text", answer.text);
  document.Set("text_derived", answer.text_derived);
  document.Set("text_proven", answer.text_proven);
  document.Touch("models");
  for (const ModelsRow& row : answer.rows) {
    const CatalogueEntry& entry = row.entry;
    document.AddRow("models",
                    {entry.id, row.parameters ? Cell(*row.parameters) : Cell(),
                     entry.class_name.empty() ? Cell() : Cell(entry.class_name),
                     entry.date});
    for (const std::string& alias : entry.aliases) {
      document.AddRow("aliases", {alias, entry.id});
    }
  }
  return document;
}

}  // namespace foretell
