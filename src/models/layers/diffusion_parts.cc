#include "models/layers/diffusion_parts.h"

#include "models/layers/plain_decoder.h"

namespace foretell {

DiffusionWidth ReadDiffusionWidth(const ConfigView& config, int64_t heads,
                                  int64_t head_dim) {
  DiffusionWidth out;
  out.head_dim = config.Size({"attention_head_dim"}, head_dim);
  const int64_t count = config.Size({"num_attention_heads"}, heads);
  out.width = ProductOf(config, "num_attention_heads", count, out.head_dim);
  // Modulations are nine times the width at most, and a net is four times.
  constexpr int64_t kWidest = 16;
  ProductOf(config, "num_attention_heads", out.width, kWidest);
  config.Ignore({"_diffusers_version", "_name_or_path"});
  return out;
}

void AddEmbedder(const TowerModule& at, int64_t in, int64_t width) {
  at.Linear("linear_1", in, width, true);
  at.Linear("linear_2", width, width, true);
}

void AddNet(const TowerModule& at, int64_t width) {
  constexpr int64_t kRatio = 4;
  const TowerModule net = at.Child("net", RegionKind::kMlp);
  net.Child("0").Linear("proj", width, kRatio * width, true);
  net.Linear("2", kRatio * width, width, true);
}

void AddModulation(const TowerModule& at, int64_t width, int64_t times) {
  at.Linear("linear", width, times * width, true);
}

void AddJointAttention(const TowerModule& at, const JointAttention& attention) {
  const int64_t width = attention.width;
  if (attention.norms) {
    at.RmsNorm("norm_q", attention.head_dim);
    at.RmsNorm("norm_k", attention.head_dim);
  }
  for (const std::string_view name : {"to_q", "to_k", "to_v"}) {
    at.Linear(name, width, width, true);
  }
  if (attention.text) {
    for (const std::string_view name :
         {"add_k_proj", "add_v_proj", "add_q_proj"}) {
      at.Linear(name, width, width, true);
    }
  }
  if (attention.output) at.Child("to_out").Linear("0", width, width, true);
  if (!attention.text) return;
  if (!attention.text_ends) at.Linear("to_add_out", width, width, true);
  if (!attention.norms) return;
  at.RmsNorm("norm_added_q", attention.head_dim);
  at.RmsNorm("norm_added_k", attention.head_dim);
}

std::unique_ptr<Model> DiffusionModel(const Module& root, int64_t layers) {
  auto model = std::make_unique<ParametersOnly>(
      root, "steps of diffusion models are not modelled");
  model->stacks.push_back({"transformer", layers});
  return model;
}

}  // namespace foretell
