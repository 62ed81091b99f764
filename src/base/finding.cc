#include "base/finding.h"

#include <algorithm>

#include "base/check.h"

namespace foretell {

std::string_view NameOf(Severity severity) {
  switch (severity) {
    case Severity::kBlock:
      return "block";
    case Severity::kWarn:
      return "warn";
    case Severity::kInfo:
      return "info";
  }
  FailCheck(__FILE__, __LINE__, "severity", "severity without a name");
}

bool AnyBlocks(const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.severity == Severity::kBlock;
  });
}

}  // namespace foretell
