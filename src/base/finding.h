// What a rule found about a job: how bad, why it matters, and what mends it.
//
// Made by rules and by families, shown by every renderer; `block` makes the
// exit status 1. A rule's id names its area and its thing: "model/heads".
#ifndef FORETELL_BASE_FINDING_H_
#define FORETELL_BASE_FINDING_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"

namespace foretell {

enum class Severity { kBlock, kWarn, kInfo };

std::string_view NameOf(Severity severity);  // "block", "warn", "info"

struct Finding {
  std::string rule;  // "model/heads": area, slash, thing
  Severity severity = Severity::kInfo;
  std::string what;  // with its numbers
  std::string why;   // what would happen
  std::string fix;   // can be pasted; empty where there is none
  Place place;       // where it was read
};

bool AnyBlocks(const std::vector<Finding>& findings);

}  // namespace foretell

#endif  // FORETELL_BASE_FINDING_H_
