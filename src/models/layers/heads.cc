#include "models/layers/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/loss.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// Labels of this value take no part in a loss.
constexpr int64_t kIgnoredLabel = -100;

constexpr std::array<std::pair<std::string_view, Head>, 5> kEndings = {{
    {"ForCausalLM", Head::kCausalLm},
    {"ForSequenceClassification", Head::kSequenceClassification},
    {"ForTokenClassification", Head::kTokenClassification},
    {"ForQuestionAnswering", Head::kQuestionAnswering},
    {"Model", Head::kNone},
}};

bool IsWholeNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<Head> HeadOfClass(std::string_view class_name) {
  for (const auto& [ending, head] : kEndings) {
    if (class_name.ends_with(ending)) return head;
  }
  return std::nullopt;
}

int64_t ReadLabelCount(const ConfigView& config, int64_t otherwise) {
  // transformers 5.23, configuration_utils.py: the property num_labels is the
  // length of id2label, and a num_labels that differs makes a new id2label.
  const ConfigValue* names = config.Raw("id2label");
  const bool named = names != nullptr && !names->is_null();
  if (named && !names->is_object()) {
    config.Problem("id2label",
                   "is " + std::string(names->KindName()) +
                       ", not an object of label names",
                   "write {\"0\": \"first\", \"1\": \"second\"}");
    return otherwise;
  }
  for (const auto& [index, name] :
       named ? names->members() : std::vector<ConfigValue::Member>()) {
    if (IsWholeNumber(index)) continue;
    config.Problem(
        "id2label",
        "has a key that is no whole number: \"" + index.substr(0, 40) + "\"",
        "write {\"0\": \"first\", \"1\": \"second\"}");
    return otherwise;
  }
  const int64_t listed =
      named ? static_cast<int64_t>(names->members().size()) : otherwise;
  // A negative number makes no label, as Python's range does.
  const ConfigValue* number = config.Raw("num_labels");
  const auto stated = number ? number->AsInteger() : std::nullopt;
  const int64_t labels =
      stated && *stated < 0 ? 0 : config.SizeOrZero({"num_labels"}, listed);
  if (named && labels != listed) {
    config.Find("config/labels", Severity::kWarn, "num_labels",
                fmt::format("num_labels is {}, but id2label names {} labels",
                            labels, listed),
                "the library drops the names and makes one per label",
                fmt::format("set num_labels to {}, or remove it", listed));
  }
  const auto problem = config.OptionalText({"problem_type"});
  // The library looks at the names before it applies num_labels.
  if (problem == "single_label_classification" &&
      (named ? listed : labels) == 1) {
    config.Find("config/labels", Severity::kBlock, "problem_type",
                "problem_type is single_label_classification, but there is "
                "one label",
                "the library refuses the configuration",
                "set num_labels to 2, or problem_type to regression");
  }
  return labels;
}

Tensor CrossEntropy(const Tensor& logits, const Tensor& targets) {
  return NllLoss(LogSoftmaxOp(logits, 1), targets, kIgnoredLabel);
}

Tensor CausalLmLoss(const Tensor& logits, const Tensor& labels) {
  const Tensor exact = To(logits, DType::kFloat32);
  const Tensor padded =
      ConstantPad(labels, 0, 1, static_cast<double>(kIgnoredLabel));
  const Tensor shifted =
      Contiguous(Slice(padded, 1, 1, std::numeric_limits<int64_t>::max()));
  const Tensor rows = View(exact, {-1, exact.size(-1)});
  return CrossEntropy(rows, View(shifted, {-1}));
}

}  // namespace foretell
