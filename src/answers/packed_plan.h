// In which tensors a checkpoint should hold each weight, by the
// quantization_config beside it.
//
// In: a configuration, the model built of it, and a derived tensor with the
// name and shape under which a file has it. Out: names, element types and
// shapes of what takes its place, as the library of the format writes them
// (analysis/quantization/packed_linear.h), or that it stays as it is. Where the
// configuration has no quantization, or one that cannot be read, there is no
// plan, and why.
#ifndef FORETELL_ANSWERS_PACKED_PLAN_H_
#define FORETELL_ANSWERS_PACKED_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/quantization/weight_plan.h"
#include "analysis/stored_names.h"
#include "answers/derived_tensors.h"
#include "answers/read_model.h"
#include "base/dtype.h"
#include "spec/checkpoint.h"
#include "spec/model_config.h"

namespace foretell {

struct ExpectedTensor {
  std::string name;
  std::string other_name;  // of another library's files; empty: none
  std::string dtype;       // as safetensors spells it
  std::vector<int64_t> shape;
  bool is_required = true;  // a loader needs it; else a note of the library's
  bool has_shape = true;    // else it depends on the weights' values
};

struct PackedExpectation {
  // What holds the elements first; empty: the weight stays as it is.
  std::vector<ExpectedTensor> tensors;
  bool is_skipped = false;  // the configuration says so by name
};

class PackedPlan {
 public:
  PackedPlan(const ModelConfig& config, const ReadModel& model);

  bool is_known() const { return plan_.has_value(); }
  // Why there is none; empty where the configuration has no quantization.
  const std::string& missing() const { return missing_; }

  PackedExpectation Of(const DerivedTensor& tensor,
                       const StoredPiece& piece) const;

 private:
  RegionKind PartOf(const std::string& name) const;

  std::optional<WeightPlan> plan_;
  std::string missing_;
  std::map<std::string, RegionKind, std::less<>> parts_;
};

// Whether `stored` is what was expected. Scales are written in any of the
// floating types, one number as a vector or none, and zero points of older
// releases one to a byte.
bool HasExpectedShape(const ExpectedTensor& expected,
                      const StoredTensor& stored);
bool HasExpectedType(const ExpectedTensor& expected,
                     const StoredTensor& stored);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_PACKED_PLAN_H_
