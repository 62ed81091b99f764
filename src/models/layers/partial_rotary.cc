#include "models/layers/partial_rotary.h"

#include <fmt/format.h>

#include <limits>
#include <tuple>

#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

std::vector<Tensor> TurnFirstDims(Tensor& q, Tensor& k,
                                  const std::pair<Tensor, Tensor>& rotary) {
  const int axis = q.shape().rank() - 1;
  const int64_t dims = rotary.first.size(-1);
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  Tensor q_turns = SliceRange(q, axis, 0, dims);
  const Tensor q_passes = Slice(q, axis, dims, kToTheEnd);
  Tensor k_turns = SliceRange(k, axis, 0, dims);
  const Tensor k_passes = Slice(k, axis, dims, kToTheEnd);
  std::tie(q_turns, k_turns) =
      ApplyRotary(q_turns, k_turns, rotary.first, rotary.second);
  q = Cat2(q_turns, q_passes, -1);
  k = Cat2(k_turns, k_passes, -1);
  return {q_turns, q_passes, k_turns, k_passes};
}

void CheckEvenHeads(const ConfigView& config,
                    const AttentionConfig& attention) {
  if (attention.hidden % attention.heads == 0) return;
  config.Find("model/heads", Severity::kBlock, "num_attention_heads",
              fmt::format("hidden_size {} is not a multiple of "
                          "num_attention_heads {}",
                          attention.hidden, attention.heads),
              "the class refuses it as a layer is built",
              "choose a number of heads that divides hidden_size");
}

RopeConfig ReadPartialRope(const ConfigView& config,
                           const AttentionConfig& attention, int64_t positions,
                           double default_part) {
  RopeConfig rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Has("head_dim"),
                        .turns_part = true,
                        .default_part = default_part});
  const int64_t dims = 2 * rope.frequencies;
  if (dims > attention.head_dim) {
    config.Find("model/rope", Severity::kBlock, "num_attention_heads",
                fmt::format("{} of a head's {} dims are turned in pairs", dims,
                            attention.head_dim),
                "the forward fails on the shapes",
                "choose a head_dim or partial_rotary_factor that turns an even "
                "number of dims");
  }
  return rope;
}

}  // namespace foretell
