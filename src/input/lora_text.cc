#include "input/lora_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/nearest.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {
    "r",    "targets", "alpha",  "dropout", "adapter",
    "task", "dora",    "rslora", "saved"};
constexpr int64_t kLargestRank = 65536;

template <class Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number{};
  const char* last = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || stop != last) return std::nullopt;
  return number;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  LoraText Read() {
    size_t start = 0;
    while (out_.what.empty()) {
      const size_t comma = text_.find(',', start);
      ReadItem(start, text_.substr(start, comma == std::string_view::npos
                                              ? comma
                                              : comma - start));
      if (comma == std::string_view::npos) break;
      start = comma + 1;
    }
    if (out_.what.empty() && settings_.targets.empty()) {
      Fail(text_.size(), "names no targets",
           "add targets=, such as targets=q_proj+v_proj or "
           "targets=all-linear");
    }
    if (out_.what.empty()) out_.settings = settings_;
    return out_;
  }

 private:
  void Fail(size_t at, std::string what, std::string cure) {
    out_.at = at;
    out_.what = std::move(what);
    out_.cure = std::move(cure);
  }

  void ReadItem(size_t at, std::string_view item) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return Fail(at, fmt::format("\"{}\" is no key=value", item.substr(0, 80)),
                  "write such as r=16,targets=q_proj+v_proj");
    }
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(equals + 1);
    if (!seen_.insert(std::string(key)).second) {
      return Fail(at, fmt::format("states {} twice", key.substr(0, 80)),
                  "leave one of them out");
    }
    const size_t value_at = at + equals + 1;
    if (key == "r") return ReadRank(value_at, value);
    if (key == "targets") return ReadTargets(value_at, value);
    if (key == "alpha") return ReadAlpha(value_at, value);
    if (key == "dropout") return ReadDropout(value_at, value);
    if (key == "adapter") return ReadAdapter(value_at, value);
    if (key == "task") return;
    if (key == "dora") return ReadFlag(value_at, value, settings_.dora);
    if (key == "rslora") {
      return ReadFlag(value_at, value, settings_.rank_stabilized);
    }
    if (key == "saved") return ReadNames(value_at, value, settings_.saved);
    const auto near = NearestNames(key, kKeys, 1);
    Fail(at, fmt::format("\"{}\" is no setting of LoRA", key.substr(0, 80)),
         fmt::format(
             "{}the settings are r, targets, alpha, dropout, adapter, task, "
             "dora, rslora and saved",
             near.empty() ? "" : fmt::format("did you mean {}? ", near[0])));
  }

  void ReadRank(size_t at, std::string_view value) {
    const auto rank = ReadNumber<int64_t>(value);
    if (!rank || *rank < 1 || *rank > kLargestRank) {
      return Fail(
          at, fmt::format("\"{}\" is no rank", value.substr(0, 80)),
          fmt::format("write a whole number from 1 to {}", kLargestRank));
    }
    settings_.rank = *rank;
  }

  void ReadFlag(size_t at, std::string_view value, bool& flag) {
    if (value != "0" && value != "1") {
      return Fail(at, fmt::format("\"{}\" is no switch", value.substr(0, 80)),
                  "write 1 or 0");
    }
    flag = value == "1";
  }

  void ReadTargets(size_t at, std::string_view value) {
    ReadNames(at, value, settings_.targets);
  }

  void ReadNames(size_t at, std::string_view value,
                 std::vector<std::string>& names) {
    names.clear();
    while (true) {
      const size_t plus = value.find('+');
      const std::string_view name = value.substr(0, plus);
      if (name.empty()) {
        return Fail(at, "a module has no name",
                    "join module names by +, such as q_proj+v_proj, or write "
                    "all-linear");
      }
      names.emplace_back(name);
      if (plus == std::string_view::npos) return;
      value.remove_prefix(plus + 1);
      at += plus + 1;
    }
  }

  void ReadAlpha(size_t at, std::string_view value) {
    const auto alpha = ReadNumber<double>(value);
    if (!alpha || !std::isfinite(*alpha)) {
      return Fail(at, fmt::format("\"{}\" is no number", value.substr(0, 80)),
                  "write such as alpha=16");
    }
    settings_.alpha = *alpha;
  }

  void ReadDropout(size_t at, std::string_view value) {
    const auto dropout = ReadNumber<double>(value);
    if (!dropout || !(*dropout >= 0 && *dropout <= 1)) {
      return Fail(at, fmt::format("\"{}\" is no share", value.substr(0, 80)),
                  "write a number from 0 to 1");
    }
    settings_.dropout = *dropout;
  }

  void ReadAdapter(size_t at, std::string_view value) {
    if (value != "float32" && value != "model") {
      return Fail(at,
                  fmt::format("\"{}\" is no precision of adapters",
                              value.substr(0, 80)),
                  "write float32, which peft makes of half precision, or "
                  "model for the model's own dtype");
    }
    settings_.float32 = value == "float32";
  }

  std::string_view text_;
  LoraText out_;
  LoraSettings settings_;
  std::set<std::string> seen_;
};

}  // namespace

LoraText ReadLora(std::string_view text) { return Reader(text).Read(); }

}  // namespace foretell
