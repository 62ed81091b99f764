// DeepSeek-V3.2 and GLM-5: latent attention that meets only the keys that a
// small attention of its own, the indexer, has chosen. GLM-5's layers may take
// the choice of a layer before them.
//
// Source: transformers 5.23, models/{deepseek_v32,glm_moe_dsa}/modeling_*.py
// and configuration_*.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/latent_attention.h"
#include "models/layers/latent_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_mlp_types.h"

namespace foretell {
namespace {

// Where the two classes differ.
struct SparseClass {
  LatentDefaults latent;
  DecoderDefaults decoder;
  SharedExpertsDefaults experts;
  IndexerConfig indexer = {};
  bool shares_chosen = false;
};

IndexerConfig ReadIndexer(const ConfigView& config,
                          const LatentConfig& attention,
                          const IndexerConfig& defaults) {
  IndexerConfig out = defaults;
  out.heads = config.Size({"index_n_heads"}, defaults.heads);
  out.head_dim = config.Size({"index_head_dim"}, defaults.head_dim);
  out.top_k = config.SizeOrZero({"index_topk"}, defaults.top_k);
  if (out.head_dim >= attention.rope_dim) return out;
  config.Find("model/indexer", Severity::kBlock, "index_head_dim",
              fmt::format("index_head_dim {} is less than qk_rope_head_dim {}",
                          out.head_dim, attention.rope_dim),
              "the indexer turns so many of its dims; the forward fails",
              "choose wider heads of the indexer");
  return out;
}

std::vector<bool> ByPattern(const ConfigView& config) {
  std::vector<bool> out;
  const ConfigValue* pattern = config.Raw("index_topk_pattern");
  const auto text = pattern->AsString();
  if (!text) {
    const auto types = config.TextList({"index_topk_pattern"});
    for (const std::string& type : types.value_or(std::vector<std::string>())) {
      out.push_back(type != "shared");
    }
    return out;
  }
  for (const char letter : *text) out.push_back(letter != 'S');
  if (text->find_first_not_of("FS") != std::string::npos) {
    config.Find("model/indexer", Severity::kBlock, "index_topk_pattern",
                "index_topk_pattern has letters other than F and S",
                "the class refuses the configuration as it loads",
                "write F for a layer with an indexer and S for one without");
  }
  return out;
}

// Which layers have an indexer of their own.
std::vector<bool> ReadIndexed(const ConfigView& config, int64_t layers) {
  const auto types = config.TextList({"indexer_types"});
  std::vector<bool> out;
  if (types) {
    for (const std::string& type : *types) out.push_back(type != "shared");
    config.Ignore(
        {"index_topk_freq", "index_skip_topk_offset", "index_topk_pattern"});
  } else if (config.Has("index_topk_pattern")) {
    out = ByPattern(config);
    config.Ignore({"index_topk_freq", "index_skip_topk_offset"});
  } else {
    const int64_t every =
        std::max<int64_t>(1, config.Whole({"index_topk_freq"}, 1));
    const int64_t offset = config.Whole({"index_skip_topk_offset"}, 2);
    config.Ignore({"index_topk_pattern"});
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.push_back(std::max<int64_t>(layer - offset + 1, 0) % every == 0);
    }
  }
  if (!types) {
    std::vector<ConfigValue> held;
    for (const bool full : out) {
      held.push_back(ConfigValue::String(full ? "full" : "shared"));
    }
    config.Derive("indexer_types", ConfigValue::Array(std::move(held)));
  }
  if (out.size() < static_cast<size_t>(layers)) {
    config.Find("model/layer-types", Severity::kBlock, "indexer_types",
                fmt::format("the kinds of indexers name {} layers, and there "
                            "are {}",
                            out.size(), layers),
                "the class fails as it builds the first layer without a name",
                "name each layer, or remove the key");
  }
  out.resize(static_cast<size_t>(layers), true);
  return out;
}

std::unique_ptr<Model> BuildSparse(const ConfigView& config, const Module& root,
                                   std::string_view class_name,
                                   const SparseClass& given) {
  LatentConfig attention = ReadLatent(config, given.latent);
  attention.is_sparse = true;
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden, given.decoder);
  DecoderConfig& decoder = keys.decoder;
  decoder.needs_mask = true;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = ReadTurnedDim(config, attention, true)});
  CheckLatentRope(config, decoder.rope, attention);
  const SharedExpertsKeys experts =
      ReadSharedExperts(config, "num_local_experts", decoder.hidden,
                        keys.activation, given.experts);
  const std::vector<bool> sparse = ReadMlpTypes(
      config, decoder.layers, config.Whole({"first_k_dense_replace"}, 3));
  const IndexerConfig indexer = ReadIndexer(config, attention, given.indexer);
  const std::vector<bool> indexed =
      given.shares_chosen
          ? ReadIndexed(config, decoder.layers)
          : std::vector<bool>(static_cast<size_t>(decoder.layers), true);
  ReadLayerTypes(config, decoder.layers);
  CheckFields(config, {{"mlp_bias", FieldKind::kFlag},
                       {"head_dim", FieldKind::kWhole}});
  // Worked out from the parts of a head, or settings of other libraries' code:
  // the class always turns so, routes so, and keeps no layer for more tokens.
  config.Ignore({"qk_head_dim", "ep_size", "moe_layer_freq", "scoring_func",
                 "topk_method", "num_nextn_predict_layers", "pretraining_tp",
                 "rope_interleave", "indexer_rope_interleave",
                 "moe_router_dtype", "index_share_for_mtp_iteration"});

  const auto attention_of = [&](int64_t layer) {
    LatentConfig own = attention;
    if (indexed[static_cast<size_t>(layer)]) own.indexer = indexer;
    return own;
  };
  using Layer = LatentLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        return Layer(at, attention_of(index), decoder.norm_epsilon,
                     sparse[static_cast<size_t>(index)], experts,
                     keys.intermediate, given.shares_chosen);
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention_of(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

std::unique_ptr<Model> BuildV32(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  return BuildSparse(
      config, root, class_name,
      {.latent = {.kv_heads_may_be_null = false, .q_rank_may_be_null = false},
       .decoder = {.vocabulary = 129280,
                   .intermediate = 18432,
                   .positions = 163840,
                   .layers = 61},
       .experts = {.takes_num_experts = true, .corrects_in_float = true}});
}

std::unique_ptr<Model> BuildGlm(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  return BuildSparse(config, root, class_name,
                     {.latent = {.hidden = 6144,
                                 .heads = 64,
                                 .kv_heads = 64,
                                 .kv_heads_may_be_null = false,
                                 .q_rank = 2048,
                                 .q_rank_may_be_null = false,
                                 .nope_dim = 192,
                                 .value_dim = 256},
                      .decoder = {.vocabulary = 154880,
                                  .intermediate = 12288,
                                  .positions = 202752,
                                  .norm_epsilon = 1e-5,
                                  .layers = 78},
                      .experts = {.groups = 1,
                                  .kept = 1,
                                  .takes_num_experts = true,
                                  .corrects_in_float = true},
                      .indexer = {.heads = 32, .interleaves = true},
                      .shares_chosen = true});
}

constexpr std::array<std::string_view, 1> kV32Types = {"deepseek_v32"};
constexpr std::array<std::string_view, 2> kV32Classes = {
    "DeepseekV32ForCausalLM", "DeepseekV32Model"};
constexpr std::array<std::string_view, 1> kGlmTypes = {"glm_moe_dsa"};
constexpr std::array<std::string_view, 2> kGlmClasses = {"GlmMoeDsaForCausalLM",
                                                         "GlmMoeDsaModel"};

}  // namespace

extern const Family kDeepseekV32Family = {
    .name = "deepseek_v32",
    .title = "DeepSeek-V3.2",
    .doc =
        "DeepSeek-V3 whose queries meet only the keys that an indexer in each "
        "layer has chosen.",
    .model_types = kV32Types,
    .classes = kV32Classes,
    .old_names = {},
    .build = BuildV32,
};

extern const Family kGlmMoeDsaFamily = {
    .name = "glm_moe_dsa",
    .title = "GLM-5",
    .doc =
        "DeepSeek-V3.2's attention and experts with GLM's sizes; some layers "
        "take the keys that an indexer before them has chosen.",
    .model_types = kGlmTypes,
    .classes = kGlmClasses,
    .old_names = {},
    .build = BuildGlm,
};

}  // namespace foretell
