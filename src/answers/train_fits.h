// `foretell train --fits`: which method fits which card.
//
// In: a configuration, how the model is built, a job for its length and
// kernels, and the cards. Out: for each method, the least invasive first, what
// one sequence at a time needs, and for each card the largest micro-batch of
// 1, 2, 4, … that is likely to fit.
#ifndef FORETELL_ANSWERS_TRAIN_FITS_H_
#define FORETELL_ANSWERS_TRAIN_FITS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/refusal.h"
#include "answers/train.h"
#include "base/figure.h"

namespace foretell {

// A method on one card.
struct MethodOnCard {
  int64_t batch = 0;        // 0: not even one sequence is likely to fit
  bool is_certain = false;  // one sequence fits, or does not, whatever the
                            // intervals
};

struct MethodRow {
  std::string method;
  std::string option;
  Bytes needed;  // with one sequence at a time
  std::vector<MethodOnCard> cards;
};

struct FitsAnswer {
  std::string name;
  std::string class_name;
  std::string setting;
  std::vector<std::string> cards;
  std::vector<MethodRow> methods;
  std::vector<std::string> assumptions;
};

// `request.device` is not looked at.
std::variant<FitsAnswer, Refusal> AnswerFits(TrainRequest request,
                                             const std::vector<Device>& cards);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_FITS_H_
