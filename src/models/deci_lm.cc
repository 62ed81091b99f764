// DeciLM as Nemotron uses it: Llama's layers, of which each states how many
// query heads share a key head and how wide its feed-forward is, and may lack
// either.
//
// Source: the Puzzle report (arXiv 2411.19146) and the published configurations
// and tensor names of nvidia/Llama-3_3-Nemotron-Super-49B-v1, whose header's
// total it reproduces. Does not model: the forward.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

enum class Part : uint8_t { kWhole, kLinear, kNone };

struct Block {
  Part attention = Part::kWhole;
  Part mlp = Part::kWhole;
  int64_t kv_heads = 0;
  int64_t intermediate = 0;
};

Part ReadPart(const ConfigView& part) {
  part.Ignore({"num_sink_tokens", "sparsify", "unshifted_sink",
               "use_prefill_window_in_sink_attention", "window_length",
               "is_mamba", "mamba", "llama4", "moe", "gated", "hidden_act"});
  if (part.Flag({"no_op"}, false)) return Part::kNone;
  return part.Flag({"replace_with_linear"}, false) ? Part::kLinear
                                                   : Part::kWhole;
}

// Two thirds of the multiple, rounded up to 256.
int64_t WidthOf(const ConfigView& mlp, double multiple, int64_t hidden) {
  constexpr double kMost = 1024;  // past any published one's by two orders
  if (!(multiple > 0) || multiple > kMost) {
    mlp.Problem("ffn_mult", "is no multiple between 0 and 1024",
                "the published models state up to 6");
    return 1;
  }
  constexpr int64_t kStep = 256;
  const auto wide =
      static_cast<int64_t>(2 * multiple * static_cast<double>(hidden) / 3);
  return (wide + kStep - 1) / kStep * kStep;
}

Block ReadBlock(const ConfigView& block, const AttentionConfig& attention) {
  Block out;
  const ConfigView heads = block.Nested("attention");
  out.attention = ReadPart(heads);
  const auto group = heads.OptionalSize({"n_heads_in_group"});
  if (out.attention == Part::kWhole) {
    if (!group || *group == 0 || attention.heads % *group != 0) {
      heads.Problem("n_heads_in_group", "is no divisor of num_attention_heads",
                    "write how many query heads share a key head");
    } else {
      out.kv_heads = attention.heads / *group;
    }
  }
  const ConfigView mlp = block.Nested("ffn");
  out.mlp = ReadPart(mlp);
  const auto multiple = mlp.OptionalReal({"ffn_mult"});
  const auto width = mlp.OptionalSize({"intermediate_size"});
  if (out.mlp == Part::kWhole) {
    out.intermediate =
        width ? *width : WidthOf(mlp, multiple.value_or(0), attention.hidden);
  }
  return out;
}

std::vector<Block> ReadBlocks(const ConfigView& config,
                              const PlainDecoderConfig& decoder) {
  std::vector<Block> out;
  const ConfigValue* list = config.Raw("block_configs");
  if (list == nullptr || !list->is_array() ||
      static_cast<int64_t>(list->items().size()) < decoder.layers) {
    config.Problem("block_configs", "does not describe every layer",
                   "write one object for each of num_hidden_layers");
    return std::vector<Block>(static_cast<size_t>(decoder.layers));
  }
  for (int64_t i = 0; i < decoder.layers; ++i) {
    const ConfigView block =
        config.NestedOr("_no_such_key", &list->items()[static_cast<size_t>(i)]);
    out.push_back(ReadBlock(block, decoder.attention));
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  PlainDecoderConfig decoder = ReadPlainDecoder(config, 128256);
  decoder.ties = config.Flag({"tie_word_embeddings"}, false);
  const bool bias = config.Flag({"attention_bias"}, false);
  // Each layer states its own.
  config.Ignore({"num_key_value_heads", "intermediate_size", "mlp_bias"});
  const std::vector<Block> blocks = ReadBlocks(config, decoder);
  const int64_t hidden = decoder.attention.hidden;
  const auto make = [&](const TowerModule& layer, int64_t index) {
    const Block& block = blocks[static_cast<size_t>(index)];
    AttentionConfig heads = decoder.attention;
    heads.kv_heads = block.kv_heads;
    if (block.attention != Part::kNone) {
      layer.RmsNorm("input_layernorm", hidden);
      const TowerModule at = layer.Child("self_attn", RegionKind::kAttention);
      if (block.attention == Part::kLinear) {
        at.Linear("linear_attn", hidden, hidden, false);
      } else {
        AddPlainAttention(at, heads, hidden, bias);
      }
    }
    if (block.mlp != Part::kNone) {
      layer.RmsNorm("post_attention_layernorm", hidden);
      const TowerModule at = layer.Child("mlp", RegionKind::kMlp);
      if (block.mlp == Part::kLinear) {
        at.Linear("linear_mlp", hidden, hidden, false);
      } else {
        AddPlainMlp(at, hidden, block.intermediate);
      }
    }
  };
  auto model = MakePlainDecoder(config, root, class_name, decoder, make);
  for (size_t i = 0; i < blocks.size(); ++i) {
    LayerState& state = model->states[i];
    if (blocks[i].attention != Part::kWhole) state = LayerState();
    if (blocks[i].attention == Part::kWhole) state.heads = blocks[i].kv_heads;
  }
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"nemotron-nas"};
constexpr std::array<std::string_view, 2> kClasses = {"DeciLMForCausalLM",
                                                      "DeciLMModel"};

}  // namespace

extern const Family kDeciLmFamily = {
    .name = "deci_lm",
    .title = "DeciLM",
    .doc =
        "Llama's layers, each with its own width and heads or without one of "
        "its halves; Llama-Nemotron Super and Ultra; parameters only.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by = "the Puzzle report (arXiv 2411.19146) and published files",
};

}  // namespace foretell
