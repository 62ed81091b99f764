#include "tests/truth/checkpoint_case.h"

#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>

#include "input/json.h"

namespace foretell {
namespace {

std::string Unbase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

// Pieces of a file, zeros between and behind them.
std::string Joined(const ConfigValue& pieces, int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  for (const ConfigValue& piece : pieces.items()) {
    const std::string part = Unbase64(piece.items()[1].AsString().value());
    out.replace(static_cast<size_t>(piece.items()[0].AsInteger().value()),
                part.size(), part);
  }
  return out;
}

std::string TextOf(const ConfigValue& row, std::string_view key) {
  return std::string(row.Find(key)->AsString().value());
}

}  // namespace

std::vector<CheckpointCase> CheckpointCases() {
  std::ifstream file(std::string(FORETELL_SOURCE_DIR) +
                     "/tests/truth/checkpoints.jsonl");
  std::vector<CheckpointCase> out;
  for (std::string line; std::getline(file, line);) {
    const ConfigValue row = ParseJson(line, "checkpoints.jsonl");
    CheckpointCase next;
    next.name = TextOf(row, "case");
    next.format = TextOf(row, "format");
    next.file = TextOf(row, "name");
    next.bytes =
        Joined(*row.Find("pieces"), row.Find("bytes")->AsInteger().value());
    next.config = *row.Find("config");
    next.tensors = *row.Find("tensors");
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace foretell
