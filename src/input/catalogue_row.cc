#include "input/catalogue_row.h"

#include <algorithm>
#include <utility>

#include "input/name_fold.h"
#include "input/row_fields.h"

namespace foretell {
namespace {

constexpr std::string_view kHyper = ",\"hyper\":";

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<PublishedTotal> ReadPublished(const RowFields& row) {
  const ConfigValue* value = row.Object("published");
  if (value == nullptr) return std::nullopt;
  const RowFields fields = row.Of(*value);
  return PublishedTotal{fields.Count("parameters"), fields.Text("where")};
}

std::vector<CatalogueAlias> ReadAliases(const RowFields& row) {
  std::vector<CatalogueAlias> out;
  for (const ConfigValue& item : row.Items("aliases")) {
    if (!item.is_object()) {
      row.Problem(&item, "aliases", "an alias is no object",
                  "write {\"id\": …, \"why\": …}");
      return out;
    }
    const RowFields fields = row.Of(item);
    out.push_back({fields.Text("id"), fields.OptionalText("why")});
  }
  return out;
}

void ReadHyper(const RowFields& row, CatalogueRow& out) {
  const ConfigValue* hyper = row.Object("hyper");
  if (hyper == nullptr) {
    row.Problem(row.Get("hyper"), "hyper", "is missing", "write an object");
    return;
  }
  auto unfolded = UnfoldNames(*hyper);
  if (!unfolded || !unfolded->is_object()) {
    row.Problem(hyper, "hyper", "holds names that do not unfold",
                "make the row again with tools/catalogue");
    return;
  }
  out.hyper = std::move(*unfolded);
}

CatalogueRow Read(const std::string& line, const std::string& source,
                  bool with_hyper) {
  std::vector<InputError> errors;
  const RowLine where{&line, source, 1};
  CatalogueRow out;
  if (const auto object = ReadRow(where, errors)) {
    const RowFields row(*object, where, errors);
    out.id = row.Text("id");
    out.class_name = row.OptionalText("class");
    out.model_type = row.OptionalText("model_type");
    out.kind = row.Text("kind");
    out.source = row.OptionalText("source");
    out.date = row.OptionalText("date");
    out.limits = row.OptionalText("limits");
    out.published = ReadPublished(row);
    out.aliases = ReadAliases(row);
    if (with_hyper) ReadHyper(row, out);
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

}  // namespace

CatalogueRow ParseCatalogueRow(const std::string& line,
                               const std::string& source) {
  return Read(line, source, true);
}

CatalogueRow ParseCatalogueHead(const std::string& line,
                                const std::string& source) {
  // A quote inside a string is escaped, so that this is the key itself.
  const size_t hyper = line.find(kHyper);
  if (hyper == std::string::npos) return Read(line, source, false);
  return Read(line.substr(0, hyper) + "}", source, false);
}

std::string ToLine(const CatalogueRow& row) {
  ConfigValue out = ConfigValue::Object();
  const auto text = [&out](std::string_view key, const std::string& value) {
    out.Set(key, ConfigValue::String(value));
  };
  text("id", row.id);
  text("class", row.class_name);
  text("model_type", row.model_type);
  text("kind", row.kind);
  text("source", row.source);
  text("date", row.date);
  if (!row.limits.empty()) text("limits", row.limits);
  if (row.published) {
    ConfigValue published = ConfigValue::Object();
    published.Set("parameters", ConfigValue::Number(
                                    std::to_string(row.published->parameters)));
    published.Set("where", ConfigValue::String(row.published->where));
    out.Set("published", std::move(published));
  }
  ConfigValue aliases = ConfigValue::Array();
  for (const CatalogueAlias& alias : row.aliases) {
    ConfigValue one = ConfigValue::Object();
    one.Set("id", ConfigValue::String(alias.id));
    if (!alias.why.empty()) one.Set("why", ConfigValue::String(alias.why));
    aliases.mutable_items().push_back(std::move(one));
  }
  out.Set("aliases", std::move(aliases));
  out.Set("hyper", FoldNames(row.hyper));
  return out.ToJson();
}

CatalogueEntry EntryOf(const CatalogueRow& row) {
  CatalogueEntry out;
  out.id = row.id;
  out.class_name = row.class_name;
  out.model_type = row.model_type;
  out.kind = row.kind;
  out.source = row.source;
  out.date = row.date;
  if (row.published) out.published_parameters = row.published->parameters;
  for (const CatalogueAlias& alias : row.aliases) {
    out.aliases.push_back(alias.id);
  }
  return out;
}

bool CatalogueIdLess(std::string_view a, std::string_view b) {
  const auto lower_less = [](char x, char y) { return Lower(x) < Lower(y); };
  if (std::ranges::lexicographical_compare(a, b, lower_less)) return true;
  if (std::ranges::lexicographical_compare(b, a, lower_less)) return false;
  return a < b;
}

}  // namespace foretell
