#include "input/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/lower_case.h"
#include "base/nearest.h"
#include "data/embedded.h"
#include "input/catalogue_row.h"

namespace foretell {
namespace {

constexpr char kFile[] = "models.jsonl";
constexpr char kSource[] = "data/models.jsonl";
// How every row begins, and what stands between its id and the rest.
constexpr std::string_view kIdStart = "{\"id\":\"";

bool EqualAnyCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, LowerOf, LowerOf);
}

bool StartsAnyCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         EqualAnyCase(text.substr(0, prefix.size()), prefix);
}

// The line that begins at `start`.
std::string_view LineAt(std::string_view file, size_t start) {
  const size_t end = std::min(file.find('\n', start), file.size());
  return file.substr(start, end - start);
}

// Ids hold no character that JSON escapes (a test looks at every row).
std::string_view IdOf(std::string_view line) {
  if (!line.starts_with(kIdStart)) return "";
  line.remove_prefix(kIdStart.size());
  return line.substr(0, line.find('"'));
}

std::string_view HeadOf(std::string_view line) {
  return line.substr(0, line.find(",\"hyper\":"));
}

// Calls `each` with every line, until it returns false.
template <typename Each>
void ForEachLine(std::string_view file, const Each& each) {
  for (size_t start = 0; start < file.size();) {
    const std::string_view line = LineAt(file, start);
    if (!line.empty() && !each(line)) return;
    start += line.size() + 1;
  }
}

// The first line whose id is not less than `id`, by halving over the bytes.
size_t LowerBound(std::string_view file, std::string_view id) {
  size_t low = 0;  // both are starts of lines, or the end
  size_t high = file.size();
  while (low < high) {
    // The line that `middle` lies in; its line break belongs to it.
    const size_t middle = low + (high - low) / 2;
    size_t start = low;
    if (middle > low) {
      const size_t before = file.rfind('\n', middle - 1);
      if (before != std::string_view::npos) start = std::max(low, before + 1);
    }
    const std::string_view line = LineAt(file, start);
    if (CatalogueIdLess(IdOf(line), id)) {
      low = std::min(start + line.size() + 1, file.size());
    } else {
      high = start;
    }
  }
  return low;
}

// The line whose id is `id`, else the one whose id is equal but for case.
std::string_view FindById(std::string_view file, std::string_view id) {
  const size_t exact = LowerBound(file, id);
  if (exact < file.size()) {
    const std::string_view line = LineAt(file, exact);
    if (IdOf(line) == id) return line;
  }
  // Capitals sort first among equals, so that this is at or before them.
  std::string upper(id);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  const size_t near = LowerBound(file, upper);
  if (near >= file.size()) return "";
  const std::string_view line = LineAt(file, near);
  return EqualAnyCase(IdOf(line), id) ? line : std::string_view();
}

// The line with an alias that is `alias`, case aside. Rows' heads are searched
// as bytes; only one that holds the text is parsed.
std::string_view FindByAlias(std::string_view file, std::string_view alias) {
  const std::string quoted = fmt::format("\"{}\"", Lower(alias));
  std::string_view found;
  ForEachLine(file, [&](std::string_view line) {
    const std::string_view head = HeadOf(line);
    const auto match = std::ranges::search(head, quoted, {}, LowerOf);
    if (match.empty()) return true;
    const CatalogueRow row = ParseCatalogueHead(std::string(line), kSource);
    for (const CatalogueAlias& one : row.aliases) {
      if (!EqualAnyCase(one.id, alias)) continue;
      found = line;
      return false;
    }
    return true;
  });
  return found;
}

ModelConfig ConfigOf(CatalogueRow row, std::string_view asked) {
  ModelConfig out;
  out.root = std::move(row.hyper);
  out.source = "catalogue:" + row.id;
  out.name = row.id;
  CatalogueOrigin& origin = out.catalogue.emplace();
  for (const CatalogueAlias& alias : row.aliases) {
    if (EqualAnyCase(row.id, asked) || !EqualAnyCase(alias.id, asked)) continue;
    origin.asked = alias.id;
    origin.alias_note = alias.why;
    break;
  }
  origin.id = std::move(row.id);
  origin.kind = std::move(row.kind);
  origin.source = std::move(row.source);
  origin.date = std::move(row.date);
  origin.note = std::move(row.limits);
  origin.published = std::move(row.published);
  return out;
}

std::vector<CatalogueRow> Heads() {
  std::vector<CatalogueRow> out;
  ForEachLine(Embedded(kFile), [&out](std::string_view line) {
    out.push_back(ParseCatalogueHead(std::string(line), kSource));
    return true;
  });
  return out;
}

// The words of an id: "Qwen/Qwen3-8B" is qwen, qwen3 and 8b.
std::set<std::string> WordsOf(std::string_view id) {
  std::set<std::string> words;
  std::string word;
  for (const char c : Lower(id)) {
    const bool inside = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (inside || c == '.') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.insert(word);
  return words;
}

std::string LettersAndDigits(std::string_view text) {
  std::string out;
  for (const char c : Lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  return out;
}

// How far ids are from one that was asked for. "llama 3 8b" is near to
// "meta-llama/Meta-Llama-3-8B", which holds its letters and digits in a row;
// what lies around them counts little, an edit more, a word that is missing
// altogether as two edits.
class IdSearch {
 public:
  explicit IdSearch(std::string_view asked)
      : words_(WordsOf(asked)), letters_(LettersAndDigits(asked)) {}

  // Nothing where the two have nothing in common.
  std::optional<int> Distance(std::string_view id) const {
    if (letters_.empty()) return std::nullopt;
    const std::set<std::string> words = WordsOf(id);
    int missing = 0;
    for (const std::string& word : words_) missing += !words.contains(word);
    const std::string_view name = id.substr(id.find('/') + 1);
    const int spelled = std::min(Spelled(LettersAndDigits(id)),
                                 Spelled(LettersAndDigits(name)));
    const bool shares = missing < static_cast<int>(words_.size());
    const int most = std::max(2, static_cast<int>(letters_.size()) / 3) * kEdit;
    if (!shares && spelled > most) return std::nullopt;
    return spelled + missing * 2 * kEdit;
  }

 private:
  static constexpr int kEdit = 8;  // against one for a letter around a match

  int Spelled(const std::string& letters) const {
    if (letters.find(letters_) != std::string::npos) {
      return static_cast<int>(letters.size() - letters_.size());
    }
    return EditDistance(letters_, letters) * kEdit;
  }

  std::set<std::string> words_;
  std::string letters_;
};

// 0 where the id has all words, 1 where aliases do, 2 where some field has
// each, 3 where one is nowhere.
int RankOf(const CatalogueRow& row, const std::vector<std::string>& words) {
  const std::string id = Lower(row.id);
  std::string aliases;
  for (const CatalogueAlias& alias : row.aliases) {
    aliases += Lower(alias.id) + "\n";
  }
  const std::string kind = Lower(row.class_name + "\n" + row.model_type);
  bool in_id = true;
  bool in_aliases = true;
  for (const std::string& word : words) {
    const bool here = id.find(word) != std::string::npos;
    const bool there = aliases.find(word) != std::string::npos;
    if (!here && !there && kind.find(word) == std::string::npos) return 3;
    in_id = in_id && here;
    in_aliases = in_aliases && there;
  }
  return in_id ? 0 : in_aliases ? 1 : 2;
}

}  // namespace

std::vector<CatalogueEntry> ListCatalogue() { return SearchCatalogue({}); }

std::vector<CatalogueEntry> SearchCatalogue(
    const std::vector<std::string>& words) {
  std::vector<std::string> lower;
  lower.reserve(words.size());
  for (const std::string& word : words) lower.push_back(Lower(word));
  std::vector<std::pair<int, CatalogueEntry>> ranked;
  for (const CatalogueRow& row : Heads()) {
    const int rank = RankOf(row, lower);
    if (rank < 3) ranked.emplace_back(rank, EntryOf(row));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& r) { return r.first; });
  std::vector<CatalogueEntry> out;
  out.reserve(ranked.size());
  for (auto& [rank, entry] : ranked) out.push_back(std::move(entry));
  return out;
}

std::optional<ModelConfig> FromCatalogue(std::string_view id) {
  if (id.empty()) return std::nullopt;
  const std::string_view file = Embedded(kFile);
  std::string_view line = FindById(file, id);
  if (line.empty()) line = FindByAlias(file, id);
  if (line.empty()) return std::nullopt;
  return ConfigOf(ParseCatalogueRow(std::string(line), kSource), id);
}

std::vector<std::string> CompleteIds(std::string_view prefix) {
  std::vector<std::string> out;
  for (const CatalogueRow& row : Heads()) {
    if (StartsAnyCase(row.id, prefix)) out.push_back(row.id);
    for (const CatalogueAlias& alias : row.aliases) {
      if (StartsAnyCase(alias.id, prefix)) out.push_back(alias.id);
    }
  }
  std::ranges::sort(out, CatalogueIdLess);
  return out;
}

std::vector<std::string> NearestIds(std::string_view id, size_t limit) {
  const IdSearch search(id);
  std::vector<std::pair<int, std::string>> ranked;
  const auto consider = [&](const std::string& name, bool is_alias) {
    // The catalogue's own ids come first unless an alias is clearly nearer.
    if (const auto far = search.Distance(name)) {
      ranked.emplace_back(*far + (is_alias ? 4 : 0), name);
    }
  };
  for (const CatalogueRow& row : Heads()) {
    consider(row.id, false);
    for (const CatalogueAlias& alias : row.aliases) consider(alias.id, true);
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& r) { return r.first; });
  std::vector<std::string> out;
  for (auto& [distance, name] : ranked) {
    if (out.size() == limit) break;
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace foretell
