#include "input/launch_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "input/json.h"
#include "input/launch_value.h"

namespace foretell {
namespace {

using Kind = LaunchFault::Kind;

struct Word {
  std::string text;
  Place place;
};

bool IsNumber(std::string_view text) {
  // argparse: a negative number is a value, not a flag.
  if (!text.starts_with('-') || text.size() < 2) return false;
  text.remove_prefix(1);
  const bool digits = text.find_first_not_of("0123456789.") == text.npos;
  return digits && std::ranges::count(text, '.') <= 1 && text.back() != '.';
}

// argparse's view: starts with a dash, is no negative number, holds no blank.
bool LooksLikeFlag(std::string_view text) {
  if (!text.starts_with('-') || text == "-") return false;
  if (IsNumber(text)) return false;
  const std::string_view name = text.substr(0, text.find('='));
  return name.find(' ') == std::string_view::npos;
}

// Underscores become dashes between the leading dashes and the first dot.
std::string Dashed(std::string_view name) {
  std::string out(name);
  for (size_t i = 2; i < out.size() && out[i] != '.'; ++i) {
    if (out[i] == '_') out[i] = '-';
  }
  return out;
}

class Reader {
 public:
  Reader(const EngineFacts& facts, const LaunchLine& line)
      : facts_(&facts), line_(&line) {
    out_.engine = line.engine;
    out_.version = facts.version;
    out_.form = line.form;
    for (const auto& [name, word] : line.environment) {
      out_.environment.emplace_back(name, word.text);
    }
  }

  Launch Run() && {
    Normalize();
    FoldDotted();
    Parse();
    return std::move(out_);
  }

 private:
  struct Spelling {
    const EngineFlag* flag = nullptr;
    bool negative = false;
  };

  Spelling SpellingOf(const FlagSpelling& found) const {
    return {&facts_->flags[found.flag], found.negative};
  }

  void Fault(Kind kind, const Place& place, std::string what, std::string why,
             std::string fix, bool refuses = true) {
    out_.faults.push_back({kind, std::move(what), std::move(why),
                           std::move(fix), place, refuses});
  }

  void Normalize() {
    const auto& words = line_->words;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text;
      const Place& place = words[i].place;
      if (text == "--model" && i + 1 < words.size()) {
        model_ = {words[++i].text, words[i].place};
      } else if (text.starts_with("--model=")) {
        model_ = {text.substr(8), place};
      } else if (text.starts_with("--")) {
        const size_t equals = text.find('=');
        const std::string name = Dashed(text.substr(0, equals));
        words_.push_back(
            {equals == text.npos ? name : name + text.substr(equals), place});
      } else if (text.starts_with("-O") && text != "-O") {
        const std::string level =
            text[2] == '=' ? text.substr(3) : text.substr(2);
        AddLevel(level, place);
      } else if (text == "-O" && i + 1 < words.size() &&
                 words[i + 1].text.size() == 1 &&
                 std::string_view("0123").find(words[i + 1].text[0]) !=
                     std::string_view::npos) {
        AddLevel(words[++i].text, place);
      } else {
        words_.push_back({text, place});
      }
    }
  }

  // -O set the compilation mode until the levels of optimization came.
  void AddLevel(const std::string& level, const Place& place) {
    if (facts_->FindFlag("--optimization-level") != nullptr) {
      words_.push_back({"--optimization-level", place});
      words_.push_back({level, place});
    } else {
      words_.push_back({"-O", place});
      words_.push_back({level, place});
    }
  }

  // "--compilation-config.mode 3" joins the JSON of --compilation-config.
  void FoldDotted() {
    std::vector<Word> rest;
    std::vector<std::pair<std::string, std::pair<ConfigValue, Place>>> folded;
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string& text = words_[i].text;
      std::string name = text.substr(0, text.find('='));
      if (!text.starts_with('-') || IsNumber(text) ||
          name.find('.') == name.npos || name.find(' ') != name.npos) {
        rest.push_back(words_[i]);
        continue;
      }
      const Place place = words_[i].place;
      std::string value;
      if (text.find('=') != text.npos) {
        value = text.substr(text.find('=') + 1);
      } else if (i + 1 < words_.size()) {
        value = words_[++i].text;
      } else {
        Fault(Kind::kNoValue, place, fmt::format("{} has no value", name),
              "the key of a JSON flag wants one", "");
        continue;
      }
      ConfigValue read = LooseValue(value);
      if (name.ends_with('+')) {
        name.pop_back();
        read = ListOf(value);
      }
      const size_t dot = name.find('.');
      const std::string base = name.substr(0, dot);
      auto found =
          std::ranges::find(folded, base, &decltype(folded)::value_type::first);
      if (found == folded.end()) {
        folded.emplace_back(base, std::pair{ConfigValue::Object(), place});
        found = std::prev(folded.end());
      }
      SetDotted(found->second.first, name.substr(dot + 1), std::move(read));
    }
    for (auto& [name, value] : folded) {
      rest.push_back({name, value.second});
      rest.push_back({value.first.ToJson(), value.second});
    }
    words_ = std::move(rest);
  }

  // The flag that a word names; nothing where it is unknown or ambiguous
  // (which is then a fault).
  std::optional<Spelling> Find(const std::string& name, const Place& place) {
    const auto& names = facts_->spellings;
    const auto exact = names.find(name);
    if (exact != names.end()) return SpellingOf(exact->second);
    std::vector<std::string> candidates;
    Spelling found;
    if (name.starts_with("--")) {
      for (auto at = names.lower_bound(name);
           at != names.end() && at->first.starts_with(name); ++at) {
        candidates.push_back(at->first);
        found = SpellingOf(at->second);
      }
    }
    if (candidates.size() == 1) {
      Fault(Kind::kDeprecated, place,
            fmt::format("{} is read as {}", name, candidates[0]),
            "the only flag that begins so, in this version", candidates[0],
            false);
      return found;
    }
    if (candidates.size() > 1) {
      Fault(Kind::kAmbiguous, place,
            fmt::format("{} could be {}", name, fmt::join(candidates, ", ")),
            "a beginning that several flags share is refused", candidates[0]);
      return std::nullopt;
    }
    UnknownFlag(name, place);
    return std::nullopt;
  }

  void UnknownFlag(const std::string& name, const Place& place) {
    const OtherFlag* other = nullptr;
    for (const OtherFlag& one : facts_->other_flags) {
      if (one.flag == name) other = &one;
    }
    std::vector<std::string_view> known;
    for (const auto& [spelling, flag] : facts_->spellings) {
      if (spelling.starts_with("--")) known.push_back(spelling);
    }
    const std::vector<std::string> near = NearestNames(name, known, 1);
    const std::string fix = near.empty() ? "" : near[0];
    const std::string version = facts_->version.ToString();
    if (other == nullptr) {
      Fault(Kind::kUnknown, place,
            fmt::format("{} {} has no flag {}", NameOf(line_->engine), version,
                        name),
            "it ends with \"unrecognized arguments\"", fix);
    } else if (other->since <= facts_->version) {
      Fault(Kind::kRemoved, place,
            fmt::format("{} is gone since {} {}", name, NameOf(line_->engine),
                        other->until.value_or(facts_->version).ToString()),
            fmt::format("{} ends with \"unrecognized arguments\"", version),
            fix);
    } else {
      Fault(Kind::kNotYet, place,
            fmt::format("{} comes with {} {}", name, NameOf(line_->engine),
                        other->since.ToString()),
            fmt::format("{} ends with \"unrecognized arguments\"", version),
            fix);
    }
  }

  void Parse() {
    std::vector<Word> loose;
    for (size_t i = 0; i < words_.size();) {
      const Word word = words_[i++];
      if (!LooksLikeFlag(word.text)) {
        loose.push_back(word);
        continue;
      }
      std::optional<std::string> inside;
      std::string name = word.text;
      if (const size_t equals = name.find('='); equals != name.npos) {
        inside = name.substr(equals + 1);
        name.resize(equals);
      }
      const std::optional<Spelling> found = Find(name, word.place);
      if (!found) {
        // Its value is no argument of its own in the message either.
        while (i < words_.size() && !inside && !LooksLikeFlag(words_[i].text)) {
          ++i;
        }
        continue;
      }
      Take(*found, name, word.place, inside, i);
    }
    if (model_.text.empty() && !loose.empty()) {
      model_ = loose[0];
      loose.erase(loose.begin());
    }
    for (const Word& word : loose) {
      Fault(Kind::kUnknown, word.place,
            fmt::format("\"{}\" belongs to no flag", word.text),
            "it ends with \"unrecognized arguments\"", "");
    }
    out_.model = model_.text;
    out_.model_place = model_.place;
  }

  void Take(const Spelling& found, const std::string& name, const Place& place,
            const std::optional<std::string>& inside, size_t& next) {
    const EngineFlag& flag = *found.flag;
    if (flag.type == "bool" || flag.type == "true" || flag.type == "false") {
      if (inside && flag.many.empty()) {
        Fault(Kind::kValue, place,
              fmt::format("{} takes no value, and has \"{}\"", name, *inside),
              "it ends with \"ignored explicit argument\"", name);
        return;
      }
      const bool value = (flag.type != "false") != found.negative;
      Set(flag, name, place, ConfigValue::Bool(value));
      return;
    }
    std::vector<Word> values;
    if (inside) {
      values.push_back({*inside, place});
    } else {
      const bool many = flag.many == "+" || flag.many == "*";
      while (next < words_.size() && !LooksLikeFlag(words_[next].text) &&
             (many || values.empty())) {
        values.push_back(words_[next++]);
      }
    }
    if (values.empty()) {
      if (flag.many == "?" || flag.many == "*") {
        Set(flag, name, place, ConfigValue::Bool(true));
        return;
      }
      Fault(Kind::kNoValue, place, fmt::format("{} has no value", name),
            "it ends with \"expected one argument\"",
            fmt::format("{} {}", name, ExampleOf(flag)));
      return;
    }
    ConfigValue list = ConfigValue::Array();
    ConfigValue value;
    for (const Word& one : values) {
      LaunchValue read = ReadLaunchValue(*facts_, flag, one.text);
      if (read.fault) {
        read.fault->place = one.place;
        read.fault->what =
            fmt::format("{} {}: {}", name, one.text, read.fault->what);
        out_.faults.push_back(std::move(*read.fault));
        return;
      }
      value = std::move(read.value);
      list.mutable_items().push_back(value);
    }
    const bool is_list =
        flag.many == "+" || flag.many == "*" || flag.type == "append";
    Set(flag, name, place, is_list ? std::move(list) : std::move(value));
  }

  void Set(const EngineFlag& flag, const std::string& spelled,
           const Place& place, ConfigValue value) {
    const LaunchSetting* before = out_.Find(flag.dest);
    if (before != nullptr && flag.type != "append" &&
        !(before->value == value)) {
      Fault(Kind::kTwice, place,
            fmt::format("{} is given twice, with other values", flag.flag),
            "the last one counts", "", false);
    }
    if (flag.deprecated) {
      Fault(Kind::kDeprecated, place,
            fmt::format("{} is on its way out", flag.flag),
            "it is taken, with a warning", "", false);
    }
    out_.settings.push_back({flag.dest, spelled, std::move(value), place});
  }

  const EngineFacts* facts_;
  const LaunchLine* line_;
  std::vector<Word> words_;
  Word model_;
  Launch out_;
};

}  // namespace

Launch ReadLaunch(const EngineFacts& facts, const LaunchLine& line) {
  return Reader(facts, line).Run();
}

}  // namespace foretell
