// The transformers of FLUX.1, Stable Diffusion 3 and Qwen-Image: what turns
// noise into an image, step by step, beside text encoders that other families
// know.
//
// Source: diffusers 0.42.1, models/transformers/transformer_flux.py,
// transformer_sd3.py and transformer_qwenimage.py. It does not model their
// operations.
#include <algorithm>
#include <array>
#include <vector>

#include "models/family.h"
#include "models/layers/diffusion_parts.h"

namespace foretell {
namespace {

// proj_out: a patch of the image for each token.
void AddLast(const ConfigView& config, const TowerModule& root, int64_t width,
             int64_t patch, int64_t channels) {
  AddModulation(root.Child("norm_out"), width, 2);
  const int64_t area = ProductOf(config, "patch_size", patch, patch);
  root.Linear("proj_out", width,
              ProductOf(config, "out_channels", area, channels), true);
}

void AddFluxBlock(const TowerModule& block, const DiffusionWidth& sizes) {
  AddModulation(block.Child("norm1"), sizes.width, 6);
  AddModulation(block.Child("norm1_context"), sizes.width, 6);
  AddJointAttention(block.Child("attn", RegionKind::kAttention),
                    {.width = sizes.width, .head_dim = sizes.head_dim});
  AddNet(block.Child("ff"), sizes.width);
  AddNet(block.Child("ff_context"), sizes.width);
}

// Attention and feed-forward side by side, with one product out of both.
void AddSingleBlock(const TowerModule& block, const DiffusionWidth& sizes) {
  constexpr int64_t kRatio = 4;
  AddModulation(block.Child("norm"), sizes.width, 3);
  block.Linear("proj_mlp", sizes.width, kRatio * sizes.width, true);
  block.Linear("proj_out", (kRatio + 1) * sizes.width, sizes.width, true);
  AddJointAttention(block.Child("attn", RegionKind::kAttention),
                    {.width = sizes.width,
                     .head_dim = sizes.head_dim,
                     .text = false,
                     .output = false});
}

std::unique_ptr<Model> BuildFlux(const ConfigView& config, const Module& at,
                                 std::string_view /*class_name*/) {
  const DiffusionWidth sizes = ReadDiffusionWidth(config, 24, 128);
  const int64_t channels = config.Size({"in_channels"}, 64);
  const int64_t out = config.OptionalSize({"out_channels"}).value_or(channels);
  const int64_t layers = config.Layers({"num_layers"}, 19);
  const int64_t single = config.Layers({"num_single_layers"}, 38);
  const int64_t text = config.Size({"joint_attention_dim"}, 4096);
  const int64_t pooled = config.Size({"pooled_projection_dim"}, 768);
  const bool guidance = config.Flag({"guidance_embeds"}, false);
  const int64_t patch = config.Size({"patch_size"}, 1);
  config.Ignore({"axes_dims_rope"});
  const TowerModule root(at);
  const TowerModule embed = root.Child("time_text_embed");
  AddEmbedder(embed.Child("timestep_embedder"), kStepChannels, sizes.width);
  if (guidance) {
    AddEmbedder(embed.Child("guidance_embedder"), kStepChannels, sizes.width);
  }
  AddEmbedder(embed.Child("text_embedder"), pooled, sizes.width);
  root.Linear("context_embedder", text, sizes.width, true);
  root.Linear("x_embedder", channels, sizes.width, true);
  const TowerModule blocks = root.Child("transformer_blocks");
  for (int64_t i = 0; i < layers; ++i) AddFluxBlock(blocks.Child(i), sizes);
  const TowerModule singles = root.Child("single_transformer_blocks");
  for (int64_t i = 0; i < single; ++i) AddSingleBlock(singles.Child(i), sizes);
  AddLast(config, root, sizes.width, patch, out);
  auto model = DiffusionModel(at, layers);
  model->stacks.push_back({"single", single});
  return model;
}

struct Sd3Block {
  bool norms = false;
  bool is_dual = false;  // images also attend to themselves alone
  bool is_last = false;
};

void AddSd3Block(const TowerModule& block, const DiffusionWidth& sizes,
                 const Sd3Block& kind) {
  AddModulation(block.Child("norm1"), sizes.width, kind.is_dual ? 9 : 6);
  AddModulation(block.Child("norm1_context"), sizes.width,
                kind.is_last ? 2 : 6);
  AddJointAttention(block.Child("attn", RegionKind::kAttention),
                    {.width = sizes.width,
                     .head_dim = sizes.head_dim,
                     .norms = kind.norms,
                     .text_ends = kind.is_last});
  if (kind.is_dual) {
    AddJointAttention(block.Child("attn2", RegionKind::kAttention),
                      {.width = sizes.width,
                       .head_dim = sizes.head_dim,
                       .norms = kind.norms,
                       .text = false});
  }
  AddNet(block.Child("ff"), sizes.width);
  if (!kind.is_last) AddNet(block.Child("ff_context"), sizes.width);
}

std::unique_ptr<Model> BuildSd3(const ConfigView& config, const Module& at,
                                std::string_view /*class_name*/) {
  const DiffusionWidth sizes = ReadDiffusionWidth(config, 18, 64);
  const int64_t channels = config.Size({"in_channels"}, 16);
  const int64_t out = config.Size({"out_channels"}, 16);
  const int64_t layers = config.Layers({"num_layers"}, 18);
  const int64_t text = config.Size({"joint_attention_dim"}, 4096);
  const int64_t caption = config.Size({"caption_projection_dim"}, 1152);
  const int64_t pooled = config.Size({"pooled_projection_dim"}, 2048);
  const int64_t patch = config.Size({"patch_size"}, 2);
  const int64_t places = config.Size({"pos_embed_max_size"}, 96);
  const bool norms = config.OptionalText({"qk_norm"}).has_value();
  const std::vector<int64_t> dual =
      config.IntegerList({"dual_attention_layers"})
          .value_or(std::vector<int64_t>());
  config.Ignore({"sample_size"});
  const TowerModule root(at);
  const TowerModule embed = root.Child("pos_embed");
  embed.Convolution("proj", {sizes.width, channels, patch, patch}, true);
  // Sinusoids of all places, which its files hold.
  embed.module().Buffer(
      "pos_embed",
      {1, ProductOf(config, "pos_embed_max_size", places, places), sizes.width},
      DType::kFloat32, true);
  const TowerModule time = root.Child("time_text_embed");
  AddEmbedder(time.Child("timestep_embedder"), kStepChannels, sizes.width);
  AddEmbedder(time.Child("text_embedder"), pooled, sizes.width);
  root.Linear("context_embedder", text, caption, true);
  const TowerModule blocks = root.Child("transformer_blocks");
  for (int64_t i = 0; i < layers; ++i) {
    AddSd3Block(blocks.Child(i), sizes,
                {.norms = norms,
                 .is_dual = std::ranges::find(dual, i) != dual.end(),
                 .is_last = i + 1 == layers});
  }
  AddLast(config, root, sizes.width, patch, out);
  return DiffusionModel(at, layers);
}

std::unique_ptr<Model> BuildQwenImage(const ConfigView& config,
                                      const Module& at,
                                      std::string_view /*class_name*/) {
  const DiffusionWidth sizes = ReadDiffusionWidth(config, 24, 128);
  const int64_t channels = config.Size({"in_channels"}, 64);
  const int64_t out =
      config.Raw("out_channels") == nullptr
          ? config.Size({"out_channels"}, 16)
          : config.OptionalSize({"out_channels"}).value_or(channels);
  const int64_t layers = config.Layers({"num_layers"}, 60);
  const int64_t text = config.Size({"joint_attention_dim"}, 3584);
  const int64_t patch = config.Size({"patch_size"}, 2);
  config.Ignore({"axes_dims_rope", "guidance_embeds", "pooled_projection_dim",
                 "zero_cond_t", "use_layer3d_rope"});
  const TowerModule root(at);
  const TowerModule embed = root.Child("time_text_embed");
  AddEmbedder(embed.Child("timestep_embedder"), kStepChannels, sizes.width);
  if (config.Flag({"use_additional_t_cond"}, false)) {
    embed.Embedding("addition_t_embedding", 2, sizes.width);
  }
  root.RmsNorm("txt_norm", text);
  root.Linear("img_in", channels, sizes.width, true);
  root.Linear("txt_in", text, sizes.width, true);
  const TowerModule blocks = root.Child("transformer_blocks");
  for (int64_t i = 0; i < layers; ++i) {
    const TowerModule block = blocks.Child(i);
    // An activation stands before the product.
    block.Child("img_mod").Linear("1", sizes.width, 6 * sizes.width, true);
    AddJointAttention(block.Child("attn", RegionKind::kAttention),
                      {.width = sizes.width, .head_dim = sizes.head_dim});
    AddNet(block.Child("img_mlp"), sizes.width);
    block.Child("txt_mod").Linear("1", sizes.width, 6 * sizes.width, true);
    AddNet(block.Child("txt_mlp"), sizes.width);
  }
  AddLast(config, root, sizes.width, patch, out);
  return DiffusionModel(at, layers);
}

constexpr std::array<std::string_view, 0> kNoTypes = {};
constexpr std::array<std::string_view, 1> kFluxClasses = {
    "FluxTransformer2DModel"};
constexpr std::array<std::string_view, 1> kSd3Classes = {
    "SD3Transformer2DModel"};
constexpr std::array<std::string_view, 1> kQwenImageClasses = {
    "QwenImageTransformer2DModel"};

}  // namespace

extern const Family kDiffusersFluxFamily = {
    .name = "diffusers_flux",
    .title = "FLUX.1's transformer",
    .doc =
        "Blocks over images and text at once, then blocks that attend and "
        "feed forward side by side; parameters only.",
    .model_types = kNoTypes,
    .classes = kFluxClasses,
    .old_names = {},
    .build = BuildFlux,
    .has_operations = false,
};

extern const Family kDiffusersQwenImageFamily = {
    .name = "diffusers_qwen_image",
    .title = "Qwen-Image's transformer",
    .doc = "Blocks over images and text at once; parameters only.",
    .model_types = kNoTypes,
    .classes = kQwenImageClasses,
    .old_names = {},
    .build = BuildQwenImage,
    .has_operations = false,
};

extern const Family kDiffusersSd3Family = {
    .name = "diffusers_sd3",
    .title = "Stable Diffusion 3's transformer",
    .doc =
        "Blocks over images and text at once, of which the last gives the "
        "image alone; parameters only.",
    .model_types = kNoTypes,
    .classes = kSd3Classes,
    .old_names = {},
    .build = BuildSd3,
    .has_operations = false,
};

}  // namespace foretell
