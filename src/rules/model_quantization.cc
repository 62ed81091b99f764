#include <fmt/format.h>

#include "rules/model_rules.h"

namespace foretell {

RuleOutcome RuleQuantization(const ModelRuleInput& input) {
  RuleOutcome out;
  const ConfigValue* quantization =
      input.config->root.Find("quantization_config");
  if (quantization == nullptr || quantization->is_null()) return out;
  const ConfigValue* method = quantization->Find("quant_method");
  const auto name = method ? method->AsString() : std::nullopt;
  Finding finding;
  finding.rule = "model/quantization";
  finding.severity = Severity::kInfo;
  finding.what = fmt::format(
      "the checkpoint is quantized ({}); its stored bytes are not derived",
      name ? std::string(name->substr(0, 60)) : "method not stated");
  finding.why =
      "parameters, shapes and the cache are those of the plain model; a "
      "packed format stores some tensors in fewer bytes and adds scales";
  finding.place = input.config->PlaceOf(*quantization, "quantization_config");
  out.findings.push_back(std::move(finding));
  return out;
}

}  // namespace foretell
