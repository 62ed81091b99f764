// A pattern over modules' names, as quantization configurations write them.
//
// Spellings, each with its library's rule:
//   kLibrary  transformers 5.23, quantizers_utils.py (should_convert_module):
//             a regular expression from the start up to a dot or the end, or
//             the text as the name's end
//   kTargets  compressed-tensors 0.20, utils/match.py: "re:" and a regular
//             expression from the start, else the whole name
//   kGlob     ModelOpt: * and ? over the whole name
//   kPrefix   the name itself, or what lies within it
// In: text of anyone's making. Matching takes time in proportion to the two
// lengths: nothing backtracks. Regular expressions know literals, ., [...],
// \d \w \. and their like, *, +, ?, (a|b), ^ and $; a pattern that has more is
// refused.
#ifndef FORETELL_ANALYSIS_QUANTIZATION_NAME_PATTERN_H_
#define FORETELL_ANALYSIS_QUANTIZATION_NAME_PATTERN_H_

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

enum class PatternSyntax : uint8_t { kLibrary, kTargets, kGlob, kPrefix };

class NamePattern {
 public:
  // Nothing where the pattern is too long or has what is not known.
  static std::optional<NamePattern> Parse(std::string_view text,
                                          PatternSyntax syntax);

  bool Matches(std::string_view name) const;
  // Whether it may tell one index from another: it holds a digit.
  bool SeesIndices() const;

 private:
  enum class Repeat : uint8_t { kOnce, kOptional, kAny, kMany };
  struct Atom {
    std::bitset<256> bytes;
    Repeat repeat = Repeat::kOnce;
  };
  struct Branch {
    std::vector<Atom> atoms;
    bool to_end = false;  // "$"
  };

  static bool AddRegex(std::string_view text, std::vector<Branch>& out);
  static bool AddBranch(std::string_view text, std::vector<Branch>& out);
  static void AddGlob(std::string_view text, std::vector<Branch>& out);
  // The ends that a match from the start may have, by position.
  static std::vector<bool> EndsOf(const Branch& branch, std::string_view name);

  PatternSyntax syntax_ = PatternSyntax::kPrefix;
  std::string text_;
  std::vector<Branch> branches_;
};

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_NAME_PATTERN_H_
