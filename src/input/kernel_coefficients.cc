#include "input/kernel_coefficients.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/input_error.h"
#include "data/embedded.h"
#include "input/gzip.h"
#include "input/kernel_trees.h"
#include "input/row_fields.h"

namespace foretell {
namespace {

constexpr std::string_view kFolder = "kernels/";
constexpr std::string_view kSuffix = ".jsonl.gz";
// The largest has 300 kB unpacked.
constexpr int64_t kTextBytes = 16 << 20;
constexpr std::string_view kAny = "any";

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(' ', start), text.size());
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

// "m*n", "weights/l2"; nothing where a factor is no variable.
std::optional<KernelProduct> ProductOf(std::string_view text) {
  KernelProduct out;
  bool divides = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("*/"), text.size());
    const auto variable = KernelVariableNamed(text.substr(0, end));
    if (!variable) return std::nullopt;
    (divides ? out.divided : out.multiplied).push_back(*variable);
    if (end == text.size()) return out;
    divides = text[end] == '/';
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<double> NumberOf(const std::string& text) {
  char* end = nullptr;
  const double out = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(out > 0)) return std::nullopt;
  return out;
}

// A logarithm of what may be zero takes one more (features.py, evaluate).
bool MayBeZero(std::string_view product) {
  return product.find("past") != std::string_view::npos ||
         product.find("window") != std::string_view::npos;
}

std::optional<KernelFeature> FeatureOf(const std::string& text,
                                       const std::vector<KernelWord>& words) {
  std::vector<std::string> parts = WordsOf(text);
  KernelFeature out;
  if (parts.size() == 1 && parts[0] == "series") return out;
  if (parts.size() < 2) return std::nullopt;
  if (parts[0] == "code") {
    out.kind = KernelFeatureKind::kCode;
    for (; out.word < words.size(); ++out.word) {
      if (words[out.word].name == parts[1]) return out;
    }
    return std::nullopt;
  }
  if (parts[0] == "log") {
    const bool more = parts[1].ends_with('+');
    if (more) parts[1].pop_back();
    out.kind = more || MayBeZero(parts[1]) ? KernelFeatureKind::kLogOfOneMore
                                           : KernelFeatureKind::kLog;
  } else if (parts[0] == "pad") {
    out.kind = KernelFeatureKind::kPad;
  } else if (parts[0] == "mod") {
    out.kind = KernelFeatureKind::kModulo;
  } else if (parts[0] == "tiles") {
    out.kind = KernelFeatureKind::kTiles;
  } else if (parts[0] == "waves") {
    out.kind = KernelFeatureKind::kWaves;
  } else {
    return std::nullopt;
  }
  for (size_t i = 1; i < parts.size(); i += 2) {
    auto product = ProductOf(parts[i]);
    if (!product) return std::nullopt;
    out.products.push_back(*std::move(product));
    if (i + 1 == parts.size()) break;
    const auto unit = NumberOf(parts[i + 1]);
    if (!unit) return std::nullopt;
    out.units.push_back(*unit);
  }
  const bool has_unit = !out.units.empty();
  const bool needs_unit = out.kind != KernelFeatureKind::kLog &&
                          out.kind != KernelFeatureKind::kLogOfOneMore;
  if (has_unit != needs_unit) return std::nullopt;
  return out;
}

std::string BasisOf(const KernelSeries& series, const KernelModel& model,
                    const std::string& card) {
  std::string out = "measured on " + card;
  for (size_t i = 0; i < model.words.size(); ++i) {
    const KernelWord& word = model.words[i];
    const std::string& text = word.texts[series.words[i]];
    if (word.name == "framework") out += ", " + text;
    if (word.name == "version") out += " " + text;
  }
  return out;
}

// [index of each word, place, points, [weights]]
std::optional<KernelSeries> SeriesOf(const ConfigValue& item,
                                     const KernelModel& model,
                                     const std::string& card) {
  const std::vector<ConfigValue>& cells = item.items();
  const size_t words = model.words.size();
  if (cells.size() != words + 3) return std::nullopt;
  KernelSeries out;
  for (size_t i = 0; i < words; ++i) {
    const auto index = cells[i].AsInteger();
    if (!index || *index < 0 ||
        static_cast<size_t>(*index) >= model.words[i].texts.size()) {
      return std::nullopt;
    }
    out.words.push_back(static_cast<size_t>(*index));
  }
  const auto place = cells[words].AsReal();
  const auto points = cells[words + 1].AsInteger();
  if (!place || !points) return std::nullopt;
  out.place = *place;
  out.points = *points;
  for (const ConfigValue& weight : cells[words + 2].items()) {
    const auto real = weight.AsReal();
    if (!real || *real < 0) return std::nullopt;
    out.weights.push_back(*real);
  }
  if (out.weights.size() != model.basis.size() + 1) return std::nullopt;
  out.basis = BasisOf(out, model, card);
  return out;
}

void ReadWords(const RowFields& row, KernelModel& out) {
  const ConfigValue* words = row.Object("words");
  if (words == nullptr) return;
  for (const auto& [name, texts] : words->members()) {
    KernelWord word{.name = name, .texts = {}};
    for (const ConfigValue& text : texts.items()) {
      word.texts.emplace_back(text.AsString().value_or(""));
    }
    out.words.push_back(std::move(word));
  }
}

void ReadRanges(const RowFields& row, KernelModel& out) {
  const ConfigValue* ranges = row.Object("ranges");
  if (ranges == nullptr) return;
  for (const auto& [name, ends] : ranges->members()) {
    const auto variable = KernelVariableNamed(name);
    if (!variable || ends.items().size() != 2) {
      row.Problem(&ends, name, "is no range", "fit the kernels again");
      return;
    }
    out.ranges.push_back({*variable, ends.items()[0].AsReal().value_or(0),
                          ends.items()[1].AsReal().value_or(0)});
  }
}

KernelModel ModelOf(const RowFields& row, const std::string& card) {
  KernelModel out;
  out.kind = row.Text("kind");
  out.points = row.Count("points");
  ReadWords(row, out);
  ReadRanges(row, out);
  constexpr char kCure[] = "fit the kernels again";
  for (const ConfigValue& text : row.Items("basis")) {
    auto product = ProductOf(text.AsString().value_or(""));
    if (!product) row.Problem(&text, "basis", "is no product", kCure);
    out.basis.push_back(std::move(product).value_or(KernelProduct()));
  }
  for (const ConfigValue& item : row.Items("series")) {
    auto series = SeriesOf(item, out, card);
    if (!series) {
      row.Problem(&item, "series", "is no series", kCure);
      break;
    }
    out.series.push_back(*std::move(series));
  }
  for (const ConfigValue& text : row.Items("features")) {
    auto feature =
        FeatureOf(std::string(text.AsString().value_or("")), out.words);
    if (!feature) row.Problem(&text, "features", "is no feature", kCure);
    out.features.push_back(std::move(feature).value_or(KernelFeature()));
  }
  const std::vector<ConfigValue>& ends = row.Items("interval");
  if (ends.size() == 2) {
    out.low = ends[0].AsReal().value_or(0);
    out.high = ends[1].AsReal().value_or(0);
  }
  if (const ConfigValue* errors = row.Object("left_out")) {
    if (const ConfigValue* median = errors->Find("median")) {
      out.median_error = median->AsReal().value_or(0);
    }
    if (const ConfigValue* p90 = errors->Find("p90")) {
      out.p90_error = p90->AsReal().value_or(0);
    }
  }
  out.centre = ReadTrees(row, "centre", out.features.size());
  out.spread = ReadTrees(row, "spread", out.features.size());
  return out;
}

std::string TextOf(const std::string& name) {
  return UnpackGzip(std::string(Embedded(name)), kTextBytes, "data/" + name);
}

double RealOf(const RowFields& row, std::string_view key) {
  const ConfigValue* value = row.Get(key);
  return value == nullptr ? 0 : value->AsReal().value_or(0);
}

}  // namespace

KernelCoefficients ParseKernelCoefficients(std::string_view text,
                                           const std::string& source) {
  KernelCoefficients out;
  std::vector<InputError> errors;
  RowLine at{.text = nullptr, .source = source};
  for (size_t start = 0; start < text.size() && errors.empty();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line(text.substr(start, end - start));
    start = end + 1;
    ++at.line;
    at.text = &line;
    const auto object = ReadRow(at, errors);
    if (!object) break;
    const RowFields row(*object, at, errors);
    if (at.line == 1) {
      out.card = row.Text("id");
      out.system = row.Text("system");
      out.source = row.Text("source");
      out.date = row.Text("date");
      out.multiprocessors = RealOf(row, "multiprocessors");
      out.l2_bytes = RealOf(row, "l2_mb") * 1e6;
      continue;
    }
    KernelModel model = ModelOf(row, out.card);
    std::string kind = model.kind;
    out.models.emplace(std::move(kind), std::move(model));
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

std::shared_ptr<const KernelCoefficients> CoefficientsOf(
    std::string_view card) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const KernelCoefficients>,
                  std::less<>>* const read =
      new std::map<std::string, std::shared_ptr<const KernelCoefficients>,
                   std::less<>>();
  const std::lock_guard lock(mutex);
  const auto at = read->find(card);
  if (at != read->end()) return at->second;
  const std::string name = fmt::format("{}{}{}", kFolder, card, kSuffix);
  std::shared_ptr<const KernelCoefficients> out;
  if (FindEmbedded(name)) {
    out = std::make_shared<const KernelCoefficients>(
        ParseKernelCoefficients(TextOf(name), "data/" + name));
  }
  read->emplace(card, out);
  return out;
}

std::vector<std::string> MeasuredCards() {
  std::vector<std::string> out;
  for (std::string_view name : EmbeddedNames()) {
    if (!name.starts_with(kFolder) || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(kFolder.size());
    name.remove_suffix(kSuffix.size());
    if (name != kAny) out.emplace_back(name);
  }
  return out;
}

namespace {

// Each card's first line alone.
const std::map<std::string, std::string>& CardsOfSystems() {
  static const auto& known = *new std::map<std::string, std::string>([] {
    std::map<std::string, std::string> out;
    for (const std::string& card : MeasuredCards()) {
      const std::string text =
          TextOf(fmt::format("{}{}{}", kFolder, card, kSuffix));
      const std::string first = text.substr(0, text.find('\n'));
      out[ParseKernelCoefficients(first, card).system] = card;
    }
    return out;
  }());
  return known;
}

}  // namespace

std::vector<std::string> MeasuredSystems() {
  std::vector<std::string> out;
  for (const auto& [system, card] : CardsOfSystems()) out.push_back(system);
  return out;
}

std::string CardOfSystem(std::string_view system) {
  const auto at = CardsOfSystems().find(std::string(system));
  return at == CardsOfSystems().end() ? "" : at->second;
}

}  // namespace foretell
