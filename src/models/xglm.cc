// XGLM: a multilingual decoder with scaled embeddings and positions from a
// table of sines.
//
// Source: transformers 5.23, models/xglm/modeling_xglm.py and
// configuration_xglm.py.
#include <array>
#include <cmath>
#include <optional>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/read_decoder.h"
#include "models/layers/xglm_layer.h"

namespace foretell {
namespace {

struct XglmModelConfig {
  XglmConfig layer;
  int64_t layers = 0;
  double layer_drop = 0;
  bool ties = true;
  bool is_encoder_decoder = false;  // its cache is another
  HeadConfig head;
};

class Xglm : public HeadedDecoder {
 public:
  Xglm(const Module& root, const XglmModelConfig& config)
      : HeadedDecoder(root, "model", config.head),
        config_(config),
        embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                      config.layer),
        embed_positions_(base_.Child("embed_positions"), config.layer),
        layers_(MakeLayers(base_.Child("layers"), config)),
        layer_norm_(base_.Child("layer_norm", RegionKind::kNorm),
                    config.layer.heads.hidden, 1e-5) {
    AddHead(embed_tokens_.module, embed_tokens_.weight, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    if (config_.layer_drop > 0 && builder.execution().training) {
      builder.Fail("layerdrop leaves out layers at random");
    }
    if (inputs.HasCache() && config_.is_encoder_decoder) {
      builder.Fail("the cache of an encoder-decoder is not modelled");
    }
    const Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    // The class knows no sdpa: who asks for it gets eager attention.
    const Tensor mask = CausalMask(embedded, Tensor(), "eager", 0, inputs.past);
    Tensor position_ids =
        ArangeFrom(builder, inputs.past, inputs.past + embedded.size(1));
    position_ids = Unsqueeze(position_ids, 0);
    const auto add = [&] {
      const Tensor rows = embed_positions_.Forward(position_ids, inputs.past);
      return Add(embedded, rows);
    };
    Tensor hidden = add();
    hidden = ApplyDropout(hidden, config_.layer.dropout);
    for (const XglmLayer& layer : layers_) {
      hidden = layer.Forward(hidden, mask, cache.NextLayer());
    }
    return layer_norm_.Forward(hidden);
  }

 private:
  static std::vector<XglmLayer> MakeLayers(const Module& list,
                                           const XglmModelConfig& config) {
    std::vector<XglmLayer> layers;
    for (int64_t index = 0; index < config.layers; ++index) {
      layers.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    return layers;
  }

  XglmModelConfig config_;
  XglmEmbedding embed_tokens_;
  XglmPositions embed_positions_;
  std::vector<XglmLayer> layers_;
  LayerNorm layer_norm_;
};

XglmModelConfig ReadXglm(const ConfigView& config,
                         std::string_view class_name) {
  XglmModelConfig out;
  XglmConfig& layer = out.layer;
  CheckCommonFields(config);
  CheckFields(config, {{"init_std", FieldKind::kFloat},
                       {"decoder_start_token_id", FieldKind::kWhole}});
  const int64_t hidden = config.Size({"hidden_size", "d_model"}, 1024);
  out.layers = config.Layers({"num_hidden_layers", "num_layers"}, 24);
  layer.heads = CheckWholeHeads(
      config, hidden,
      config.Size({"num_attention_heads", "attention_heads"}, 16), out.layers,
      "attention_heads");
  if (hidden == 2 || hidden == 3) {
    config.Find("model/positions", Severity::kBlock, "d_model",
                "a table of sines for one frequency",
                "the class divides by the number of frequencies less one",
                "choose a wider d_model");
  }
  layer.inner = config.SizeOrZero({"ffn_dim"}, 4096);
  layer.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 256008);
  layer.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 2048);
  if (config.Flag({"scale_embedding"}, true)) {
    layer.embedding_scale = std::sqrt(static_cast<double>(hidden));
  }
  const std::string activation = config.Text({"activation_function"}, "gelu");
  if (out.layers > 0) {
    layer.activation =
        ActivationNamed(config, "activation_function", activation);
  }
  layer.dropout = ReadDropout(config, "dropout", 0.1);
  layer.attention_dropout = ReadDropout(config, "attention_dropout", 0.1);
  layer.activation_dropout = ReadDropout(config, "activation_dropout", 0);
  layer.cross_attention = config.Flag({"add_cross_attention"}, false);
  out.layer_drop = config.Real({"layerdrop"}, 0);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  const ConfigValue* both = config.Raw("is_encoder_decoder");
  out.is_encoder_decoder = both != nullptr && both->AsBool().value_or(false);
  CheckPadding(config, layer.vocabulary, 1);
  out.head =
      ReadHead(config, class_name, hidden, layer.vocabulary, std::nullopt);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const XglmModelConfig settings = ReadXglm(config, class_name);
  auto model = std::make_unique<Xglm>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  const WholeHeads& heads = settings.layer.heads;
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, heads.heads, heads.head_dim, heads.head_dim});
  model->context_length = {settings.layer.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"xglm"};
constexpr std::array<std::string_view, 2> kClasses = {"XGLMForCausalLM",
                                                      "XGLMModel"};

}  // namespace

extern const Family kXglmFamily = {
    .name = "xglm",
    .title = "XGLM",
    .doc =
        "A decoder with scaled embeddings, positions from a table of sines "
        "and an ungated feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
