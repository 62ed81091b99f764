#include "front/parse_command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/input_error.h"
#include "base/nearest.h"
#include "front/command_help.h"
#include "front/command_line.h"
#include "front/value_check.h"

namespace foretell {
namespace {

// "--micro_batch=4" -> "micro-batch"; nothing for what is no long option.
std::optional<std::string> LongNameIn(std::string_view word) {
  if (!word.starts_with("--") || word.size() < 3) return std::nullopt;
  std::string name(word.substr(2, word.find('=') - 2));
  std::ranges::replace(name, '_', '-');
  return name;
}

bool IsShortCluster(std::string_view word) {
  // "-5" is a number and "-" a file name, so neither is an option.
  return word.size() > 1 && word[0] == '-' && word[1] != '-' &&
         !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

// How an unknown option is handed to CLI11, before the index of its word.
constexpr std::string_view kUnknown = "--?=";

class Parser {
 public:
  Parser(const CommandTable& table, std::vector<std::string> words)
      : table_(table), words_(std::move(words)) {}

  Invocation Parse() {
    FindCommandWord();
    ReadOptionWords();
    if (command_word_ == words_.size() || command_ != nullptr || forgives_) {
      Assign();
      CheckArguments();
      CheckFormat();
    }
    if (!errors_.empty() && !forgives_) {
      std::ranges::stable_sort(errors_, {}, [](const InputError& error) {
        return error.place.column;
      });
      throw InputErrors(std::move(errors_));
    }
    Invocation invocation(table_, command_, words_, std::move(arguments_),
                          std::move(options_));
    for (std::string& note : notes_) invocation.AddNote(std::move(note));
    return invocation;
  }

 private:
  void Fail(size_t word, size_t offset, std::string what, std::string cure) {
    errors_.push_back({PlaceInCommandLine(table_.program, words_, word, offset),
                       std::move(what), std::move(cure)});
  }

  // The first word that is neither an option nor an option's value.
  void FindCommandWord() {
    command_word_ = words_.size();
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "--" || IsShortCluster(words_[i])) continue;
      if (const auto name = LongNameIn(words_[i])) {
        if (TakesNextWord(i, *name)) ++i;
        continue;
      }
      command_word_ = i;
      command_ = FindCommand(table_, words_[i]);
      if (command_ == nullptr) FailCommand();
      return;
    }
  }

  // Whether the word behind an option in front of the command is its value.
  // Options of the command itself are not known yet: behind those, a word
  // that names a command is one.
  bool TakesNextWord(size_t index, const std::string& name) const {
    if (words_[index].find('=') != std::string::npos) return false;
    const OptionRow* row = FindOption(table_, nullptr, name);
    if (row != nullptr) return !row->is_flag();
    return index + 1 < words_.size() &&
           FindCommand(table_, words_[index + 1]) == nullptr &&
           !words_[index + 1].starts_with('-');
  }

  void FailCommand() {
    const std::string& word = words_[command_word_];
    Fail(command_word_, 0, fmt::format("there is no command {}", word),
         NearestCommandCure(table_, word));
  }

  // Notes where each option stands, which spelling it has, and what is wrong
  // with the word itself.
  void ReadOptionWords() {
    size_t end = words_.size();
    for (size_t i = 0; i < end; ++i) {
      if (i == command_word_) continue;
      if (words_[i] == "--") {
        end = i;
      } else if (const auto name = LongNameIn(words_[i])) {
        ReadLongOption(i, *name);
      } else if (IsKnownCluster(words_[i])) {
        for (const char c : words_[i].substr(1)) {
          occurrences_[FindShort(c)].push_back(i);
        }
      }
    }
    values_end_ = end;
    ForgiveIfAsked();
  }

  void ReadLongOption(size_t index, const std::string& name) {
    const OptionRow* row = FindOption(table_, command_, name);
    if (row == nullptr) return;
    occurrences_[row].push_back(index);
    const std::string& word = words_[index];
    const size_t equals = word.find('=');
    const std::string spelled = word.substr(0, equals);
    if (spelled != "--" + std::string(row->name)) {
      notes_.push_back(fmt::format("{} is --{} here", spelled, row->name));
    }
    if (row->is_flag() && equals != std::string::npos) {
      Fail(index, equals, fmt::format("--{} takes no value", row->name),
           fmt::format("write --{}", row->name));
    }
  }

  // "-lh" where both letters are flags.
  bool IsKnownCluster(std::string_view word) const {
    return IsShortCluster(word) &&
           std::ranges::all_of(word.substr(1), [this](char c) {
             return FindShort(c) != nullptr;
           });
  }

  const OptionRow* FindShort(char c) const {
    for (const auto* list :
         {command_ ? &command_->options : nullptr, &table_.global_options}) {
      if (list == nullptr) continue;
      for (const OptionRow& row : *list) {
        if (row.short_name == c) return &row;
      }
    }
    return nullptr;
  }

  void ForgiveIfAsked() {
    for (const auto& [row, words] : occurrences_) {
      forgives_ = forgives_ || row->name == "help" || row->name == "version";
    }
  }

  // CLI11 sees each option under its own name and each value as the index of
  // its word, so that it says which word belongs to which option, and errors
  // can point at it. It never reads outside text.
  void Assign() {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<std::pair<const OptionRow*, CLI::Option*>> added;
    const auto add = [&](const OptionRow& row) {
      const std::string name = "--" + std::string(row.name);
      CLI::Option* option =
          row.is_flag() ? app.add_flag(name) : app.add_option(name);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      if (!row.is_flag()) option->expected(0, 1);
      added.emplace_back(&row, option);
    };
    if (command_ != nullptr) std::ranges::for_each(command_->options, add);
    std::ranges::for_each(table_.global_options, add);

    std::vector<std::string> encoded = Encoded();
    std::ranges::reverse(encoded);  // as CLI11 takes them
    app.parse(std::move(encoded));

    for (const std::string& rest : app.remaining()) TakeRest(rest);
    for (const auto& [row, option] : added) {
      if (row->is_flag()) {
        for (const size_t word : occurrences_[row]) {
          options_.push_back({std::string(row->name), "", word, 0});
        }
      } else {
        TakeValues(*row, option->results());
      }
    }
    std::ranges::sort(positions_);
  }

  std::vector<std::string> Encoded() const {
    std::vector<std::string> encoded;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (i == command_word_) continue;
      const std::string& word = words_[i];
      const auto name = LongNameIn(word);
      if (i == values_end_) {
        encoded.push_back("--");
      } else if (i < values_end_ && name) {
        encoded.push_back(EncodedLong(i, *name));
      } else if (i < values_end_ && IsKnownCluster(word)) {
        for (const char c : word.substr(1)) {
          encoded.push_back("--" + std::string(FindShort(c)->name));
        }
      } else if (i < values_end_ && IsShortCluster(word)) {
        encoded.push_back(EncodedUnknown(i));
      } else {
        encoded.push_back(std::to_string(i));
      }
    }
    return encoded;
  }

  // An option that CLI11 does not know comes back as it is.
  static std::string EncodedUnknown(size_t index) {
    return std::string(kUnknown) + std::to_string(index);
  }

  std::string EncodedLong(size_t index, const std::string& name) const {
    const OptionRow* row = FindOption(table_, command_, name);
    if (row == nullptr) return EncodedUnknown(index);
    std::string out = "--" + std::string(row->name);
    const bool has_value = words_[index].find('=') != std::string::npos;
    if (has_value && !row->is_flag()) out += "=" + std::to_string(index);
    return out;
  }

  // A word that CLI11 gave to no option.
  void TakeRest(std::string_view rest) {
    if (rest == "--") return;
    if (rest.starts_with(kUnknown)) {
      rest.remove_prefix(kUnknown.size());
      FailOption(IndexIn(rest));
    } else {
      positions_.push_back(IndexIn(rest));
    }
  }

  size_t IndexIn(std::string_view text) const {
    size_t index = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, index);
    FORETELL_CHECK(error == std::errc() && end == last && index < words_.size(),
                   "CLI11 returned another word");
    return index;
  }

  void FailOption(size_t index) {
    has_unknown_ = true;
    const std::string& word = words_[index];
    const std::string spelled = word.substr(0, word.find('='));
    const std::string name = spelled.substr(
        std::min(spelled.find_first_not_of('-'), spelled.size()));
    std::vector<std::string_view> names;
    for (const auto* list :
         {command_ ? &command_->options : nullptr, &table_.global_options}) {
      if (list == nullptr) continue;
      for (const OptionRow& row : *list) names.push_back(row.name);
    }
    std::vector<std::string> nearest = NearestNames(name, names);
    for (std::string& known : nearest) known.insert(0, "--");
    std::string cure;
    if (!nearest.empty()) {
      cure = fmt::format("did you mean {}? ", fmt::join(nearest, " or "));
    }
    cure += command_
                ? fmt::format("`{} help {}` lists the options", table_.program,
                              command_->name)
                : fmt::format("`{} help` lists the options", table_.program);
    Fail(index, 0, fmt::format("there is no option {}", spelled), cure);
  }

  void TakeValues(const OptionRow& row,
                  const std::vector<std::string>& results) {
    const std::vector<size_t>& words = occurrences_[&row];
    FORETELL_CHECK(results.size() == words.size(),
                   "an option's values were miscounted");
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0 && !row.repeatable) {
        Fail(words[i], 0, fmt::format("--{} is given twice", row.name),
             "keep one of them");
        continue;
      }
      TakeValue(row, words[i], results[i]);
    }
  }

  void TakeValue(const OptionRow& row, size_t option_word,
                 const std::string& result) {
    Given given{std::string(row.name), "", option_word, 0};
    if (result.empty()) {
      if (!row.value_optional) return FailValue(given, MissingValue(row));
      options_.push_back(std::move(given));
      return;
    }
    const size_t index = IndexIn(result);
    given.word = index;
    given.value = words_[index];
    if (index == option_word) {
      given.offset = given.value.find('=') + 1;
      given.value.erase(0, given.offset);
    } else if (row.value_optional && !IsAllowed(row.allowed, given.value)) {
      // "--explain TARGET": the word is the next argument, not the value.
      positions_.push_back(index);
      handed_back_.emplace_back(&row, index);
      options_.push_back({std::string(row.name), "", option_word, 0});
      return;
    }
    if (given.value.empty()) return FailValue(given, MissingValue(row));
    if (const auto mistake = CheckOptionValue(row, given.value)) {
      return FailValue(given, mistake);
    }
    options_.push_back(std::move(given));
  }

  void FailValue(const Given& given, const std::optional<Mistake>& mistake) {
    if (mistake) Fail(given.word, given.offset, mistake->what, mistake->cure);
  }

  void CheckArguments() {
    if (command_ == nullptr) return;
    size_t next = 0;
    for (const ArgumentRow& row : command_->arguments) {
      const size_t first = next;
      while (next < positions_.size() && (row.repeatable || next == first)) {
        const size_t word = positions_[next++];
        Given given{std::string(row.name), words_[word], word, 0};
        FailValue(given, CheckArgumentValue(row, given.value));
        arguments_.push_back(std::move(given));
      }
      if (next == first && !row.optional) {
        Fail(words_.size(), 0, fmt::format("{} is missing", row.name),
             UsageLine(table_, *command_));
      }
    }
    // The value of an unknown option is no further mistake.
    if (next < positions_.size() && !has_unknown_) FailExtra(positions_[next]);
  }

  void FailExtra(size_t word) {
    if (!handed_back_.empty()) {
      // One word too many, and one that was nearly an option's value.
      const auto& [row, index] = handed_back_.front();
      const Given given{std::string(row->name), words_[index], index, 0};
      return FailValue(given, CheckOptionValue(*row, given.value));
    }
    Fail(word, 0, fmt::format("one argument too many: {}", words_[word]),
         UsageLine(table_, *command_));
  }

  // --json is short for --format json.
  void CheckFormat() {
    const auto json = std::ranges::find(options_, "json", &Given::name);
    const auto format = std::ranges::find(options_, "format", &Given::name);
    if (json == options_.end() || format == options_.end() ||
        format->value == "json") {
      return;
    }
    Fail(format->word, format->offset,
         fmt::format("--json and --format {} contradict", format->value),
         "keep one of them");
  }

  const CommandTable& table_;
  const std::vector<std::string> words_;
  const CommandRow* command_ = nullptr;
  size_t command_word_ = 0;
  size_t values_end_ = 0;  // the word "--", or the number of words
  // The words in which each option stands.
  std::map<const OptionRow*, std::vector<size_t>> occurrences_;
  std::vector<size_t> positions_;  // the words that are arguments
  std::vector<std::pair<const OptionRow*, size_t>> handed_back_;
  bool has_unknown_ = false;
  bool forgives_ = false;
  std::vector<Given> arguments_;
  std::vector<Given> options_;
  std::vector<std::string> notes_;
  std::vector<InputError> errors_;
};

}  // namespace

Invocation ParseCommandLine(const CommandTable& table,
                            std::vector<std::string> words) {
  return Parser(table, std::move(words)).Parse();
}

bool AsksForJson(const CommandTable& table,
                 const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto name = LongNameIn(words[i]);
    if (!name) continue;
    const OptionRow* row = FindOption(table, nullptr, *name);
    if (row == nullptr) continue;
    if (row->name == "json") return true;
    if (row->name != "format") continue;
    const size_t equals = words[i].find('=');
    if (equals != std::string::npos) {
      if (words[i].substr(equals + 1) == "json") return true;
    } else if (i + 1 < words.size() && words[i + 1] == "json") {
      return true;
    }
  }
  return false;
}

}  // namespace foretell
