#include "models/layers/tower_module.h"

#include <fmt/format.h>

#include "base/checked.h"

namespace foretell {

void TowerModule::Linear(std::string_view name, int64_t in, int64_t out,
                         bool bias) const {
  const Module at = at_.Child(name, RegionKind::kLinear);
  at.Parameter("weight", {out, in});
  if (bias) at.Parameter("bias", {out});
}

void TowerModule::ExpertLinear(std::string_view name, int64_t in, int64_t out,
                               int64_t experts, int64_t per_token) const {
  const ParameterId weight =
      at_.Child(name, RegionKind::kLinear).Parameter("weight", {out, in});
  // As if each held its share of all: the sum comes to the same.
  at_.builder().MarkExperts(weight, experts, per_token);
}

void TowerModule::LayerNorm(std::string_view name, int64_t width) const {
  const Module at = at_.Child(name, RegionKind::kNorm);
  at.Parameter("weight", {width});
  at.Parameter("bias", {width});
}

void TowerModule::RmsNorm(std::string_view name, int64_t width) const {
  at_.Child(name, RegionKind::kNorm).Parameter("weight", {width});
}

void TowerModule::Embedding(std::string_view name, int64_t rows,
                            int64_t width) const {
  at_.Child(name, RegionKind::kEmbedding).Parameter("weight", {rows, width});
}

void TowerModule::Convolution(std::string_view name, const Shape& weight,
                              bool bias) const {
  const Module at = at_.Child(name, RegionKind::kLinear);
  at.Parameter("weight", weight);
  if (bias) at.Parameter("bias", {weight[0]});
}

void TowerModule::Parameter(std::string_view name, const Shape& shape) const {
  at_.Parameter(name, shape);
}

void TowerModule::Angles(std::string_view name, int64_t pairs) const {
  const Module at = at_.Child(name);
  at.Buffer("inv_freq", {pairs}, DType::kFloat32, false);
  at.Buffer("original_inv_freq", {pairs}, DType::kFloat32, false);
}

void TowerModule::PositionIds(int64_t positions) const {
  at_.Buffer("position_ids", {1, positions}, DType::kInt64, false);
}

Sides ReadSides(const ConfigView& config, std::string_view key,
                int64_t otherwise) {
  const ConfigValue* value = config.Raw(key);
  if (value == nullptr || !value->is_array()) {
    const int64_t side = config.Size({key}, otherwise);
    return {side, side};
  }
  const auto list = config.IntegerList({key});
  const bool fits = list && list->size() == 2 && (*list)[0] > 0 &&
                    (*list)[1] > 0 && (*list)[0] <= kLargestSize &&
                    (*list)[1] <= kLargestSize;
  if (fits) return {(*list)[0], (*list)[1]};
  config.Problem(key, "is no list of two sizes", "write a number, or two");
  return {otherwise, otherwise};
}

int64_t PatchesOf(const ConfigView& config, const Sides& image,
                  const Sides& patch) {
  const int64_t rows = image.first / patch.first;
  const int64_t columns = image.second / patch.second;
  if (rows == 0 || columns == 0) {
    config.Problem(
        "patch_size",
        fmt::format("is {}, more than image_size {}", patch.first, image.first),
        "choose a patch that fits into the image");
    return 1;
  }
  return ProductOf(config, "image_size", rows, columns);
}

int64_t ProductOf(const ConfigView& config, std::string_view key, int64_t a,
                  int64_t b) {
  const auto product = CheckedMul(a, b);
  if (product && *product <= kLargestSize) return *product;
  config.Problem(key, "makes a size past the largest that is read",
                 "choose smaller sizes");
  return 1;
}

void IgnoreTowerKeys(const ConfigView& config) {
  config.Ignore({"model_type",
                 "architectures",
                 "torch_dtype",
                 "dtype",
                 "hidden_act",
                 "layer_norm_eps",
                 "layer_norm_epsilon",
                 "rms_norm_eps",
                 "attention_dropout",
                 "dropout",
                 "hidden_dropout_prob",
                 "projection_dropout",
                 "initializer_range",
                 "initializer_factor",
                 "projection_dim",
                 "num_attention_heads",
                 "num_heads",
                 "temporal_patch_size",
                 "window_size",
                 "tokens_per_second",
                 "fullatt_block_indexes",
                 "spatial_patch_size",
                 "vocab_size",
                 "rope_parameters",
                 "rope_theta",
                 "use_mean_pooling",
                 "max_position_embeddings",
                 "gradient_checkpointing",
                 "use_cache",
                 "head_dim",
                 "num_image_tokens",
                 "attention_implementation",
                 "_attn_implementation"});
}

}  // namespace foretell
