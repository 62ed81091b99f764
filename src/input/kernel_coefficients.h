// What data/kernels holds of a card, and how its text is read.
//
// In: a card's id ("h100-sxm"), "any" for what was fitted over all cards, or
// a file's text. The first line names the card, the source and its date; each
// other line is one kind's model, made by tools/fit/kernels/surface.py.
//
// Throws InputErrors where a text is malformed (the embedded ones are not: a
// test reads each).
#ifndef FORETELL_INPUT_KERNEL_COEFFICIENTS_H_
#define FORETELL_INPUT_KERNEL_COEFFICIENTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/kernel_coefficients.h"

namespace foretell {

// Null where none is held. Read once; threads may call it.
std::shared_ptr<const KernelCoefficients> CoefficientsOf(std::string_view card);

// Ids of the cards that were measured, sorted.
std::vector<std::string> MeasuredCards();

// Their names in the tables ("h100_sxm"), and the card of such a name; empty
// where none has it.
std::vector<std::string> MeasuredSystems();
std::string CardOfSystem(std::string_view system);

KernelCoefficients ParseKernelCoefficients(std::string_view text,
                                           const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_KERNEL_COEFFICIENTS_H_
