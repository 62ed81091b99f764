// A sum of trees as data/kernels holds it, and how its text is read.
//
// tools/fit/kernels/pack.py writes it: {"trees": N, "leaves": N, "thresholds":
// [how many a feature has, …], "packed": base64 of a zlib stream}. The stream
// holds, one after the other: the trees' shapes in preorder, a bit a node (1:
// a split); a byte a split for its feature; one for its threshold; a signed
// byte a leaf; the thresholds' upper three bytes; the trees' scales.
#ifndef FORETELL_INPUT_KERNEL_TREES_H_
#define FORETELL_INPUT_KERNEL_TREES_H_

#include <cstddef>
#include <string>

#include "input/row_fields.h"
#include "spec/kernel_coefficients.h"

namespace foretell {

// Problems go to the row's errors; then the trees are empty. `features` is
// how many the model has.
TreeSum ReadTrees(const RowFields& row, const std::string& key,
                  size_t features);

// Base64 (RFC 4648) with its padding; empty where the text is none.
std::string FromBase64(const std::string& text);

}  // namespace foretell

#endif  // FORETELL_INPUT_KERNEL_TREES_H_
