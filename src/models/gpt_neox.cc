// GPT-NeoX: the decoder of GPT-NeoX-20B, Pythia, Dolly and RedPajama-INCITE. A
// part of each head is turned, and attention and feed-forward both read the
// layer's input.
//
// Source: transformers 5.23, models/gpt_neox/modeling_gpt_neox.py and
// configuration_gpt_neox.py.
#include <array>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/neox_layer.h"
#include "models/layers/positions.h"
#include "models/layers/read_decoder.h"
#include "models/layers/rope.h"

namespace foretell {
namespace {

struct NeoxConfig {
  NeoxLayerConfig layer;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  bool ties = false;
  RopeConfig rope;
  HeadConfig head;
};

class GptNeox : public HeadedDecoder {
 public:
  GptNeox(const Module& root, const NeoxConfig& config, bool fills_cache)
      : HeadedDecoder(root, "gpt_neox", config.head),
        embed_in_(base_.Child("embed_in", RegionKind::kEmbedding),
                  config.vocabulary, config.layer.heads.hidden),
        emb_dropout_(base_.Child("emb_dropout"), config.layer.hidden_dropout),
        layers_(MakeLayers(base_.Child("layers"), config)),
        final_layer_norm_(base_.Child("final_layer_norm", RegionKind::kNorm),
                          config.layer.heads.hidden, config.layer.norm_epsilon),
        rotary_emb_(base_.Child("rotary_emb"), config.rope) {
    fills_cache_ = fills_cache;
    follows_mask = true;
    AddHead(embed_in_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    const Tensor embedded = embed_in_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    NeoxContext context;
    context.attention = inputs.attention;
    context.cache = &cache;
    context.position_ids =
        PositionIds(base_.builder(), embedded.size(1), inputs.past);
    // With a cache nobody looks for several sequences in a row.
    const auto make_mask = [&] {
      if (!inputs.attention_mask.empty()) {
        return CausalMaskOver(inputs.attention_mask, embedded, inputs.attention,
                              {.past = inputs.past});
      }
      return CausalMask(embedded,
                        cache.layers.empty() ? context.position_ids : Tensor(),
                        inputs.attention, 0, inputs.past);
    };
    context.mask = make_mask();
    Tensor hidden = emb_dropout_.Forward(embedded);
    context.rotary = rotary_emb_.Forward(hidden, context.position_ids);
    for (const NeoxLayer& layer : layers_) {
      hidden = layer.Forward(hidden, context);
    }
    return final_layer_norm_.Forward(hidden);
  }

 private:
  static std::vector<NeoxLayer> MakeLayers(const Module& list,
                                           const NeoxConfig& config) {
    std::vector<NeoxLayer> layers;
    for (int64_t index = 0; index < config.layers; ++index) {
      layers.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    return layers;
  }

  Embedding embed_in_;
  Dropout emb_dropout_;
  std::vector<NeoxLayer> layers_;
  LayerNorm final_layer_norm_;
  RotaryEmbedding rotary_emb_;
};

NeoxConfig ReadNeox(const ConfigView& config, std::string_view class_name) {
  NeoxConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_eps", FieldKind::kFloat},
                       {"is_decoder", FieldKind::kFlag},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  const int64_t hidden = config.Size({"hidden_size"}, 6144);
  out.layers = config.Layers({"num_hidden_layers"}, 44);
  // Refused as it loads, so without a layer too.
  out.layer.heads =
      CheckWholeHeads(config, hidden, config.Size({"num_attention_heads"}, 64),
                      config.config().is_loaded ? 0 : 1, "num_attention_heads");
  out.layer.inner = config.SizeOrZero({"intermediate_size"}, 24576);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50432);
  out.positions = config.Size({"max_position_embeddings"}, 2048);
  const std::string activation = config.Text({"hidden_act"}, "gelu");
  if (out.layers > 0) {
    out.layer.activation = ActivationNamed(config, "hidden_act", activation);
  }
  out.layer.norm_epsilon = config.Real({"layer_norm_eps"}, 1e-5);
  out.layer.attention_dropout = ReadDropout(config, "attention_dropout", 0);
  out.layer.hidden_dropout = ReadDropout(config, "hidden_dropout", 0);
  out.layer.bias = config.Flag({"attention_bias"}, true);
  out.layer.is_parallel = config.Flag({"use_parallel_residual"}, true);
  out.ties = config.Flag({"tie_word_embeddings"}, false);
  out.head = ReadHead(config, class_name, hidden, out.vocabulary,
                      config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.token_dropout = out.head.kind == Head::kTokenClassification
                               ? ReadDropout(config, "classifier_dropout", 0.1)
                               : 0.1;
  // Other classes' names of the dropouts, and a form of the layer of its own
  // kernels.
  config.Ignore({"attention_probs_dropout_prob", "hidden_dropout_prob",
                 "gpt_j_residual", "output_layer_parallelism"});
  // A head_dim, which is no key of the class, decides about the angles alone.
  const auto head_dim = config.OptionalSize({"head_dim"});
  out.rope =
      ReadRope(config, {.positions = out.positions,
                        .head_dim = head_dim.value_or(out.layer.heads.head_dim),
                        .head_dim_is_held = head_dim.has_value(),
                        .turns_part = true,
                        .default_part = 0.25,
                        .theta_key = "rotary_emb_base",
                        .part_key = "rotary_pct"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const NeoxConfig settings = ReadNeox(config, class_name);
  // The class for answers takes no use_cache: the file's value holds.
  const bool fills = config.Flag({"use_cache"}, true) &&
                     settings.head.kind == Head::kQuestionAnswering;
  auto model = std::make_unique<GptNeox>(root, settings, fills);
  model->stacks.push_back({"decoder", settings.layers});
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, settings.layer.heads.heads,
       settings.layer.heads.head_dim, settings.layer.heads.head_dim});
  model->context_length = RopeContext(settings.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gpt_neox"};
constexpr std::array<std::string_view, 5> kClasses = {
    "GPTNeoXForCausalLM", "GPTNeoXModel", "GPTNeoXForSequenceClassification",
    "GPTNeoXForTokenClassification", "GPTNeoXForQuestionAnswering"};

}  // namespace

extern const Family kGptNeoxFamily = {
    .name = "gpt_neox",
    .title = "GPT-NeoX",
    .doc =
        "A decoder that turns a part of each head, with one projection for "
        "queries, keys and values, and attention beside the feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
