#include "report/json_schema.h"

#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/figure.h"
#include "base/finding.h"
#include "report/json_writer.h"
#include "report/render_json.h"

namespace foretell {
namespace {

constexpr std::string_view kDialect =
    "https://json-schema.org/draft/2020-12/schema";

void WriteNames(std::string_view keyword,
                const std::vector<std::string_view>& names, JsonWriter& json) {
  json.Key(keyword);
  json.BeginArray();
  for (const std::string_view name : names) json.Text(name);
  json.EndArray();
}

// The end of an object's schema: what must and what may stand in it.
void CloseObject(const std::vector<std::string_view>& required,
                 JsonWriter& json) {
  WriteNames("required", required, json);
  json.Key("additionalProperties");
  json.Flag(false);
}

void WriteReference(std::string_view name, JsonWriter& json) {
  json.TextAt("$ref", "#/$defs/" + std::string(name));
}

// The keywords that describe one value; `or_null` admits null beside it.
void WriteType(CellType type, bool or_null, JsonWriter& json) {
  std::string_view name;
  switch (type) {
    case CellType::kText:
      name = "string";
      break;
    case CellType::kInteger:
      name = "integer";
      break;
    case CellType::kReal:
      // What is no number, such as a ratio of nothing, is null.
      name = "number";
      or_null = true;
      break;
    case CellType::kFlag:
      name = "boolean";
      break;
    case CellType::kTexts:
      name = "array";
      break;
    case CellType::kFigure:
      if (!or_null) return WriteReference("figure", json);
      json.Key("anyOf");
      json.BeginArray();
      json.BeginObject();
      WriteReference("figure", json);
      json.EndObject();
      json.BeginObject();
      json.TextAt("type", "null");
      json.EndObject();
      json.EndArray();
      return;
  }
  if (or_null) {
    WriteNames("type", {name, "null"}, json);
  } else {
    json.TextAt("type", name);
  }
  if (type == CellType::kTexts) {
    json.Key("items");
    json.BeginObject();
    json.TextAt("type", "string");
    json.EndObject();
  }
}

void WriteProperty(std::string_view name, std::string_view doc, CellType type,
                   bool or_null, JsonWriter& json) {
  json.Key(name);
  json.BeginObject();
  json.TextAt("description", doc);
  WriteType(type, or_null, json);
  json.EndObject();
}

// The schema of one row of a table: its columns from `keys` on.
void WriteRowSchema(const RowShape& row, JsonWriter& json) {
  const auto first = static_cast<size_t>(row.keys);
  if (row.bare) {
    const ColumnShape& column = row.columns[first];
    json.TextAt("description", column.doc);
    WriteType(column.type, column.optional, json);
    return;
  }
  json.TextAt("type", "object");
  json.Key("properties");
  json.BeginObject();
  std::vector<std::string_view> required;
  for (size_t i = first; i < row.columns.size(); ++i) {
    const ColumnShape& column = row.columns[i];
    const bool absent = row.sparse && column.optional;
    WriteProperty(column.name, column.doc, column.type,
                  column.optional && !absent, json);
    if (!absent) required.push_back(column.name);
  }
  json.EndObject();
  CloseObject(required, json);
}

void WriteTableSchema(const RowShape& row, JsonWriter& json) {
  if (row.keys == 0) {
    json.TextAt("type", "array");
    json.Key("items");
    json.BeginObject();
    WriteRowSchema(row, json);
    json.EndObject();
    return;
  }
  for (int i = 0; i < row.keys; ++i) {
    json.TextAt("type", "object");
    json.Key("propertyNames");
    json.BeginObject();
    json.TextAt("description", row.columns[static_cast<size_t>(i)].doc);
    json.EndObject();
    json.Key("additionalProperties");
    json.BeginObject();
  }
  WriteRowSchema(row, json);
  for (int i = 0; i < row.keys; ++i) json.EndObject();
}

void WriteRow(const RowShape& row, JsonWriter& json) {
  json.Key(row.name);
  json.BeginObject();
  json.TextAt("description", row.doc);
  switch (row.kind) {
    case RowKind::kField:
      WriteType(row.type, false, json);
      break;
    case RowKind::kPreformatted:
      json.TextAt("type", "string");
      break;
    case RowKind::kTable:
    case RowKind::kBars:
      WriteTableSchema(row, json);
      break;
    case RowKind::kFindings:
      json.TextAt("type", "array");
      json.Key("items");
      json.BeginObject();
      WriteReference("finding", json);
      json.EndObject();
      break;
  }
  json.EndObject();
}

void WriteDefinition(std::string_view name, std::string_view doc,
                     JsonWriter& json) {
  json.Key(name);
  json.BeginObject();
  json.TextAt("description", doc);
  json.TextAt("type", "object");
  json.Key("properties");
  json.BeginObject();
}

void WriteFigureDefinition(JsonWriter& json) {
  WriteDefinition("figure", "A number that says how it is known.", json);
  json.Key("value");
  json.BeginObject();
  json.TextAt("description", "A whole number where exact; null where unknown.");
  WriteNames("type", {"number", "null"}, json);
  json.EndObject();
  json.Key("unit");
  json.BeginObject();
  std::vector<std::string_view> units;
  for (const Unit unit :
       {Unit::kCount, Unit::kParameters, Unit::kBytes, Unit::kBytesPerToken,
        Unit::kTokens, Unit::kFlops, Unit::kSeconds}) {
    units.push_back(JsonNameOf(unit));
  }
  WriteNames("enum", units, json);
  json.EndObject();
  json.Key("provenance");
  json.BeginObject();
  WriteNames("enum",
             {NameOf(Provenance::kExact), NameOf(Provenance::kMeasured),
              NameOf(Provenance::kEstimated), NameOf(Provenance::kUnknown)},
             json);
  json.EndObject();
  WriteProperty("low",
                "The lower end of the interval; of an unknown figure, the "
                "part that is known.",
                CellType::kReal, false, json);
  WriteProperty("high", "The upper end of the interval.", CellType::kReal,
                false, json);
  WriteProperty("missing", "What an unknown figure lacks.", CellType::kTexts,
                false, json);
  WriteProperty("source", "Where it comes from.", CellType::kText, false, json);
  json.EndObject();
  CloseObject({"value", "unit", "provenance"}, json);
  json.EndObject();
}

void WritePlaceDefinition(JsonWriter& json) {
  WriteDefinition("place", "Where something was read.", json);
  WriteProperty("source", "A path, or what else was read.", CellType::kText,
                false, json);
  WriteProperty("line", "From 1; 0 where there are no lines.",
                CellType::kInteger, false, json);
  WriteProperty("column", "From 1, in bytes; 0 where unknown.",
                CellType::kInteger, false, json);
  WriteProperty("key", "The key that is meant; may be empty.", CellType::kText,
                false, json);
  json.EndObject();
  CloseObject({"source", "line", "column", "key"}, json);
  json.EndObject();
}

void WritePlaceProperty(std::string_view doc, JsonWriter& json) {
  json.Key("place");
  json.BeginObject();
  json.TextAt("description", doc);
  WriteReference("place", json);
  json.EndObject();
}

void WriteFindingDefinition(JsonWriter& json) {
  WriteDefinition("finding", "What a rule found about the job.", json);
  WriteProperty("rule", "The rule's id.", CellType::kText, false, json);
  json.Key("severity");
  json.BeginObject();
  WriteNames("enum",
             {NameOf(Severity::kBlock), NameOf(Severity::kWarn),
              NameOf(Severity::kInfo)},
             json);
  json.EndObject();
  WriteProperty("what", "What is wrong, with its numbers.", CellType::kText,
                false, json);
  WriteProperty("why", "What would happen.", CellType::kText, false, json);
  WriteProperty("fix", "What mends it; may be empty.", CellType::kText, false,
                json);
  WritePlaceProperty("Where it was read.", json);
  json.EndObject();
  CloseObject({"rule", "severity", "what", "why", "fix", "place"}, json);
  json.EndObject();
}

bool IsRequired(const SectionShape& section) {
  for (const RowShape& row : section.rows) {
    if (!row.optional) return true;
  }
  return false;
}

void WriteSections(const DocumentShape& shape, JsonWriter& json) {
  std::vector<std::string_view> required;
  json.Key("properties");
  json.BeginObject();
  for (const SectionShape& section : shape.sections) {
    std::vector<std::string_view> own;
    const bool nested = !section.name.empty();
    if (nested) {
      json.Key(section.name);
      json.BeginObject();
      json.TextAt("description", section.doc);
      json.TextAt("type", "object");
      json.Key("properties");
      json.BeginObject();
      if (IsRequired(section)) required.push_back(section.name);
    }
    for (const RowShape& row : section.rows) {
      WriteRow(row, json);
      if (!row.optional) (nested ? own : required).push_back(row.name);
    }
    if (nested) {
      json.EndObject();
      CloseObject(own, json);
      json.EndObject();
    }
  }
  json.EndObject();
  CloseObject(required, json);
}

}  // namespace

std::string JsonSchema(const DocumentShape& shape) {
  JsonWriter json;
  json.BeginObject();
  json.TextAt("$schema", kDialect);
  json.TextAt("title", "foretell " + std::string(shape.name));
  json.TextAt("description", shape.doc);
  json.TextAt("type", "object");
  WriteSections(shape, json);
  json.Key("$defs");
  json.BeginObject();
  WriteFigureDefinition(json);
  WriteFindingDefinition(json);
  WritePlaceDefinition(json);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

std::string ErrorsJsonSchema() {
  JsonWriter json;
  json.BeginObject();
  json.TextAt("$schema", kDialect);
  json.TextAt("title", "foretell errors");
  json.TextAt("description",
              "What --json prints where the input cannot be read, a family is "
              "unknown or the command line is wrong (exit status 2).");
  json.TextAt("type", "object");
  json.Key("properties");
  json.BeginObject();
  json.Key("errors");
  json.BeginObject();
  json.TextAt("type", "array");
  json.Key("items");
  json.BeginObject();
  json.TextAt("type", "object");
  json.Key("properties");
  json.BeginObject();
  WritePlaceProperty("Where it was read.", json);
  WriteProperty("what", "What is wrong.", CellType::kText, false, json);
  WriteProperty("cure", "What to do.", CellType::kText, false, json);
  json.EndObject();
  CloseObject({"place", "what", "cure"}, json);
  json.EndObject();
  json.EndObject();
  json.EndObject();
  CloseObject({"errors"}, json);
  json.Key("$defs");
  json.BeginObject();
  WritePlaceDefinition(json);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace foretell
