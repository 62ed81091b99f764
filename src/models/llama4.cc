// Llama 4: parameters only. Attention in chunks but for every fourth layer,
// one of many experts beside a shared one in all layers or in turn, and a
// tower whose patches are shuffled together.
//
// Source: transformers 5.23, models/llama4/modeling_llama4.py and
// configuration_llama4.py.
// Does not model: the forward.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/composite.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/linear.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/rope.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

void Refuse(const ConfigView &config, std::string_view key, std::string what,
            std::string fix) {
  config.Find("model/layer-types", Severity::kBlock, key, std::move(what),
              "the class fails as the configuration is loaded or the model is "
              "built",
              std::move(fix));
}

struct Llama4Config {
  AttentionConfig attention;
  ExpertsConfig experts;
  int64_t dense = 0;              // of a feed-forward without experts
  std::vector<bool> has_experts;  // layer by layer
  std::vector<int64_t> windows;   // a chunk's tokens; 0: all
  RopeConfig rope;
};

std::vector<bool> ReadExpertLayers(const ConfigView &config, int64_t layers) {
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
std::vector<std::string> ReadKinds(const ConfigView &config, int64_t layers) {
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
  if (!kinds.empty()) return kinds;
  for (const int64_t turns : *turned) {
    kinds.emplace_back(turns != 0 ? "chunked_attention" : "full_attention");
  }
  return kinds;
}

Llama4Config ReadConfig(const ConfigView &config, const DecoderKeys &keys,
                        AttentionConfig attention) {
  Llama4Config out;
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  ProductOf(config, "num_attention_heads", attention.heads, attention.head_dim);
  out.attention = attention;
  out.dense = config.Size({"intermediate_size_mlp"}, 16384);
  out.experts.hidden = keys.decoder.hidden;
  out.experts.intermediate = keys.intermediate;
  out.experts.experts = config.Size({"num_local_experts"}, 16);
  out.experts.per_token = config.Size({"num_experts_per_tok"}, 1);
  CheckExpertsPerToken(config, out.experts);
  out.has_experts = ReadExpertLayers(config, keys.decoder.layers);
  const auto chunk =
      config.Raw("attention_chunk_size") == nullptr
          ? config.Size({"attention_chunk_size"}, 8192)
          : config.OptionalSize({"attention_chunk_size"}).value_or(0);
  const std::vector<std::string> kinds = ReadKinds(config, keys.decoder.layers);
  for (const std::string &kind : kinds) {
    out.windows.push_back(kind == "chunked_attention" ? chunk : 0);
  }
  out.windows.resize(static_cast<size_t>(keys.decoder.layers));
  out.rope = ReadRope(config, {.default_theta = 500000,
                               .positions = keys.positions,
                               .head_dim = attention.head_dim,
                               .layer_types = kinds});
  CheckFields(config, {{"use_qk_norm", FieldKind::kFlag},
                       {"attn_temperature_tuning", FieldKind::kFlag},
                       {"floor_scale", FieldKind::kWhole},
                       {"attn_scale", FieldKind::kFloat},
                       {"output_router_logits", FieldKind::kFlag},
                       {"router_aux_loss_coef", FieldKind::kFloat},
                       {"router_jitter_noise", FieldKind::kFloat}});
  return out;
}

void AddMlp(const TowerModule &at, int64_t hidden, int64_t intermediate) {
  at.Linear("gate_proj", hidden, intermediate, false);
  at.Linear("up_proj", hidden, intermediate, false);
  at.Linear("down_proj", intermediate, hidden, false);
}

void AddExperts(const TowerModule &at, const ExpertsConfig &config) {
  const Module experts = at.Child("experts", RegionKind::kExperts).module();
  const ParameterId wide = experts.Parameter(
      "gate_up_proj", {config.experts, config.hidden, 2 * config.intermediate});
  const ParameterId narrow = experts.Parameter(
      "down_proj", {config.experts, config.intermediate, config.hidden});
  for (const ParameterId weight : {wide, narrow}) {
    experts.builder().MarkExperts(weight, config.experts, config.per_token);
  }
  at.Child("router", RegionKind::kRouter)
      .Parameter("weight", {config.experts, config.hidden});
  AddMlp(at.Child("shared_expert", RegionKind::kMlp), config.hidden,
         config.intermediate);
}

void AddLayer(const TowerModule &at, const Llama4Config &config,
              bool has_experts) {
  const AttentionConfig &heads = config.attention;
  const int64_t width = heads.heads * heads.head_dim;
  const int64_t narrow = heads.kv_heads * heads.head_dim;
  const TowerModule attention = at.Child("self_attn", RegionKind::kAttention);
  attention.Linear("q_proj", heads.hidden, width, heads.qkv_bias);
  attention.Linear("k_proj", heads.hidden, narrow, heads.qkv_bias);
  attention.Linear("v_proj", heads.hidden, narrow, heads.qkv_bias);
  attention.Linear("o_proj", width, heads.hidden, heads.qkv_bias);
  const TowerModule forward = at.Child("feed_forward", RegionKind::kMlp);
  if (has_experts) {
    AddExperts(forward, config.experts);
  } else {
    AddMlp(forward, heads.hidden, config.dense);
  }
  at.RmsNorm("input_layernorm", heads.hidden);
  at.RmsNorm("post_attention_layernorm", heads.hidden);
}

class Llama4Decoder : public Model {
 public:
  Llama4Decoder(const Module &root, const Llama4Config &config,
                const DecoderConfig &keys)
      : root_(root) {
    const bool has_head = keys.head.kind == Head::kCausalLm;
    const Module base = has_head ? root.Child("model") : root;
    const Embedding embed(base.Child("embed_tokens", RegionKind::kEmbedding),
                          keys.vocabulary, keys.hidden);
    embed.module.MarkInputEmbeddings();
    const TowerModule list = TowerModule(base).Child("layers");
    for (int64_t index = 0; index < keys.layers; ++index) {
      const auto at = static_cast<size_t>(index);
      AddLayer(list.Child(index), config, config.has_experts[at]);
      states.push_back(StateOf(config.attention, config.windows[at]));
    }
    TowerModule(base).RmsNorm("norm", keys.hidden);
    const RotaryEmbedding rotary(base.Child("rotary_emb"), config.rope);
    if (has_head) {
      const Linear head(root.Child("lm_head", RegionKind::kHead), keys.hidden,
                        keys.vocabulary, false);
      head.module.MarkOutputEmbeddings();
      if (keys.tie_embeddings) root.builder().Tie(head.weight, embed.weight);
    }
    stacks.push_back({"decoder", keys.layers});
    context_length = RopeContext(config.rope);
  }

  Tensor Forward(const ForwardInputs &inputs) override {
    root_.builder().Fail(
        "Llama 4's operations are not modelled: only its parameters and what "
        "generation keeps");
    return inputs.input_ids;
  }

 private:
  Module root_;
};

std::unique_ptr<Model> BuildText(const ConfigView &config, const Module &root,
                                 std::string_view class_name) {
  const AttentionConfig attention =
      ReadHeads(config, {.hidden = 5120, .heads = 40});
  const DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                       {.vocabulary = 202048,
                                        .intermediate = 8192,
                                        .positions = 131072,
                                        .norm_epsilon = 1e-5,
                                        .layers = 48});
  const Llama4Config read = ReadConfig(config, keys, attention);
  return std::make_unique<Llama4Decoder>(root, read, keys.decoder);
}

constexpr std::array<std::string_view, 1> kTextTypes = {"llama4_text"};
constexpr std::array<std::string_view, 2> kTextClasses = {"Llama4ForCausalLM",
                                                          "Llama4TextModel"};

}  // namespace

extern const Family kLlama4Family = {
    .name = "llama4",
    .title = "Llama 4",
    .doc =
        "Attention in chunks but for every fourth layer, and experts beside a "
        "shared one; parameters only.",
    .model_types = kTextTypes,
    .classes = kTextClasses,
    .old_names = {},
    .build = BuildText,
    .has_operations = false,
};

}  // namespace foretell
