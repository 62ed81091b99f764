#include "models/layers/head_norms.h"

#include <string_view>
#include <vector>

#include "models/layers/norm.h"

namespace foretell {
namespace {

QueryKeyHook ByNorms(const Module& at, std::string_view query,
                     std::string_view key, int64_t width, double epsilon) {
  const RmsNorm query_norm(at.Child(query, RegionKind::kNorm), width, epsilon);
  const RmsNorm key_norm(at.Child(key, RegionKind::kNorm), width, epsilon);
  return [query_norm, key_norm](Tensor& q, Tensor& k, const auto&) {
    q = query_norm.Forward(q);
    k = key_norm.Forward(k);
    return std::vector<Tensor>();
  };
}

}  // namespace

AttentionExtension NormsBeforeTranspose(bool has_norms, double epsilon) {
  return [has_norms, epsilon](const Module& at, GroupedQueryAttention& one) {
    if (has_norms) {
      one.before_transpose =
          ByNorms(at, "q_norm", "k_norm", one.config.head_dim, epsilon);
      return;
    }
    one.before_transpose = [](Tensor&, Tensor&, const auto&) {
      return std::vector<Tensor>();
    };
  };
}

AttentionExtension NormsBehindTurn(double epsilon) {
  return [epsilon](const Module& at, GroupedQueryAttention& one) {
    one.behind_turn = ByNorms(at, "query_layernorm", "key_layernorm",
                              one.config.head_dim, epsilon);
  };
}

}  // namespace foretell
