#include "input/launch_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/input_error.h"
#include "spec/model_config.h"

namespace foretell {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;
constexpr size_t kMostWords = 4096;

[[noreturn]] void Fail(Place place, std::string what, std::string cure) {
  throw InputErrors(
      InputError{std::move(place), std::move(what), std::move(cure)});
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Splitter {
 public:
  Splitter(const std::string& text, const std::string& source)
      : text_(&text), source_(&source) {}

  std::vector<LaunchWord> Run() && {
    while (at_ < text_->size()) {
      const char c = (*text_)[at_];
      if (IsBlank(c)) {
        ++at_;
      } else if (c == '\\' && NextIs('\n')) {
        at_ += 2;
      } else if (c == '\n') {
        if (!words_.empty() && HasMore()) {
          Fail(PlaceAt(*text_, static_cast<int64_t>(at_), *source_, ""),
               "a second command follows",
               "end every line but the last with a backslash, or give one "
               "command");
        }
        ++at_;
      } else if (c == '#') {
        while (at_ < text_->size() && (*text_)[at_] != '\n') ++at_;
      } else if (std::string_view("|;&<>()").find(c) !=
                 std::string_view::npos) {
        Fail(PlaceAt(*text_, static_cast<int64_t>(at_), *source_, ""),
             fmt::format("'{}' starts another command", c),
             "give the launch alone, without pipes and redirections");
      } else {
        Word();
      }
    }
    return std::move(words_);
  }

 private:
  bool NextIs(char c) const {
    return at_ + 1 < text_->size() && (*text_)[at_ + 1] == c;
  }

  bool HasMore() const {
    return text_->find_first_not_of(" \t\r\n", at_) != std::string::npos;
  }

  void Word() {
    LaunchWord word;
    word.place = PlaceAt(*text_, static_cast<int64_t>(at_), *source_, "");
    while (at_ < text_->size()) {
      const char c = (*text_)[at_];
      if (IsBlank(c) || c == '\n' ||
          std::string_view("|;&<>()").find(c) != std::string_view::npos) {
        break;
      }
      if (c == '\\') {
        if (NextIs('\n')) {
          at_ += 2;
          continue;
        }
        if (at_ + 1 >= text_->size()) {
          Fail(PlaceAt(*text_, static_cast<int64_t>(at_), *source_, ""),
               "the text ends in a backslash", "remove it");
        }
        word.text += (*text_)[at_ + 1];
        at_ += 2;
      } else if (c == '\'' || c == '"') {
        Quoted(c, word.text);
      } else if (c == '$' || c == '`') {
        Variable();
      } else {
        word.text += c;
        ++at_;
      }
    }
    words_.push_back(std::move(word));
    if (words_.size() > kMostWords) {
      Fail(words_.back().place, "more than 4096 words", "give one launch");
    }
  }

  [[noreturn]] void Variable() const {
    Fail(PlaceAt(*text_, static_cast<int64_t>(at_), *source_, ""),
         "the shell would put a variable's value here",
         "write the value itself, or quote it in single quotes");
  }

  void Quoted(char quote, std::string& out) {
    const size_t open = at_++;
    while (at_ < text_->size() && (*text_)[at_] != quote) {
      char c = (*text_)[at_];
      if (quote == '"' && c == '\\' && at_ + 1 < text_->size() &&
          std::string_view("\"\\$`\n").find((*text_)[at_ + 1]) !=
              std::string_view::npos) {
        c = (*text_)[++at_];
        if (c != '\n') out += c;
        ++at_;
        continue;
      }
      if (quote == '"' && (c == '$' || c == '`')) Variable();
      out += c;
      ++at_;
    }
    if (at_ >= text_->size()) {
      Fail(PlaceAt(*text_, static_cast<int64_t>(open), *source_, ""),
           "this quote is never closed",
           fmt::format("add {} where the value ends", quote));
    }
    ++at_;
  }

  const std::string* text_;
  const std::string* source_;
  size_t at_ = 0;
  std::vector<LaunchWord> words_;
};

bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return word.substr(0, equals).find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
             "_") == std::string_view::npos;
}

// docker's own options that take a value, of docker run's reference.
constexpr std::array<std::string_view, 34> kDockerValues = {
    "-e",           "--env",      "-v",         "--volume",   "-p",
    "--publish",    "--name",     "--gpus",     "--shm-size", "--ipc",
    "--runtime",    "--network",  "--net",      "-w",         "--workdir",
    "--entrypoint", "--mount",    "-u",         "--user",     "--ulimit",
    "--restart",    "--env-file", "--device",   "--cap-add",  "--security-opt",
    "-h",           "--hostname", "--add-host", "--cpus",     "-m",
    "--memory",     "--platform", "--pull",     "-l"};

struct Image {
  std::string_view name;
  ServingEngine engine;
};

constexpr std::array<Image, 5> kImages = {{
    {"vllm/vllm-openai", ServingEngine::kVllm},
    {"vllm-openai", ServingEngine::kVllm},
    {"lmsysorg/sglang", ServingEngine::kSglang},
    {"ggml-org/llama.cpp", ServingEngine::kLlamaCpp},
    {"ggerganov/llama.cpp", ServingEngine::kLlamaCpp},
}};

class Reader {
 public:
  explicit Reader(const std::vector<LaunchWord>& words) : words_(&words) {}

  LaunchLine Run() && {
    Leading();
    if (Done()) NoEngine();
    const std::string first = Base(Word());
    if (first == "docker" || first == "podman" || first == "nerdctl") {
      Docker();
    } else {
      Program();
    }
    return std::move(line_);
  }

 private:
  bool Done() const { return at_ >= words_->size(); }
  const std::string& Word() const { return (*words_)[at_].text; }
  const Place& Where() const { return (*words_)[at_].place; }

  static std::string Base(const std::string& path) {
    return path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  }

  [[noreturn]] void NoEngine() const {
    Place place;
    place.source = "launch";
    if (!words_->empty()) place = words_->front().place;
    Fail(place, "no serving engine is started here",
         "write `vllm serve MODEL …`, `python -m "
         "vllm.entrypoints.openai.api_server …` or `docker run … "
         "vllm/vllm-openai …`");
  }

  void Variable(const LaunchWord& word) {
    const size_t equals = word.text.find('=');
    LaunchWord value = word;
    value.text = word.text.substr(equals + 1);
    const std::string name = word.text.substr(0, equals);
    if (name == "CUDA_VISIBLE_DEVICES") Cards(value.text);
    line_.environment.emplace_back(name, std::move(value));
  }

  void Cards(std::string_view list) {
    if (list.empty()) return;
    line_.cards = 1 + std::ranges::count(list, ',');
  }

  // Variables and words before the program.
  void Leading() {
    constexpr std::array<std::string_view, 7> kBefore = {
        "$", "sudo", "env", "nohup", "exec", "time", "export"};
    while (!Done()) {
      if (IsAssignment(Word())) {
        Variable((*words_)[at_++]);
      } else if (std::ranges::find(kBefore, Word()) != kBefore.end()) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void Rest() {
    for (; !Done(); ++at_) line_.words.push_back((*words_)[at_]);
  }

  void Program() {
    const std::string first = Base(Word());
    if (first == "vllm") {
      if (at_ + 1 >= words_->size() || (*words_)[at_ + 1].text != "serve") {
        Fail(Where(), "`vllm` starts a server with `vllm serve`",
             "write `vllm serve MODEL …`");
      }
      at_ += 2;
      line_.form = "vllm serve";
      return Rest();
    }
    if (first.starts_with("python") && at_ + 2 < words_->size() &&
        (*words_)[at_ + 1].text == "-m") {
      const std::string& module = (*words_)[at_ + 2].text;
      if (module.starts_with("vllm.entrypoints")) {
        at_ += 3;
        line_.form = "python -m " + module;
        return Rest();
      }
      if (module.starts_with("sglang")) Later("SGLang");
    }
    if (first == "llama-server" || first == "server") Later("llama.cpp");
    if (first.starts_with('-') || first.find('/') != first.npos ||
        Word().find('/') != std::string::npos) {
      // Only the engine's own arguments: what follows `vllm serve`.
      line_.form = "vllm serve";
      return Rest();
    }
    NoEngine();
  }

  [[noreturn]] void Later(const char* engine) const {
    Fail(Where(), fmt::format("{} is not judged yet", engine),
         "give a launch of vLLM");
  }

  void Docker() {
    ++at_;
    if (!Done() && Word() == "container") ++at_;
    if (Done() || (Word() != "run" && Word() != "create")) {
      Fail(Done() ? words_->back().place : Where(),
           "docker starts an engine with `docker run`",
           "write `docker run … vllm/vllm-openai …`");
    }
    ++at_;
    line_.form = "docker run";
    while (!Done() && Word().starts_with('-')) Option();
    if (Done()) {
      Fail(words_->back().place, "docker run names no image",
           "add vllm/vllm-openai and the engine's arguments");
    }
    Container();
  }

  void Option() {
    const LaunchWord word = (*words_)[at_++];
    std::string name = word.text;
    LaunchWord value = word;
    bool has = false;
    if (const size_t equals = name.find('=');
        name.starts_with("--") && equals != name.npos) {
      value.text = name.substr(equals + 1);
      name.resize(equals);
      has = true;
    } else if (std::ranges::find(kDockerValues, name) != kDockerValues.end()) {
      if (Done()) {
        Fail(word.place, fmt::format("{} has no value", name),
             fmt::format("{} VALUE", name));
      }
      value = (*words_)[at_++];
      has = true;
    }
    if (!has) return;
    if ((name == "-e" || name == "--env") && IsAssignment(value.text)) {
      Variable(value);
    } else if (name == "--gpus") {
      Gpus(value.text);
    }
  }

  // "all", "2", "device=0,1", "\"device=0,1\"".
  void Gpus(std::string text) {
    std::erase(text, '"');
    if (text.starts_with("device=")) return Cards(text.substr(7));
    int64_t count = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size() && count > 0) {
      line_.cards = count;
    }
  }

  void Container() {
    std::string image = Word();
    const Place place = Where();
    ++at_;
    std::string tag;
    if (const size_t colon = image.rfind(':');
        colon != image.npos && image.find('/', colon) == image.npos) {
      tag = image.substr(colon + 1);
      image.resize(colon);
    }
    const auto found = std::ranges::find_if(
        kImages, [&](const Image& one) { return image.ends_with(one.name); });
    if (found == kImages.end()) {
      // An image of one's own may start with the program.
      if (!Done() && Base(Word()) == "vllm") return Program();
      Fail(place, fmt::format("the image {} is not known", image),
           "use vllm/vllm-openai, or give the command that runs inside");
    }
    line_.engine = found->engine;
    if (found->engine != ServingEngine::kVllm) {
      Fail(place, fmt::format("{} is not judged yet", NameOf(found->engine)),
           "give a launch of vLLM");
    }
    if (ParseEngineVersion(tag)) line_.version = tag;
    if (!Done() && Base(Word()) == "vllm") return Program();
    Rest();
  }

  const std::vector<LaunchWord>* words_;
  size_t at_ = 0;
  LaunchLine line_;
};

}  // namespace

std::vector<LaunchWord> SplitShellWords(const std::string& text,
                                        const std::string& source) {
  if (text.size() > kMostBytes) {
    Place place;
    place.source = source;
    Fail(std::move(place), "more than 64 KiB of text", "give one launch");
  }
  return Splitter(text, source).Run();
}

LaunchLine ReadLaunchLine(const std::vector<LaunchWord>& words) {
  return Reader(words).Run();
}

LaunchLine ReadLaunchText(const std::string& text, const std::string& source) {
  return ReadLaunchLine(SplitShellWords(text, source));
}

}  // namespace foretell
