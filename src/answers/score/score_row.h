// What passes between a set of measured records and its scorer.
//
// A scorer is two functions. `predict` sees the row's settings and its model's
// configuration, and nothing else: ScoreSettings holds only what the set's
// allow-list names, so that no prediction can lean on what was measured, on
// notes or on a verdict. `measure` reads what was measured. The frame
// (answers/score/score.h) pairs the two by the quantity's name.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_ROW_H_
#define FORETELL_ANSWERS_SCORE_SCORE_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/figure.h"
#include "spec/config_value.h"
#include "spec/device.h"
#include "spec/model_config.h"
#include "spec/serving_source.h"

namespace foretell {

// The fields of a row that its set's allow-list names, by paths:
// "lora" is a field with all that it holds, "measured.kv_bytes" one within,
// "plans[].bytes" one within each item of a list.
class ScoreSettings {
 public:
  ScoreSettings(const ConfigValue& fields,
                std::span<const std::string_view> allowed);

  // At a path of keys ("sharding.kind"); null where absent or null.
  const ConfigValue* Get(std::string_view path) const;
  // Nothing where absent, null, or of another kind.
  std::optional<std::string> Text(std::string_view path) const;
  std::optional<int64_t> Integer(std::string_view path) const;
  std::optional<double> Real(std::string_view path) const;
  std::optional<bool> Flag(std::string_view path) const;

  // All of them, as an object.
  const ConfigValue& fields() const { return fields_; }

 private:
  ConfigValue fields_;
};

// At a path of keys within an object; null where absent or null.
const ConfigValue* FieldAt(const ConfigValue& object, std::string_view path);

struct ScoreInput {
  ScoreSettings settings;
  // Null where there is none, and then `no_config` says why.
  const ModelConfig* config = nullptr;
  std::string no_config;
  // "same", "same-architecture", …: whether the configuration is the model's
  // own; empty where its id led to it.
  std::string config_how;
  const Device* device = nullptr;  // the row's card; null where not known
  // What the program knows of engines and cards; null in sets that need none.
  const ServingSource* serving = nullptr;
};

// One predicted quantity. A figure that is unknown is a miss, not a row left
// out: its reason is shown.
struct Predicted {
  std::string quantity;  // "weights", "kv_available"
  std::variant<AnyFigure, std::string> value;
  std::string note = {};  // shown where the prediction is far off
};

// The row lacks what a prediction needs; say what, the same text for every
// row that lacks it.
struct LeftOut {
  std::string reason;
};

using Prediction = std::variant<std::vector<Predicted>, LeftOut>;

enum class Comparison : uint8_t {
  kRelative,  // |predicted / measured - 1|, 0 inside [low, high]
  kInside,    // equal where the prediction lies in [low, high]
  kText,      // equal where the texts are
  kCovered,   // equal where it lies in the prediction's own interval
};

struct Measured {
  std::string quantity;
  Comparison comparison = Comparison::kRelative;
  double value = 0;
  // Where a source's unit or rounding leaves several readings; equal to
  // `value` otherwise.
  double low = 0;
  double high = 0;
  std::string text = {};
  std::vector<std::string> groups = {};  // beside "all"
};

Measured MeasuredNumber(std::string quantity, double value,
                        std::vector<std::string> groups = {});
Measured MeasuredInside(std::string quantity, double low, double high,
                        std::vector<std::string> groups = {});
Measured MeasuredText(std::string quantity, std::string text,
                      std::vector<std::string> groups = {});

// One comparison that was made.
struct Score {
  int64_t line = 0;
  std::string id;
  std::string model;
  std::string family;  // the row's `group`: rows of one sweep
  std::string quantity;
  std::vector<std::string> groups;  // "all" among them
  Comparison comparison = Comparison::kRelative;
  double error = 0;             // relative; 1 where nothing was predicted
  std::optional<double> ratio;  // predicted over measured
  bool equal = false;
  std::optional<bool> covered;  // inside the stated 90 % interval
  double measured_value = 0;    // of a number
  std::string predicted;        // as texts
  std::string measured;
  std::string note;
};

// The one comparison of a quantity; `note` and what names the row are left to
// the caller.
Score Compare(const Predicted& predicted, const Measured& measured);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_ROW_H_
