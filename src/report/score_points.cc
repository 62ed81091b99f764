#include "report/score_points.h"

#include <optional>

#include "report/json_writer.h"

namespace foretell {
namespace {

// JSON's texts hold no line breaks, so those of the layout can be told: they
// and the indentation behind them go.
std::string OneLine(const std::string& json) {
  std::string out;
  bool indents = false;
  for (const char c : json) {
    if (c == '\n') {
      indents = true;
    } else if (!indents || c != ' ') {
      indents = false;
      out += c;
    }
  }
  return out + "\n";
}

void RealAt(std::string_view key, std::optional<double> value,
            JsonWriter& json) {
  json.Key(key);
  if (value) {
    json.Real(*value);
  } else {
    json.Null();
  }
}

std::string PointLine(std::string_view set, const Score& score) {
  JsonWriter json;
  json.BeginObject();
  json.TextAt("set", set);
  json.Key("line");
  json.Integer(score.line);
  json.TextAt("id", score.id);
  json.TextAt("model", score.model);
  json.TextAt("quantity", score.quantity);
  json.Key("groups");
  json.BeginArray();
  for (const std::string& group : score.groups) json.Text(group);
  json.EndArray();
  std::optional<double> measured;
  std::optional<double> predicted;
  if (score.measured_value != 0) measured = score.measured_value;
  if (measured && score.ratio) predicted = *measured * *score.ratio;
  RealAt("measured", measured, json);
  RealAt("predicted", predicted, json);
  RealAt("error", score.error, json);
  json.Key("covered");
  if (score.covered) {
    json.Flag(*score.covered);
  } else {
    json.Null();
  }
  json.EndObject();
  return OneLine(json.Take());
}

}  // namespace

std::string PointLines(std::string_view set, std::span<const Score> scores) {
  std::string out;
  for (const Score& score : scores) out += PointLine(set, score);
  return out;
}

}  // namespace foretell
