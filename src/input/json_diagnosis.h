// What a text that is no JSON looks like instead, and what to do about it.
#ifndef FORETELL_INPUT_JSON_DIAGNOSIS_H_
#define FORETELL_INPUT_JSON_DIAGNOSIS_H_

#include <string>

namespace foretell {

struct JsonDiagnosis {
  std::string what;  // empty where nothing is recognised
  std::string cure;
};

// `offset` is where the parser gave up.
JsonDiagnosis DiagnoseJson(const std::string& text, size_t offset);

}  // namespace foretell

#endif  // FORETELL_INPUT_JSON_DIAGNOSIS_H_
