// What was fitted to a card's measured kernel times, one model for each kind
// of kernel.
//
// Made by input/kernel_coefficients from data/kernels/<card>.jsonl.gz, which
// tools/fit/kernels writes; evaluated by analysis/timing/kernel_surface. A
// time is a first guess (a fixed part and shares of what the kernel must do,
// by series) times the exponential of a sum of trees over features. A second
// sum gives the size of the first one's error, of which `low` and `high`
// multiples make the 90 % interval.
#ifndef FORETELL_SPEC_KERNEL_COEFFICIENTS_H_
#define FORETELL_SPEC_KERNEL_COEFFICIENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/kernel_variable.h"

namespace foretell {

// In preorder: a split's left branch follows it, `right` is where the other
// one starts.
struct TreeNode {
  int16_t feature = -1;  // below 0: a leaf
  uint16_t right = 0;    // from the tree's first node
  float value = 0;       // the leaf's, or the largest that goes left
};

struct TreeSum {
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> starts;  // of each tree
};

// Factors of a product; `divided` ones divide.
struct KernelProduct {
  std::vector<KernelVariable> multiplied;
  std::vector<KernelVariable> divided;
};

enum class KernelFeatureKind : uint8_t {
  kSeries,  // the series' place
  kCode,    // the number of the series' word
  kLog,     // base 2
  kLogOfOneMore,
  kPad,  // the part of the last unit that is filled
  kModulo,
  kTiles,  // base 2 of their number a multiprocessor
  kWaves,  // how full the waves of tiles are
};

struct KernelFeature {
  KernelFeatureKind kind = KernelFeatureKind::kSeries;
  size_t word = 0;                      // of kCode: which of the words
  std::vector<KernelProduct> products;  // of each dimension
  std::vector<double> units;            // fewer: the last one is a count
};

// One kernel of one version, told by the model's words.
struct KernelSeries {
  std::vector<size_t> words;  // indices into the model's vocabulary
  double place = 0;
  int64_t points = 0;
  std::vector<double> weights;  // the fixed part's, then the basis'
  std::string basis;            // "measured on b200, vllm 0.24.0"
};

struct KernelWord {
  std::string name;  // "framework"
  std::vector<std::string> texts = {};
};

struct KernelRange {
  KernelVariable variable = KernelVariable::kM;
  double low = 0;
  double high = 0;
};

struct KernelModel {
  std::string kind;  // "gemm"
  std::vector<KernelWord> words;
  std::vector<KernelProduct> basis;
  std::vector<KernelSeries> series;
  std::vector<KernelFeature> features;
  std::vector<KernelRange> ranges;
  TreeSum centre;
  TreeSum spread;
  double low = 0;
  double high = 0;
  // Of shapes that the fit did not see.
  double median_error = 0;
  double p90_error = 0;
  int64_t points = 0;
};

struct KernelCoefficients {
  std::string card;    // "h100-sxm"; "any": over all cards
  std::string system;  // the tables' name of it: "h100_sxm"
  std::string source;
  std::string date;
  double multiprocessors = 0;
  double l2_bytes = 0;
  std::map<std::string, KernelModel> models;  // by kind
};

}  // namespace foretell

#endif  // FORETELL_SPEC_KERNEL_COEFFICIENTS_H_
