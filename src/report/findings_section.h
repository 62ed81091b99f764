// How every report with findings ends: what was found, which rules ran, and
// which could not and why.
//
// A report that is silent about what it did not check reads like a pass, so
// the three stand together and are declared once, here.
#ifndef FORETELL_REPORT_FINDINGS_SECTION_H_
#define FORETELL_REPORT_FINDINGS_SECTION_H_

#include <string>
#include <vector>

#include "base/finding.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

struct RuleNotRun {
  std::string rule = {};    // "model/heads"
  std::string reason = {};  // "the configuration has no num_attention_heads"
};

// Top-level rows: findings, rules_ran, rules_not_run.
SectionShape FindingsSection();

// Fills the three rows of a document whose shape has a FindingsSection.
// `rules_not_run` has one entry a rule.
void SetFindings(Document& document, const std::vector<Finding>& findings,
                 std::vector<std::string> rules_ran,
                 const std::vector<RuleNotRun>& rules_not_run);

}  // namespace foretell

#endif  // FORETELL_REPORT_FINDINGS_SECTION_H_
