#include "analysis/cache.h"

#include <algorithm>

#include "base/checked.h"

namespace foretell {
namespace {

std::optional<int64_t> BytesOfToken(const LayerState& state, DType dtype) {
  const auto dims = CheckedAdd(state.key_dim, state.value_dim);
  const auto each = dims ? CheckedMul(*dims, state.heads) : std::nullopt;
  const auto elements =
      each ? CheckedAdd(*each, state.index_dim) : std::nullopt;
  return elements ? CheckedMul(*elements, BytesOf(dtype)) : std::nullopt;
}

// The state, in float32, and what the convolution looks back on.
std::optional<int64_t> BytesOfSequence(const LayerState& state, DType dtype) {
  const auto dims = CheckedMul(state.key_dim, state.value_dim);
  const auto elements = dims ? CheckedMul(*dims, state.heads) : std::nullopt;
  const auto recurrent =
      elements ? CheckedMul(*elements, BytesOf(DType::kFloat32)) : std::nullopt;
  const auto inputs = CheckedMul(state.conv_channels, state.conv_tokens);
  const auto conv = inputs ? CheckedMul(*inputs, BytesOf(dtype)) : std::nullopt;
  return recurrent && conv ? CheckedAdd(*recurrent, *conv) : std::nullopt;
}

}  // namespace

CacheAnalysis AnalyzeCache(const std::vector<LayerState>& states, DType dtype) {
  CacheAnalysis out;
  for (const LayerState& state : states) {
    if (state.kind == LayerState::Kind::kNone) continue;
    const auto at = std::ranges::find(out.groups, state, &StateGroup::state);
    if (at != out.groups.end()) {
      ++at->layers;
    } else {
      out.groups.push_back({state, 1, {}, {}});
    }
  }
  for (StateGroup& group : out.groups) {
    if (group.state.kind == LayerState::Kind::kRecurrent) {
      const auto each = BytesOfSequence(group.state, dtype);
      group.at_most = Bytes::Exact(each) * group.layers;
      group.per_token = BytesPerToken::Exact(0);
      out.recurrent += group.at_most;
      continue;
    }
    if (group.state.kind == LayerState::Kind::kUnknown) {
      group.per_token = BytesPerToken::Unknown(
          "what these layers keep of each token is not modelled");
      out.per_token += group.per_token;
      out.per_token_past_windows += group.per_token;
      continue;
    }
    const auto each = BytesOfToken(group.state, dtype);
    group.per_token = BytesPerToken::Exact(each) * group.layers;
    if (group.state.kind == LayerState::Kind::kCross) {
      out.per_encoder_token += group.per_token;
      continue;
    }
    out.per_token += group.per_token;
    if (group.state.kind == LayerState::Kind::kSliding) {
      group.at_most = Bytes(
          group.per_token.any().Times(group.state.window).In(Unit::kBytes));
    } else {
      out.per_token_past_windows += group.per_token;
    }
  }
  return out;
}

}  // namespace foretell
