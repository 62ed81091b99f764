#include "answers/explain_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/checked.h"

namespace foretell {
namespace {

// One line: a product of sizes under a name.
struct Line {
  std::string name;
  std::string sizes;                // "4,096 x 4,096"
  std::optional<int64_t> elements;  // of `count` tensors together
};

// Tensors that belong together: a stack of equal blocks, or one alone.
struct Term {
  std::string stack;    // "model.layers.#"; empty for a tensor alone
  std::string indices;  // "0-35"
  int64_t blocks = 1;
  std::vector<Line> lines;
};

std::string Sizes(const Shape& shape) {
  std::string out;
  for (const int64_t extent : shape.dims()) {
    if (!out.empty()) out += " x ";
    out += WithSeparators(extent);
  }
  return out.empty() ? "1" : out;
}

std::string Number(std::optional<int64_t> value) {
  return value ? WithSeparators(*value) : "more than 2^63";
}

// "model.layers.#.mlp.up_proj.weight" -> "model.layers.#"
std::string StackOf(const std::string& name) {
  const size_t at = name.find(".#");
  return at == std::string::npos ? "" : name.substr(0, at + 2);
}

// How many blocks an index list names: "0-35" or "0,4-7" -> 36, 5.
int64_t CountIndices(const std::string& indices) {
  int64_t count = 0;
  size_t start = 0;
  while (start < indices.size()) {
    size_t end = indices.find(',', start);
    if (end == std::string::npos) end = indices.size();
    const std::string run = indices.substr(start, end - start);
    const size_t dash = run.find('-');
    count += dash == std::string::npos
                 ? 1
                 : std::stoll(run.substr(dash + 1)) -
                       std::stoll(run.substr(0, dash)) + 1;
    start = end + 1;
  }
  return count;
}

std::vector<Term> TermsOf(const ParameterAnalysis& analysis) {
  std::vector<Term> terms;
  for (const TensorGroup& group : analysis.tensors) {
    const std::string stack = StackOf(group.name);
    const std::string outer = group.indices.substr(0, group.indices.find(" x"));
    const bool product = !group.indices.starts_with("[");
    Line line;
    line.sizes = Sizes(group.shape);
    if (stack.empty() || !product) {
      line.name = group.name;
      if (group.count > 1) {
        line.sizes = fmt::format("{} x {}", group.count, line.sizes);
      }
      line.elements = group.Elements();
      terms.push_back({"", "", 1, {line}});
      continue;
    }
    const int64_t blocks = CountIndices(outer);
    const int64_t each = blocks > 0 ? group.count / blocks : group.count;
    line.name = group.name.substr(stack.size() + 1);
    if (each > 1) line.sizes = fmt::format("{} x {}", each, line.sizes);
    const auto elements = group.shape.Elements();
    line.elements = elements ? CheckedMul(*elements, each) : std::nullopt;
    const auto same = [&](const Term& term) {
      return term.stack == stack && term.indices == outer;
    };
    const auto at = std::ranges::find_if(terms, same);
    if (at != terms.end()) {
      at->lines.push_back(line);
    } else {
      terms.push_back({stack, outer, blocks, {line}});
    }
  }
  return terms;
}

std::optional<int64_t> SumOf(const Term& term) {
  std::optional<int64_t> sum = 0;
  for (const Line& line : term.lines) {
    sum =
        sum && line.elements ? CheckedAdd(*sum, *line.elements) : std::nullopt;
  }
  return sum;
}

}  // namespace

std::string ExplainParameters(const ParameterAnalysis& analysis) {
  const std::vector<Term> terms = TermsOf(analysis);
  size_t width = 0;
  size_t names = 0;
  for (const Term& term : terms) {
    width = std::max(width, Number(SumOf(term)).size());
    for (const Line& line : term.lines) {
      width = std::max(width, Number(line.elements).size());
      names = std::max(names, line.name.size());
    }
  }
  std::string out = analysis.total.ToString() + " =\n";
  bool first = true;
  for (const Term& term : terms) {
    const char* sign = first ? " " : "+";
    first = false;
    if (term.stack.empty()) {
      const Line& line = term.lines.front();
      out += fmt::format("{} {:>{}}  {:<{}}  {}\n", sign, Number(line.elements),
                         width, line.name, names + 2, line.sizes);
      continue;
    }
    out += fmt::format("{} {} x {}  {}, # = {}, each\n", sign, term.blocks,
                       Number(SumOf(term)), term.stack, term.indices);
    for (const Line& line : term.lines) {
      out += fmt::format("  {:>{}}    {:<{}}  {}\n", Number(line.elements),
                         width, line.name, names, line.sizes);
    }
  }
  for (const TiedName& tie : analysis.ties) {
    out += fmt::format("  {:>{}}  {} is {}\n", 0, width, tie.name, tie.target);
  }
  return out;
}

}  // namespace foretell
