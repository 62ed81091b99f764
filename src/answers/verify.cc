#include "answers/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <variant>

#include "answers/claims.h"
#include "answers/compare_trace.h"
#include "answers/compile_step.h"
#include "answers/rank_figures.h"
#include "answers/read_model.h"
#include "answers/step_figures.h"

namespace foretell {
namespace {

BuildOptions OptionsOf(const Recording& recording) {
  BuildOptions options;
  options.library_only = true;
  if (!recording.asked_class.empty()) {
    options.class_name = recording.asked_class;
  }
  if (recording.recorded_step) options.dtype = recording.step.dtype;
  if (recording.recorded_rank) {
    options.dtype = StepOfRank(recording).dtype;
  }
  return options;
}

ModelConfig ConfigOf(const TruthCase& truth, const BuildOptions& options) {
  return WithOverrides(*truth.config, truth.recording.overrides, options);
}

std::variant<ReadModel, Refusal> ReadCase(const TruthCase& truth) {
  const BuildOptions options = OptionsOf(truth.recording);
  return ReadModelOf(ConfigOf(truth, options), options);
}

std::string Describe(const TensorGroup& group) {
  return fmt::format("{} {} x {}{}", group.name, group.shape.ToString(),
                     group.count,
                     group.indices.empty() ? "" : " (" + group.indices + ")");
}

std::string Describe(const RecordedTensor& tensor) {
  return fmt::format("{} {} x {}{}", tensor.name, tensor.shape.ToString(),
                     tensor.count,
                     tensor.indices.empty() ? "" : " (" + tensor.indices + ")");
}

// Both as texts; the first that only one side has, or nothing.
std::optional<std::string> FirstDifference(
    const std::set<std::string>& ours, const std::set<std::string>& theirs) {
  for (const std::string& text : theirs) {
    if (!ours.contains(text)) return "recorded, not derived: " + text;
  }
  for (const std::string& text : ours) {
    if (!theirs.contains(text)) return "derived, not recorded: " + text;
  }
  return std::nullopt;
}

std::optional<std::string> CompareTensors(
    const std::vector<TensorGroup>& derived,
    const std::vector<RecordedTensor>& recorded) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const TensorGroup& group : derived) ours.insert(Describe(group));
  for (const RecordedTensor& tensor : recorded) {
    theirs.insert(Describe(tensor));
  }
  return FirstDifference(ours, theirs);
}

// A recorded buffer has a dtype and a count, but no indices.
std::optional<std::string> CompareBuffers(
    const std::vector<TensorGroup>& derived,
    const std::vector<RecordedTensor>& recorded) {
  const auto text = [](const std::string& name, const Shape& shape,
                       std::string_view dtype, int64_t count) {
    return fmt::format("{} {} {} x {}", name, dtype, shape.ToString(), count);
  };
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const TensorGroup& group : derived) {
    ours.insert(
        text(group.name, group.shape, ShortNameOf(group.dtype), group.count));
  }
  for (const RecordedTensor& tensor : recorded) {
    theirs.insert(text(tensor.name, tensor.shape, tensor.dtype, tensor.count));
  }
  return FirstDifference(ours, theirs);
}

std::optional<std::string> CompareTies(
    const std::vector<TiedName>& derived,
    const std::vector<RecordedTie>& recorded) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const TiedName& tie : derived) {
    ours.insert(tie.name + " is " + tie.target);
  }
  for (const RecordedTie& tie : recorded) {
    theirs.insert(tie.name + " is " + tie.target);
  }
  return FirstDifference(ours, theirs);
}

std::optional<std::string> CompareTotal(const Parameters& derived,
                                        int64_t recorded) {
  if (derived.is_exact() && derived.exact() == recorded) return std::nullopt;
  return fmt::format("derived {}, recorded {}", derived.ToString(),
                     WithSeparators(recorded));
}

double ErrorOf(double derived, int64_t recorded) {
  if (recorded == 0) return derived == 0 ? 0 : 1;
  return std::abs(derived / static_cast<double>(recorded) - 1);
}

std::optional<std::string> CompareNumber(int64_t derived, int64_t recorded) {
  if (derived == recorded) return std::nullopt;
  return fmt::format("derived {}, recorded {}", WithSeparators(derived),
                     WithSeparators(recorded));
}

// Lists in order: the first place where they differ.
std::optional<std::string> FirstDifferent(
    const std::vector<std::string>& ours,
    const std::vector<std::string>& theirs) {
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string left = i < ours.size() ? ours[i] : "nothing";
    const std::string right = i < theirs.size() ? theirs[i] : "nothing";
    if (left == right) continue;
    return fmt::format("{}: derived {}, recorded {}", i + 1, left, right);
  }
  return std::nullopt;
}

std::optional<std::string> CompareFlops(
    const std::map<std::string, int64_t>& derived,
    const std::map<std::string, int64_t>& recorded) {
  const auto lines = [](const std::map<std::string, int64_t>& counts) {
    std::set<std::string> out;
    for (const auto& [name, flops] : counts) {
      if (flops > 0) out.insert(fmt::format("{} {}", name, flops));
    }
    return out;
  };
  return FirstDifference(lines(derived), lines(recorded));
}

class Verifier {
 public:
  explicit Verifier(VerifyAnswer& answer) : answer_(&answer) {}

  void Compare(const TruthCase& truth) {
    const Recording& recording = truth.recording;
    ++answer_->rows;
    if (!recording.error.empty()) {
      CompareError(truth);
      return;
    }
    const Family* family = FamilyOfClass(recording.class_name);
    if (family == nullptr ||
        ((recording.recorded_step || recording.recorded_rank) &&
         !family->has_operations)) {
      ++answer_->unsupported;
      ++answer_->unsupported_classes[recording.class_name];
      return;
    }
    if (!truth.config) {
      ++answer_->left_out[truth.no_config.empty() ? "no configuration"
                                                  : truth.no_config];
      return;
    }
    if (recording.step.lora && !recording.recorded_step &&
        !recording.recorded_rank) {
      ++answer_->left_out["adapters beside the model's own parameters"];
      return;
    }
    ++answer_->compared;
    if (recording.recorded_step) {
      CompareStep(truth);
      return;
    }
    if (recording.recorded_rank) {
      CompareRank(truth);
      return;
    }
    auto read = ReadCase(truth);
    ClassTally& tally = answer_->by_class[recording.class_name];
    ++tally.n;
    if (const auto* refusal = std::get_if<Refusal>(&read)) {
      // A supported class that is refused is a miss in every field.
      ++answer_->refused;
      for (const std::string& field : FieldsOf(recording)) {
        Note(truth, field, "refused: " + refusal->errors.front().what, 1);
      }
      return;
    }
    CompareModel(truth, std::get<ReadModel>(read), tally);
  }

 private:
  static const RecordedStep* StepOf(const Recording& recording) {
    if (recording.recorded_rank) return &recording.recorded_rank->step;
    return recording.recorded_step ? &*recording.recorded_step : nullptr;
  }

  static std::vector<std::string> FieldsOf(const Recording& recording) {
    if (const RecordedStep* step = StepOf(recording)) {
      std::vector<std::string> out = {"parameters", "flops_forward"};
      if (recording.step.mode == StepMode::kTrain) {
        out.emplace_back("flops_backward");
      }
      for (const auto& [name, value] : step->figures) out.push_back(name);
      if (recording.recorded_rank) out.emplace_back("collectives");
      return out;
    }
    if (!recording.has_tensors) return {"parameters"};
    return {"parameters", "tensors", "ties", "buffers"};
  }

  void CompareError(const TruthCase& truth) {
    ++answer_->error_rows;
    if (!truth.config) return;
    const auto read = ReadCase(truth);
    const auto* model = std::get_if<ReadModel>(&read);
    if (model == nullptr || AnyBlocks(model->log.findings)) {
      ++answer_->error_rows_refused;
    }
  }

  // `error` is the relative error; 0 where equal.
  void Note(const TruthCase& truth, const std::string& field,
            const std::optional<std::string>& difference, double error) {
    FieldTally& tally = answer_->fields[field];
    ++tally.n;
    if (!difference) {
      ++tally.equal;
      ++tally.within_0_5pct;
      ++tally.within_1pct;
      return;
    }
    if (error <= 0.005) ++tally.within_0_5pct;
    if (error <= 0.01) ++tally.within_1pct;
    if (answer_->differences.size() < kMostDifferences) {
      answer_->differences.push_back(
          {truth.recording.line, truth.recording.config,
           truth.recording.class_name, field, *difference});
    }
  }

  void CompareModel(const TruthCase& truth, const ReadModel& model,
                    ClassTally& tally) {
    const Recording& recording = truth.recording;
    const ParameterAnalysis& derived = model.parameters;
    bool all_equal = model.built.class_name == recording.class_name;
    const auto note = [&](const std::string& field,
                          const std::optional<std::string>& difference,
                          double error) {
      all_equal = all_equal && !difference;
      Note(truth, field, difference, error);
    };
    const double error =
        ErrorOf(derived.total.any().value().value_or(0), recording.parameters);
    note("parameters", CompareTotal(derived.total, recording.parameters),
         error);
    if (recording.has_tensors) {
      note("tensors", CompareTensors(derived.tensors, recording.tensors), 1);
      note("ties", CompareTies(derived.ties, recording.ties), 1);
      note("buffers", CompareBuffers(derived.buffers, recording.buffers), 1);
    }
    if (derived.total.is_exact()) ++answer_->claimed_exact;
    if (derived.total.is_exact() && !all_equal) ++answer_->wrong_claims;
    if (all_equal) ++tally.equal;
  }

  // Refused or not written to its end: a miss in every field.
  void MissStep(const TruthCase& truth, const std::string& reason) {
    ++answer_->refused;
    ++answer_->by_class[truth.recording.class_name].n;
    for (const std::string& field : FieldsOf(truth.recording)) {
      Note(truth, field, "refused: " + reason, 1);
    }
  }

  // Set on a loaded configuration, the last of two names of one setting counts;
  // which one that was, the configuration no longer tells.
  static bool HidesOverride(const Recording& recording,
                            const std::vector<Finding>& findings) {
    return !recording.overrides.empty() &&
           std::ranges::any_of(findings, [](const Finding& one) {
             return one.rule == "config/two-names";
           });
  }

  void CompareRank(const TruthCase& truth) {
    const Recording& recording = truth.recording;
    const BuildOptions options = OptionsOf(recording);
    auto derived = DeriveRank(ConfigOf(truth, options), options, recording);
    if (const auto* refusal = std::get_if<Refusal>(&derived)) {
      MissStep(truth, refusal->errors.front().what);
      return;
    }
    CompareFigures(truth, std::get<RankFigures>(derived));
  }

  void CompareStep(const TruthCase& truth) {
    const Recording& recording = truth.recording;
    const BuildOptions options = OptionsOf(recording);
    auto compiled =
        CompileStep(ConfigOf(truth, options), options, recording.step);
    if (const auto* refusal = std::get_if<Refusal>(&compiled)) {
      MissStep(truth, refusal->errors.front().what);
      return;
    }
    const CompiledStep& step = std::get<CompiledStep>(compiled);
    const auto figures = FiguresOf(step);
    if (!figures) {
      MissStep(truth, "a size passes 2^63 - 1");
      return;
    }
    const bool claims = ReasonsNotExact(step, recording.step).empty() &&
                        !HidesOverride(recording, step.model.log.findings);
    CompareFigures(truth, {step.model.built.class_name,
                           step.model.parameters.total,
                           *figures,
                           claims,
                           {}});
  }

  void CompareFigures(const TruthCase& truth, const RankFigures& derived) {
    const Recording& recording = truth.recording;
    ClassTally& tally = answer_->by_class[recording.class_name];
    ++tally.n;
    bool all_equal = derived.class_name == recording.class_name;
    const auto note = [&](const std::string& field,
                          const std::optional<std::string>& difference,
                          double error) {
      all_equal = all_equal && !difference;
      Note(truth, field, difference, error);
    };
    note("parameters", CompareTotal(derived.parameters, recording.parameters),
         ErrorOf(derived.parameters.any().value().value_or(0),
                 recording.parameters));
    const RecordedStep& recorded = *StepOf(recording);
    note("flops_forward",
         CompareFlops(derived.step.flops_forward, recorded.flops_forward), 1);
    if (recording.step.mode == StepMode::kTrain) {
      note("flops_backward",
           CompareFlops(derived.step.flops_backward, recorded.flops_backward),
           1);
    }
    for (const auto& [name, value] : recorded.figures) {
      const auto at = derived.step.figures.find(name);
      const int64_t figure = at == derived.step.figures.end() ? 0 : at->second;
      note(name, CompareNumber(figure, value),
           ErrorOf(static_cast<double>(figure), value));
    }
    if (recording.recorded_rank) {
      note("collectives",
           FirstDifferent(derived.collectives,
                          recording.recorded_rank->collectives),
           1);
    }
    if (derived.claims) ++answer_->claimed_exact;
    if (derived.claims && !all_equal) ++answer_->wrong_claims;
    if (all_equal) ++tally.equal;
  }

  VerifyAnswer* answer_;
};

}  // namespace

bool VerifyAnswer::AllEqual() const {
  return wrong_claims == 0 &&
         std::ranges::all_of(fields, [](const auto& entry) {
           return entry.second.equal == entry.second.n;
         });
}

VerifyAnswer AnswerVerify(const TruthSet& truth) {
  VerifyAnswer answer;
  answer.source = truth.source;
  Verifier verifier(answer);
  for (const TruthCase& one : truth.cases) verifier.Compare(one);
  return answer;
}

VerifyAnswer AnswerVerify(const TraceCase& truth) {
  VerifyAnswer answer;
  answer.source = truth.source;
  answer.rows = 1;
  const std::string& class_name = truth.trace.class_name;
  if (FamilyOfClass(class_name) == nullptr) {
    answer.unsupported = 1;
    answer.unsupported_classes[class_name] = 1;
    return answer;
  }
  if (!truth.config) {
    answer.left_out[truth.no_config] = 1;
    return answer;
  }
  answer.compared = 1;
  const std::string difference = CompareTrace(truth.trace, *truth.config);
  const int64_t equal = difference.empty() ? 1 : 0;
  answer.fields["operators"] = {1, equal, equal, equal};
  answer.by_class[class_name] = {1, equal};
  if (!difference.empty()) {
    answer.differences.push_back(
        {0, truth.trace.config, class_name, "operators", difference});
  }
  return answer;
}

}  // namespace foretell
