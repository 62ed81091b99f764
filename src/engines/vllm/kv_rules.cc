#include "engines/vllm/kv_rules.h"

namespace foretell::vllm {

KvRules RulesOf(Release release) {
  KvRules out;
  const auto from = [&](int32_t minor, int32_t patch = 0) {
    return release >= Release{minor, patch};
  };
  out.does_print_by_request = from(20, 2);
  return out;
}

}  // namespace foretell::vllm
