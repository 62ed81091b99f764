// Llama 4: attention in chunks but for every fourth layer,
// one of many experts beside a shared one in all layers or in turn, and a
// tower whose patches are shuffled together.
//
// Source: transformers 5.23, models/llama4/modeling_llama4.py and
// configuration_llama4.py.
// Does not model a cache, nor sequences as long as a chunk.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/chunked_mask.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/linear.h"
#include "models/layers/llama4_layer.h"
#include "models/layers/positions.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/rope.h"
#include "models/layers/tower_module.h"
#include "models/whole_text.h"

namespace foretell {
namespace {

void Refuse(const ConfigView& config, std::string_view key, std::string what,
            std::string fix) {
  config.Find("model/layer-types", Severity::kBlock, key, std::move(what),
              "the class fails as the configuration is loaded or the model is "
              "built",
              std::move(fix));
}

struct Llama4Config {
  AttentionConfig attention;
  Llama4LayerConfig layer;        // what all of them share
  std::vector<bool> has_experts;  // layer by layer
  std::vector<bool> turns;
  std::vector<std::string> kinds;
  std::vector<int64_t> windows;  // a chunk's tokens; 0: all
  std::optional<int64_t> chunk;
  RopeConfig rope;
};

std::vector<bool> ReadExpertLayers(const ConfigView& config, int64_t layers) {
  std::vector<bool> out(static_cast<size_t>(layers));
  const auto listed = config.IntegerList({"moe_layers"});
  const int64_t step = config.Size({"interleave_moe_layer_step"}, 1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    out[static_cast<size_t>(layer)] =
        listed ? std::ranges::find(*listed, layer) != listed->end()
               : (layer + 1) % step == 0;
  }
  return out;
}

// Layers without a rope see all tokens, the others a chunk of them.
std::vector<std::string> ReadKinds(const ConfigView& config, int64_t layers,
                                   std::vector<bool>& turns) {
  auto turned = config.IntegerList({"no_rope_layers"});
  const int64_t interval = config.Size({"no_rope_layer_interval"}, 4);
  if (!turned || turned->empty()) {
    turned.emplace();
    for (int64_t layer = 0; layer < layers; ++layer) {
      turned->push_back((layer + 1) % interval == 0 ? 0 : 1);
    }
  }
  std::vector<std::string> kinds = ReadLayerTypes(config, layers);
  const auto listed = static_cast<int64_t>(turned->size());
  // Kinds that are not stated are as many as these.
  if (listed < layers || (kinds.empty() && listed > layers)) {
    Refuse(config, "no_rope_layers",
           fmt::format("{} layers are listed, and there are {}", turned->size(),
                       layers),
           "list each layer, or remove the key");
  }
  for (const int64_t one : *turned) turns.push_back(one != 0);
  turns.resize(static_cast<size_t>(layers), true);
  if (!kinds.empty()) return kinds;
  for (const int64_t one : *turned) {
    kinds.emplace_back(one != 0 ? "chunked_attention" : "full_attention");
  }
  return kinds;
}

Llama4Config ReadConfig(const ConfigView& config, const DecoderKeys& keys,
                        AttentionConfig attention) {
  Llama4Config out;
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  ProductOf(config, "num_attention_heads", attention.heads, attention.head_dim);
  out.attention = attention;
  Llama4LayerConfig& layer = out.layer;
  layer.attention = attention;
  layer.norm_epsilon = keys.decoder.norm_epsilon;
  layer.dense = config.Size({"intermediate_size_mlp"}, 16384);
  layer.experts.hidden = keys.decoder.hidden;
  layer.experts.intermediate = keys.intermediate;
  layer.experts.activation = keys.activation;
  layer.experts.experts = config.Size({"num_local_experts"}, 16);
  layer.experts.per_token = config.Size({"num_experts_per_tok"}, 1);
  CheckExpertsPerToken(config, layer.experts);
  layer.norms = config.Flag({"use_qk_norm"}, true);
  layer.scales = config.Flag({"attn_temperature_tuning"}, true);
  layer.floor = static_cast<double>(config.Whole({"floor_scale"}, 8192));
  layer.scale = config.Real({"attn_scale"}, 0.1);
  out.has_experts = ReadExpertLayers(config, keys.decoder.layers);
  out.chunk = config.Raw("attention_chunk_size") == nullptr
                  ? std::optional(config.Size({"attention_chunk_size"}, 8192))
                  : config.OptionalSize({"attention_chunk_size"});
  out.kinds = ReadKinds(config, keys.decoder.layers, out.turns);
  for (const std::string& kind : out.kinds) {
    out.windows.push_back(kind == "chunked_attention" ? out.chunk.value_or(0)
                                                      : 0);
  }
  out.windows.resize(static_cast<size_t>(keys.decoder.layers));
  out.kinds.resize(static_cast<size_t>(keys.decoder.layers));
  out.rope = ReadRope(config, {.default_theta = 500000,
                               .positions = keys.positions,
                               .head_dim = attention.head_dim,
                               .layer_types = out.kinds});
  out.rope.is_complex = true;
  CheckFields(config, {{"attn_scale", FieldKind::kFloat},
                       {"output_router_logits", FieldKind::kFlag},
                       {"router_aux_loss_coef", FieldKind::kFloat},
                       {"router_jitter_noise", FieldKind::kFloat}});
  return out;
}

class Llama4Decoder : public HeadedDecoder {
 public:
  Llama4Decoder(const Module& root, const Llama4Config& config,
                const DecoderConfig& keys, bool in_whole)
      : HeadedDecoder(root, "model", keys.head),
        in_whole_(in_whole),
        chunk_(config.chunk),
        embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                      keys.vocabulary, keys.hidden),
        layers_(MakeLayers(base_.Child("layers"), config, keys)),
        norm_(base_.Child("norm", RegionKind::kNorm), keys.hidden,
              keys.norm_epsilon),
        rotary_emb_(base_.Child("rotary_emb"), config.rope) {
    for (const int64_t window : config.windows) {
      states.push_back(StateOf(config.attention, window));
    }
    AddHead(embed_tokens_, keys.tie_embeddings);
    stacks.push_back({"decoder", keys.layers});
    context_length = RopeContext(config.rope);
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    Tensor out = HeadedDecoder::Forward(inputs);
    embedded_ = Tensor();
    return out;
  }

 private:
  static std::vector<Llama4Layer> MakeLayers(const Module& list,
                                             const Llama4Config& config,
                                             const DecoderConfig& keys) {
    std::vector<Llama4Layer> layers;
    for (int64_t index = 0; index < keys.layers; ++index) {
      const auto at = static_cast<size_t>(index);
      Llama4LayerConfig layer = config.layer;
      layer.turns = config.turns[at];
      layer.chunked = config.kinds[at] == "chunked_attention";
      layer.has_experts = config.has_experts[at];
      layers.emplace_back(list.Child(index, RegionKind::kBlock), layer);
    }
    return layers;
  }

  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& /*cache*/) const override {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    if (const char* why = WhyNot(inputs)) {
      builder.Fail(why);
      return inputs.input_ids;
    }
    const Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
    if (in_whole_) embedded_ = embedded;
    const Tensor position_ids =
        PositionIds(builder, inputs.input_ids.size(1), 0);
    const Tensor whole =
        CausalMask(embedded, position_ids, inputs.attention, 0);
    const Tensor chunked = ChunkedMask(embedded, position_ids, inputs.attention,
                                       chunk_.value_or(1));
    Tensor hidden = embedded;
    const Tensor turns = rotary_emb_.Forward(hidden, position_ids).first;
    for (const Llama4Layer& layer : layers_) {
      hidden = layer.Forward(hidden, turns, layer.chunked ? chunked : whole,
                             position_ids, inputs.attention);
    }
    return norm_.Forward(hidden);
  }

  // Null where the forward is followed.
  const char* WhyNot(const ForwardInputs& inputs) const {
    if (inputs.HasCache() || inputs.fills_cache) {
      return "a cache of chunks is not modelled";
    }
    if (!chunk_) {
      return "the class builds a mask of chunks and refuses a null "
             "attention_chunk_size";
    }
    if (inputs.input_ids.size(1) >= *chunk_) {
      return "a sequence as long as a chunk is not modelled";
    }
    return nullptr;
  }

  bool in_whole_;
  // What the class that holds this one names until it returns.
  mutable Tensor embedded_;
  std::optional<int64_t> chunk_;
  Embedding embed_tokens_;
  std::vector<Llama4Layer> layers_;
  Llama4Norm norm_;
  RotaryEmbedding rotary_emb_;
};

std::unique_ptr<Model> BuildAs(const ConfigView& config, const Module& root,
                               std::string_view class_name, bool in_whole) {
  const AttentionConfig attention =
      ReadHeads(config, {.hidden = 5120, .heads = 40});
  const DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                       {.vocabulary = 202048,
                                        .intermediate = 8192,
                                        .positions = 131072,
                                        .norm_epsilon = 1e-5,
                                        .layers = 48});
  const Llama4Config read = ReadConfig(config, keys, attention);
  return std::make_unique<Llama4Decoder>(root, read, keys.decoder, in_whole);
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  return BuildAs(config, root, class_name, false);
}

constexpr std::array<std::string_view, 1> kTextTypes = {"llama4_text"};
constexpr std::array<std::string_view, 2> kTextClasses = {"Llama4ForCausalLM",
                                                          "Llama4TextModel"};

}  // namespace

std::unique_ptr<Model> BuildLlama4InWhole(const ConfigView& config,
                                          const Module& root,
                                          std::string_view class_name) {
  return BuildAs(config, root, class_name, true);
}

extern const Family kLlama4Family = {
    .name = "llama4",
    .title = "Llama 4",
    .doc =
        "Attention in chunks but for every fourth layer, and experts beside a "
        "shared one.",
    .model_types = kTextTypes,
    .classes = kTextClasses,
    .old_names = {},
    .build = BuildText,
};

}  // namespace foretell
