// Phi-3-small: products with biases, queries, keys and values from one of them
// group by group, a gated feed-forward from one, and LayerNorms.
//
// Source: the Phi-3 report (arXiv 2404.14219) and the published configuration
// and tensor names of microsoft/Phi-3-small-8k-instruct, whose header's total
// it reproduces. Does not model: the forward with its sparse layers.
#include <algorithm>
#include <array>

#include "models/family.h"
#include "models/layers/plain_decoder.h"

namespace foretell {
namespace {

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  PlainDecoderConfig decoder = ReadPlainDecoder(config, 100352);
  decoder.ties = config.Flag({"tie_word_embeddings"}, true);
  decoder.norm_bias = true;
  decoder.norm_name = "final_layernorm";
  // The products have biases, whatever attention_bias says.
  config.Ignore({"attention_bias",
                 "blocksparse_block_size",
                 "blocksparse_homo_head_pattern",
                 "blocksparse_num_local_blocks",
                 "blocksparse_triton_kernel_block_size",
                 "blocksparse_vert_stride",
                 "dense_attention_every_n_layers",
                 "embedding_dropout_prob",
                 "attention_dropout_prob",
                 "ffn_dropout_prob",
                 "gegelu_limit",
                 "gegelu_pad_to_256",
                 "mup_attn_multiplier",
                 "mup_embedding_multiplier",
                 "mup_use_scaling",
                 "mup_width_multiplier",
                 "pad_sequence_to_multiple_of_64",
                 "reorder_and_upcast_attn",
                 "rope_embedding_base",
                 "rope_position_scale",
                 "dummy_token_indices"});
  if (config.Has("ff_dim_multiplier")) {
    config.Problem("ff_dim_multiplier", "sets a width that is not known here",
                   "state ff_intermediate_size");
  }
  config.Ignore({"ff_dim_multiplier"});
  const int64_t intermediate = config.Size({"ff_intermediate_size"}, 14336);
  const AttentionConfig& heads = decoder.attention;
  const int64_t hidden = heads.hidden;
  const int64_t fused = (heads.heads + 2 * heads.kv_heads) * heads.head_dim;
  const auto make = [&](const TowerModule& layer, int64_t) {
    const TowerModule attention =
        layer.Child("self_attn", RegionKind::kAttention);
    attention.Linear("query_key_value", hidden, fused, true);
    attention.Linear("dense", heads.heads * heads.head_dim, hidden, true);
    // A buffer of every layer that its checkpoint holds.
    attention.Child("rotary_emb")
        .module()
        .Buffer("inv_freq", {std::max<int64_t>(heads.head_dim / 2, 1)},
                DType::kFloat32, /*persistent=*/true);
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("up_proj", hidden, 2 * intermediate, true);
    mlp.Linear("down_proj", intermediate, hidden, true);
    layer.LayerNorm("input_layernorm", hidden);
    layer.LayerNorm("post_attention_layernorm", hidden);
  };
  return MakePlainDecoder(config, root, class_name, decoder, make);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"phi3small"};
constexpr std::array<std::string_view, 2> kClasses = {"Phi3SmallForCausalLM",
                                                      "Phi3SmallModel"};

}  // namespace

extern const Family kPhi3SmallFamily = {
    .name = "phi3small",
    .title = "Phi-3-small",
    .doc =
        "Products with biases and every other layer sparse by blocks; "
        "Phi-3-small; parameters only.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Phi-3 report (arXiv 2404.14219) and published files",
};

}  // namespace foretell
