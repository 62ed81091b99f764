// Molmo: OLMo's decoder, with one product for queries, keys and values, beside
// CLIP's tower, two of whose layers are pooled over neighbouring patches.
//
// transformers 5.23 has no such class. Source: "Molmo and PixMo" (arXiv
// 2409.17146), the published configuration and tensor names, and the header's
// total, which it reproduces. The file states nothing of the tower; it is
// openai/clip-vit-large-patch14-336 without its last layer.
#include <array>

#include "models/family.h"
#include "models/layers/linear.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

constexpr int64_t kNewTokens = 128;  // beside the vocabulary, for images
constexpr int64_t kClipWidth = 1024;
constexpr int64_t kClipWide = 4096;
constexpr int64_t kClipLayers = 23;
constexpr int64_t kClipPlaces = 577;   // 24 x 24 patches and the class
constexpr int64_t kPatchValues = 588;  // 14 x 14 pixels of three colors
constexpr int64_t kPooledLayers = 2;

struct Molmo {
  int64_t hidden = 0;
  int64_t queries = 0;  // of all heads
  int64_t keys = 0;
  int64_t intermediate = 0;  // of the gate's half
  bool qkv_bias = true;
  bool qk_norms = false;
};

void AddNorm(const TowerModule& at, std::string_view name, int64_t width) {
  at.RmsNorm(name, width);
}

void AddBlock(const TowerModule& block, const Molmo& sizes) {
  block.Linear("att_proj", sizes.hidden, sizes.queries + 2 * sizes.keys,
               sizes.qkv_bias);
  block.Linear("attn_out", sizes.queries, sizes.hidden, false);
  if (sizes.qk_norms) {
    AddNorm(block, "k_norm", sizes.keys);
    AddNorm(block, "q_norm", sizes.queries);
  }
  block.Linear("ff_proj", sizes.hidden, 2 * sizes.intermediate, false);
  block.Linear("ff_out", sizes.intermediate, sizes.hidden, false);
  AddNorm(block, "attn_norm", sizes.hidden);
  AddNorm(block, "ff_norm", sizes.hidden);
}

void AddAttention(const TowerModule& at, int64_t in) {
  for (const std::string_view name : {"wq", "wk", "wv"}) {
    at.Linear(name, in, kClipWidth, true);
  }
  at.Linear("wo", kClipWidth, kClipWidth, true);
}

void AddVision(const TowerModule& at, const Molmo& sizes) {
  const TowerModule vit = at.Child("image_vit");
  vit.Parameter("class_embedding", {kClipWidth});
  vit.Parameter("positional_embedding", {kClipPlaces, kClipWidth});
  vit.Linear("patch_embedding", kPatchValues, kClipWidth, false);
  vit.LayerNorm("pre_ln", kClipWidth);
  const TowerModule blocks = vit.Child("transformer.resblocks");
  for (int64_t index = 0; index < kClipLayers; ++index) {
    const TowerModule block = blocks.Child(index);
    AddAttention(block.Child("attention", RegionKind::kAttention), kClipWidth);
    const TowerModule mlp = block.Child("feed_forward", RegionKind::kMlp);
    mlp.Linear("w1", kClipWidth, kClipWide, true);
    mlp.Linear("w2", kClipWide, kClipWidth, true);
    block.LayerNorm("attention_norm", kClipWidth);
    block.LayerNorm("ffn_norm", kClipWidth);
  }
  at.Parameter("pad_embed", {2, kPooledLayers * kClipWidth});
  AddAttention(at.Child("image_pooling_2d", RegionKind::kAttention),
               kPooledLayers * kClipWidth);
  const TowerModule projector = at.Child("image_projector");
  projector.Linear("w1", kClipWidth, sizes.intermediate, false);
  projector.Linear("w2", sizes.intermediate, sizes.hidden, false);
  projector.Linear("w3", kClipWidth, sizes.intermediate, false);
}

Molmo ReadSizes(const ConfigView& config, const PlainDecoderConfig& decoder) {
  Molmo sizes;
  const AttentionConfig& attention = decoder.attention;
  sizes.hidden = attention.hidden;
  sizes.queries = attention.heads * attention.head_dim;
  sizes.keys = attention.kv_heads * attention.head_dim;
  // The configuration counts gate and up as one.
  sizes.intermediate = config.Size({"intermediate_size"}, 37888) / 2;
  sizes.qkv_bias = config.Flag({"qkv_bias"}, true);
  sizes.qk_norms = config.Flag({"attention_layer_norm"}, false);
  if (config.Text({"layer_norm_type"}, "rms") != "rms") {
    config.Problem("layer_norm_type", "names a norm that is not known here",
                   "the published models state rms");
  }
  config.Ignore({"clip_qkv", "embedding_size", "layer_norm_eps", "norm_after",
                 "use_position_ids", "use_cache"});
  return sizes;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  static_cast<void>(class_name);
  const PlainDecoderConfig decoder = ReadPlainDecoder(config, 152064);
  const Molmo sizes = ReadSizes(config, decoder);
  const bool ties = config.Flag({"tie_word_embeddings", "weight_tying"}, false);
  const int64_t rows =
      config.OptionalSize({"embedding_size"}).value_or(decoder.vocabulary);
  auto model = std::make_unique<ParametersOnly>(root, decoder.why);
  const Module whole = root.Child("model");
  const TowerModule base = TowerModule(whole).Child("transformer");
  const TowerModule table = base.Child("wte", RegionKind::kEmbedding);
  table.Parameter("embedding", {rows, sizes.hidden});
  table.Parameter("new_embedding", {kNewTokens, sizes.hidden});
  table.module().MarkInputEmbeddings();
  const TowerModule blocks = base.Child("blocks");
  for (int64_t index = 0; index < decoder.layers; ++index) {
    AddBlock(blocks.Child(index), sizes);
  }
  AddNorm(base, "ln_f", sizes.hidden);
  if (!ties) {
    const Linear head(base.Child("ff_out", RegionKind::kHead).module(),
                      sizes.hidden, rows, false);
    head.module.MarkOutputEmbeddings();
  }
  AddVision(TowerModule(whole).Child("vision_backbone"), sizes);
  model->stacks.push_back({"decoder", decoder.layers});
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(decoder.attention, 0));
  model->context_length = {config.OptionalSize({"max_position_embeddings"}),
                           "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kTypes = {"molmo"};
constexpr std::array<std::string_view, 1> kClasses = {"MolmoForCausalLM"};

}  // namespace

extern const Family kMolmoFamily = {
    .name = "molmo",
    .title = "Molmo",
    .doc = "OLMo's or Qwen2's decoder beside CLIP's tower; parameters only.",
    .model_types = kTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Molmo report (arXiv 2409.17146) and published files",
    .has_operations = false,
};

}  // namespace foretell
