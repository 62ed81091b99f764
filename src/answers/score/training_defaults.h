// What a training tool does where a record of a run does not say it.
//
// In: words of a record. Out: the setting that the named tool's release of
// that time has by default; nothing where no such rule is known.
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_

#include <string>
#include <string_view>

namespace foretell {

// The newest transformers six weeks before a day ("2024-07-24", "2024-07"):
// "4.41", since a run is older than the text that reports it. Empty where the
// text does not begin with a year and a month.
// Source: the release dates of the package index. The six weeks are an
// assumption: records that name both lag by 28 days (4.48.1 on 2025-02-07) and
// by more where a tool holds a version back.
std::string TransformersAt(std::string_view date);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_DEFAULTS_H_
