#include "analysis/quantization/name_pattern.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace foretell {
namespace {

// Longer than any known pattern, and as many alternatives as one may unfold to.
constexpr size_t kMostText = 4096;
constexpr size_t kMostBranches = 256;

std::bitset<256> Only(char c) {
  std::bitset<256> out;
  out.set(static_cast<unsigned char>(c));
  return out;
}

std::bitset<256> ClassOf(char c) {
  std::bitset<256> out;
  for (int i = 0; i < 256; ++i) {
    const bool digit = i >= '0' && i <= '9';
    const bool word =
        digit || (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z') || i == '_';
    if (c == 'd' && digit) out.set(static_cast<size_t>(i));
    if (c == 'w' && word) out.set(static_cast<size_t>(i));
  }
  return out;
}

// "[a-z_]" at `at`, which moves past it; nothing where it is not closed.
std::optional<std::bitset<256>> BracketAt(std::string_view text, size_t* at) {
  size_t i = *at + 1;
  const bool inverts = i < text.size() && text[i] == '^';
  if (inverts) ++i;
  std::bitset<256> out;
  for (; i < text.size() && text[i] != ']'; ++i) {
    char first = text[i];
    if (first == '\\' && i + 1 < text.size()) {
      first = text[++i];
      if (first == 'd' || first == 'w') {
        out |= ClassOf(first);
        continue;
      }
    }
    char last = first;
    if (i + 2 < text.size() && text[i + 1] == '-' && text[i + 2] != ']') {
      last = text[i + 2];
      i += 2;
    }
    for (int c = static_cast<unsigned char>(first);
         c <= static_cast<unsigned char>(last); ++c) {
      out.set(static_cast<size_t>(c));
    }
  }
  if (i >= text.size()) return std::nullopt;
  *at = i;
  return inverts ? ~out : out;
}

// The group that opens at `open` closes there; npos where it does not.
size_t CloseOf(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Splits at "|" outside of groups and brackets.
std::vector<std::string> Alternatives(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out.back() += text[i++];
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    } else if (text[i] == '|' && depth == 0) {
      out.emplace_back();
      continue;
    }
    out.back() += text[i];
  }
  return out;
}

}  // namespace

// Unfolds alternatives, those within groups too, into branches without any.
bool NamePattern::AddRegex(std::string_view text, std::vector<Branch>& out) {
  std::vector<std::string> open = Alternatives(text);
  while (!open.empty()) {
    if (open.size() + out.size() > kMostBranches) return false;
    const std::string one = std::move(open.back());
    open.pop_back();
    size_t group = 0;
    while (group < one.size() && one[group] != '(') {
      group += one[group] == '\\' ? 2 : 1;
    }
    if (group >= one.size()) {
      if (!AddBranch(one, out)) return false;
      continue;
    }
    const size_t close = CloseOf(one, group);
    if (close == std::string::npos) return false;
    std::string_view inside =
        std::string_view(one).substr(group + 1, close - group - 1);
    if (inside.starts_with("?:")) {
      inside.remove_prefix(2);
    } else if (inside.starts_with('?')) {
      return false;
    }
    std::string_view after = std::string_view(one).substr(close + 1);
    const bool is_optional = after.starts_with('?');
    if (is_optional) after.remove_prefix(1);
    if (after.starts_with('*') || after.starts_with('+') ||
        after.starts_with('{')) {
      return false;
    }
    for (const std::string& choice : Alternatives(inside)) {
      open.push_back(one.substr(0, group) + choice + std::string(after));
    }
    if (is_optional) open.push_back(one.substr(0, group) + std::string(after));
  }
  return true;
}

bool NamePattern::AddBranch(std::string_view text, std::vector<Branch>& out) {
  Branch branch;
  if (text.starts_with('^')) text.remove_prefix(1);
  if (text.ends_with('$') && !text.ends_with("\\$")) {
    text.remove_suffix(1);
    branch.to_end = true;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    Atom atom;
    if (c == '\\') {
      if (++i == text.size()) return false;
      const char escaped = text[i];
      if (escaped == 'd' || escaped == 'w') {
        atom.bytes = ClassOf(escaped);
      } else if (std::isalnum(static_cast<unsigned char>(escaped)) != 0) {
        return false;
      } else {
        atom.bytes = Only(escaped);
      }
    } else if (c == '[') {
      const auto bracket = BracketAt(text, &i);
      if (!bracket) return false;
      atom.bytes = *bracket;
    } else if (c == '.') {
      atom.bytes.set();
    } else if (c == '*' || c == '+' || c == '?' || c == '{' || c == '$' ||
               c == '^' || c == ')') {
      return false;
    } else {
      atom.bytes = Only(c);
    }
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next == '*' || next == '+' || next == '?') {
      atom.repeat = next == '*'   ? Repeat::kAny
                    : next == '+' ? Repeat::kMany
                                  : Repeat::kOptional;
      ++i;
      if (i + 1 < text.size() && text[i + 1] == '?') ++i;  // not greedy
    } else if (next == '{') {
      return false;
    }
    branch.atoms.push_back(atom);
  }
  out.push_back(std::move(branch));
  return true;
}

void NamePattern::AddGlob(std::string_view text, std::vector<Branch>& out) {
  Branch branch;
  branch.to_end = true;
  for (const char c : text) {
    Atom atom;
    atom.bytes = Only(c);
    if (c == '*' || c == '?') atom.bytes.set();
    if (c == '*') atom.repeat = Repeat::kAny;
    branch.atoms.push_back(atom);
  }
  out.push_back(std::move(branch));
}

std::optional<NamePattern> NamePattern::Parse(std::string_view text,
                                              PatternSyntax syntax) {
  if (text.empty() || text.size() > kMostText) return std::nullopt;
  NamePattern out;
  out.syntax_ = syntax;
  out.text_ = text;
  switch (syntax) {
    case PatternSyntax::kPrefix:
      return out;
    case PatternSyntax::kGlob:
      AddGlob(text, out.branches_);
      return out;
    case PatternSyntax::kTargets:
      if (!text.starts_with("re:")) return out;
      text.remove_prefix(3);
      break;
    case PatternSyntax::kLibrary:
      break;
  }
  if (!AddRegex(text, out.branches_)) return std::nullopt;
  return out;
}

std::vector<bool> NamePattern::EndsOf(const Branch& branch,
                                      std::string_view name) {
  std::vector<bool> at(name.size() + 1, false);
  at[0] = true;
  // All ends lie in [first, last]: of most patterns there is one, or soon none,
  // and a configuration may hold thousands.
  size_t first = 0;
  size_t last = 0;
  for (const Atom& atom : branch.atoms) {
    const bool may_skip =
        atom.repeat == Repeat::kAny || atom.repeat == Repeat::kOptional;
    const bool repeats =
        atom.repeat == Repeat::kAny || atom.repeat == Repeat::kMany;
    const size_t end = repeats ? name.size() : std::min(last + 1, name.size());
    std::vector<bool> next(end - first + 1, false);
    for (size_t i = first; i <= end; ++i) {
      bool ends = may_skip && at[i];
      if (i > first) {
        const bool takes = atom.bytes[static_cast<unsigned char>(name[i - 1])];
        ends =
            ends || (takes && (at[i - 1] || (repeats && next[i - 1 - first])));
      }
      next[i - first] = ends;
    }
    std::copy(next.begin(), next.end(),
              at.begin() + static_cast<std::ptrdiff_t>(first));
    const auto alive = std::ranges::find(next, true);
    if (alive == next.end()) return at;
    const auto skipped = static_cast<size_t>(alive - next.begin());
    last = first + next.size() - 1;
    while (!at[last]) --last;
    first += skipped;
  }
  return at;
}

bool NamePattern::Matches(std::string_view name) const {
  if (syntax_ == PatternSyntax::kPrefix) {
    return name == text_ ||
           (name.starts_with(text_) && name[text_.size()] == '.');
  }
  if (branches_.empty()) return name == text_;
  if (syntax_ == PatternSyntax::kLibrary && name.ends_with(text_)) return true;
  return std::ranges::any_of(branches_, [&](const Branch& branch) {
    const std::vector<bool> ends = EndsOf(branch, name);
    if (branch.to_end || syntax_ == PatternSyntax::kGlob)
      return ends.back() == true;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (!ends[i]) continue;
      // Just after a dot, or before one, or at the end.
      const bool bounds =
          i == name.size() || name[i] == '.' || (i > 0 && name[i - 1] == '.');
      if (syntax_ != PatternSyntax::kLibrary || bounds) return true;
    }
    return false;
  });
}

bool NamePattern::SeesIndices() const {
  return std::ranges::any_of(text_,
                             [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace foretell
