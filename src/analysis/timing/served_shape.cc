#include "analysis/timing/served_shape.h"

#include <algorithm>
#include <string_view>

namespace foretell {
namespace {

// Bytes of one number of a recurrent state, which stays in float32, read and
// written once a step.
constexpr double kStateBytes = 4.0 * 2;
// A latent row of 512 numbers and 64 turned ones is multiplied with every
// query head as two 128-wide heads and their turned parts: 128 + 64 + 128.
constexpr double kLatentWidth = 320;

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool IsTower(std::string_view name) {
  for (const std::string_view part :
       {"vision", "visual", "audio", "multi_modal", "mm_projector",
        "image_newline", "speech"}) {
    if (Has(name, part)) return true;
  }
  return false;
}

bool IsOfLayer(std::string_view name) {
  return Has(name, "layers.#") || Has(name, ".h.#") || Has(name, "blocks.#") ||
         Has(name, "layer.#");
}

bool IsMixing(const TensorGroup& tensor) {
  if (tensor.part == RegionKind::kAttention ||
      tensor.part == RegionKind::kMixer) {
    return true;
  }
  if (tensor.part == RegionKind::kMlp) return false;
  for (const std::string_view part :
       {"attn", "attention", "mixer", "mamba", "ssm", "conv."}) {
    if (Has(tensor.name, part)) return true;
  }
  return false;
}

void AddTensor(const TensorGroup& tensor, ServedShape& out, double& embedding) {
  if (IsTower(tensor.name) || tensor.shape.rank() < 2) return;
  const auto all = tensor.Elements();
  if (!all) return;
  const auto elements = static_cast<double>(*all);
  out.stored += elements;
  if (tensor.part == RegionKind::kHead) {
    out.head += elements;
    return;
  }
  if (tensor.part == RegionKind::kEmbedding) {
    if (!IsOfLayer(tensor.name)) embedding = std::max(embedding, elements);
    return;
  }
  if (tensor.part == RegionKind::kRouter || !IsOfLayer(tensor.name)) return;
  if (tensor.experts > 1) {
    out.experts += elements;
    out.expert_count =
        std::max(out.expert_count, static_cast<double>(tensor.experts));
    out.experts_per_token = std::max(
        out.experts_per_token, static_cast<double>(tensor.experts_per_token));
    // A layer has its experts in one tensor of each kind; the most frequent
    // kind counts the layers.
    const double in_one =
        tensor.shape.rank() > 2 ? 1.0 : static_cast<double>(tensor.experts);
    out.expert_layers =
        std::max(out.expert_layers, static_cast<double>(tensor.count) / in_one);
    return;
  }
  (IsMixing(tensor) ? out.attention : out.mlp) += elements;
}

void AddState(const LayerState& state, double query_heads, ServedShape& out,
              double& least_heads) {
  const auto heads = static_cast<double>(state.heads);
  const auto key = static_cast<double>(state.key_dim);
  const auto value = static_cast<double>(state.value_dim);
  switch (state.kind) {
    case LayerState::Kind::kFull:
      out.kept += heads * (key + value);
      out.attention_width += query_heads * (key + value);
      least_heads = least_heads > 0 ? std::min(least_heads, heads) : heads;
      break;
    case LayerState::Kind::kSliding:
      out.kept_in_windows += heads * (key + value);
      out.window = std::max(out.window, static_cast<double>(state.window));
      least_heads = least_heads > 0 ? std::min(least_heads, heads) : heads;
      break;
    case LayerState::Kind::kLatent:
      out.kept += key + value;
      out.attention_width += query_heads * kLatentWidth;
      out.is_latent = true;
      if (state.index_dim > 0) out.has_indexer = true;
      break;
    case LayerState::Kind::kRecurrent:
      out.recurrent_bytes += heads * key * value * kStateBytes;
      out.is_recurrent = true;
      break;
    case LayerState::Kind::kNone:
    case LayerState::Kind::kCross:
    case LayerState::Kind::kUnknown:
      break;
  }
}

}  // namespace

double ServedShape::Active() const {
  const double share =
      expert_count > 1 ? experts_per_token / expert_count : 0.0;
  return attention + mlp + experts * share + head;
}

ServedShape ShapeOfServed(const ParameterAnalysis& parameters,
                          const std::vector<LayerState>& states,
                          const ServedSizes& sizes) {
  ServedShape out;
  out.layers = static_cast<double>(sizes.layers);
  out.hidden = static_cast<double>(sizes.hidden);
  out.query_heads =
      static_cast<double>(std::max<int64_t>(sizes.query_heads, 1));
  double embedding = 0;
  for (const TensorGroup& tensor : parameters.tensors) {
    AddTensor(tensor, out, embedding);
  }
  // A tied head reads the table of embeddings.
  if (out.head <= 0) out.head = embedding;
  double least_heads = 0;
  for (const LayerState& state : states) {
    AddState(state, out.query_heads, out, least_heads);
  }
  out.key_value_heads = std::max(least_heads, 1.0);
  if (out.expert_count <= 1) out.experts_per_token = 0;
  return out;
}

ServedShape ShapeOfPlainDecoder(const ServedSizes& sizes, int64_t vocabulary) {
  ServedShape out;
  out.layers = static_cast<double>(sizes.layers);
  out.hidden = static_cast<double>(sizes.hidden);
  out.query_heads = static_cast<double>(sizes.query_heads);
  const double square = out.hidden * out.hidden * out.layers;
  out.attention = 4 * square;
  out.mlp = 8 * square;
  out.head = static_cast<double>(vocabulary) * out.hidden;
  out.kept = 2 * out.hidden * out.layers;
  out.attention_width = 2 * out.hidden * out.layers;
  out.key_value_heads = out.query_heads;
  return out;
}

}  // namespace foretell
