#include "input/run_costs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/lower_case.h"
#include "data/embedded.h"
#include "input/json.h"
#include "spec/config_value.h"

namespace foretell {
namespace {

constexpr char kPrices[] = "cloud_prices.jsonl";
constexpr char kGrids[] = "grid_carbon.jsonl";

// Calls `each` with every row that holds `part` in its text.
template <typename Each>
void ForEachRow(const char* file, std::string_view part, const Each& each) {
  const std::string_view text = Embedded(file);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    if (line.empty() || line.find(part) == std::string_view::npos) continue;
    each(ParseJson(std::string(line), file));
  }
}

std::string Text(const ConfigValue& row, std::string_view key) {
  const ConfigValue* value = row.Find(key);
  if (value == nullptr) return "";
  return std::string(value->AsString().value_or(""));
}

double Real(const ConfigValue& row, std::string_view key) {
  const ConfigValue* value = row.Find(key);
  return value == nullptr ? 0 : value->AsReal().value_or(0);
}

Grid GridOf(const ConfigValue& row) {
  return {.id = Text(row, "id"),
          .name = Text(row, "name"),
          .grams_a_kwh = Real(row, "gco2e_per_kwh"),
          .year = static_cast<int>(Real(row, "year")),
          .source = Text(row, "source")};
}

}  // namespace

std::vector<ListPrice> ListPricesOf(std::string_view device) {
  std::map<std::string, ListPrice> of;
  const std::string part = "\"" + std::string(device) + "\"";
  ForEachRow(kPrices, part, [&](const ConfigValue& row) {
    const double cards = Real(row, "count");
    const double whole = Real(row, "usd_per_hour");
    if (Text(row, "accelerator") != device || cards <= 0 || whole <= 0 ||
        Text(row, "kind") != "on-demand") {
      return;
    }
    ListPrice price = {.provider = Text(row, "provider"),
                       .name = Text(row, "name"),
                       .usd_an_hour = whole / cards,
                       .date = Text(row, "date")};
    const auto [at, is_new] = of.try_emplace(price.provider, price);
    if (is_new) return;
    // A newer record stands for an older one; of one day the least.
    const bool is_newer = price.date > at->second.date;
    const bool is_less = price.date == at->second.date &&
                         price.usd_an_hour < at->second.usd_an_hour;
    if (is_newer || is_less) at->second = std::move(price);
  });
  std::vector<ListPrice> out;
  out.reserve(of.size());
  for (auto& [provider, price] : of) out.push_back(std::move(price));
  std::ranges::stable_sort(out, {}, &ListPrice::usd_an_hour);
  return out;
}

std::optional<Grid> GridNamed(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const std::string wanted = Lower(name);
  std::optional<Grid> out;
  ForEachRow(kGrids, "", [&](const ConfigValue& row) {
    if (out) return;
    if (Lower(Text(row, "id")) == wanted ||
        Lower(Text(row, "name")) == wanted ||
        Lower(Text(row, "iso3")) == wanted) {
      out = GridOf(row);
    }
  });
  if (out && out->grams_a_kwh <= 0) return std::nullopt;
  return out;
}

std::vector<std::string> GridIds() {
  std::vector<std::string> out;
  ForEachRow(kGrids, "",
             [&](const ConfigValue& row) { out.push_back(Text(row, "id")); });
  return out;
}

}  // namespace foretell
