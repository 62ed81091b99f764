#include "tools/catalogue/index_row.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/figure.h"
#include "input/row_fields.h"

namespace foretell {
namespace {

// The length of a commit's name in the catalogue.
constexpr size_t kCommitDigits = 12;

// Words of the index's notes, and what the catalogue says for them.
struct Phrase {
  std::string_view word;
  std::string_view limit;
};
constexpr Phrase kPhrases[] = {
    {"later removed or changed", "the copied file has since changed or gone"},
    {"draft-model", "a draft model, not a base model"},
    {"not a published checkpoint", "a training recipe, not a checkpoint"},
    {"fixture", "taken from a test"},
    {"inferred", "its name was told from its values"},
    {"told from", "its name was told from its values"},
    {"does not say", "its name was told from its values"},
    {"not stated", "its name was told from its values"},
    {"does not name", "its name was told from its values"},
    {"re-save", "saved again by a library"},
    {"re-upload", "a copy of a re-upload"},
    {"engine keys", "keys of an engine were left out, or may remain"},
    {"early-format", "an early file, as first published"},
    {"early key names", "early key names"},
    {"remote code", "a class outside the library"},
    {"remote-code", "a class outside the library"},
    {"scaling left out", "RoPE scaling left out"},
    {"scaling and context left out", "RoPE scaling and context left out"},
    {"multipliers", "scalar multipliers left out"},
    {"separate lm_head", "the checkpoint stores its output matrix apart"},
    {"lm_head separately", "the checkpoint stores its output matrix apart"},
    {"lm_head.weight separately",
     "the checkpoint stores its output matrix apart"},
    {"matrix stored twice", "the checkpoint stores its output matrix apart"},
    {"multi-token-prediction",
     "the published total holds a multi-token-prediction layer"},
    {"unconfirmed", "unconfirmed"}};

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Where a total was read, without the indexer's own file names.
std::string Where(std::string where) {
  Replace(where, ", truth/weights_bytes.jsonl row ", " of ");
  for (size_t at = where.find(" in truth/"); at != std::string::npos;
       at = where.find(" in truth/")) {
    const size_t end = where.find(".jsonl", at);
    if (end == std::string::npos) break;
    where.erase(at, end + 6 - at);
  }
  return where;
}

std::string SourceOf(const RowFields& fields) {
  const std::string repository = fields.OptionalText("repo");
  const std::string commit = fields.OptionalText("commit");
  if (repository.empty()) return "";
  std::string out = repository + " " + fields.OptionalText("path");
  if (!commit.empty()) out += " @" + commit.substr(0, kCommitDigits);
  return out;
}

IndexRow Read(const RowFields& fields) {
  IndexRow row;
  row.id = fields.Text("id");
  row.component = fields.OptionalText("component");
  row.model_type = fields.OptionalText("model_type");
  row.model_type.resize(
      std::min(row.model_type.find(' '), row.model_type.size()));
  row.file = fields.Text("file");
  // The index counts from the folder above its own.
  if (row.file.starts_with("configs/")) row.file.erase(0, 8);
  row.kind = fields.Text("kind");
  row.notes = fields.OptionalText("notes");
  if (const ConfigValue* source = fields.Object("source")) {
    row.source = SourceOf(fields.Of(*source));
    row.date = fields.Of(*source).OptionalText("commit_date");
  }
  if (const ConfigValue* published = fields.Object("published_params")) {
    const RowFields total = fields.Of(*published);
    row.published =
        PublishedTotal{total.Count("total"), Where(total.Text("where"))};
  }
  if (const ConfigValue* counted = fields.Object("counted_params")) {
    // Some rows count by a formula and say so in their notes.
    if (fields.Of(*counted).Get("total") != nullptr) {
      row.counted = fields.Of(*counted).Count("total");
    }
  }
  return row;
}

void Add(std::string& limits, std::string_view limit) {
  if (limits.find(limit) != std::string::npos) return;
  if (!limits.empty()) limits += "; ";
  limits += limit;
}

std::string Check(const IndexRow& row) {
  if (!row.published) return "no published total to check it by";
  if (!row.counted) return "not counted";
  const int64_t more = *row.counted - row.published->parameters;
  if (more == 0) return "counts the published total exactly";
  return fmt::format("counts {} {} than the published total",
                     WithSeparators(more < 0 ? -more : more),
                     more < 0 ? "fewer" : "more");
}

}  // namespace

std::vector<IndexRow> ParseIndex(const std::string& text,
                                 const std::string& source) {
  std::vector<IndexRow> out;
  std::vector<InputError> errors;
  int number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string bytes = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (bytes.empty()) continue;
    const RowLine line{&bytes, source, number};
    if (const auto object = ReadRow(line, errors)) {
      out.push_back(Read(RowFields(*object, line, errors)));
    }
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

std::string Limits(const IndexRow& row) {
  std::string limits;
  const bool reconstructed = row.kind == "reconstructed";
  const bool defaults = row.kind == "class default";
  if (reconstructed || defaults) {
    Add(limits, reconstructed ? "reconstructed" : "the class's defaults");
    Add(limits, Check(row));
    Add(limits, "keys without weight in the total are unchecked");
  } else if (row.kind == "config dictionary in source") {
    Add(limits, "written in source code, not copied from a config.json");
    if (row.counted) Add(limits, Check(row));
  }
  for (const Phrase& phrase : kPhrases) {
    if (row.notes.find(phrase.word) != std::string::npos) {
      Add(limits, phrase.limit);
    }
  }
  return limits;
}

}  // namespace foretell
