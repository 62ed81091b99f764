// OPT: GPT-2's order of layers with separate projections, learned positions
// that begin at two, and in its 350M form norms behind the branches and narrow
// embeddings.
//
// Source: transformers 5.23, models/opt/modeling_opt.py and
// configuration_opt.py.
#include <array>
#include <limits>
#include <optional>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/opt_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/whole_heads.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
// Rows of the table of positions ahead of the first.
constexpr int64_t kOffset = 2;

struct OptConfig {
  OptLayerConfig layer;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t embedding_width = 0;
  bool has_last_norm = true;
  double layer_drop = 0;
  bool ties = true;
  HeadConfig head;
};

class Opt : public HeadedDecoder {
 public:
  Opt(const Module& root, const OptConfig& config)
      : HeadedDecoder(root, "model", config.head),
        config_(config),
        decoder_(base_.Child("decoder")),
        embed_tokens_(decoder_.Child("embed_tokens", RegionKind::kEmbedding),
                      config.vocabulary, config.embedding_width),
        embed_positions_(
            decoder_.Child("embed_positions", RegionKind::kEmbedding),
            config.positions + kOffset, config.layer.heads.hidden) {
    const int64_t width = config.layer.heads.hidden;
    if (config.embedding_width != width) {
      project_out_.emplace(decoder_.Child("project_out", RegionKind::kLinear),
                           width, config.embedding_width, false);
      project_in_.emplace(decoder_.Child("project_in", RegionKind::kLinear),
                          config.embedding_width, width, false);
    }
    if (config.has_last_norm) {
      final_layer_norm_ = OptNorm(decoder_, "final_layer_norm", config.layer);
    }
    const Module list = decoder_.Child("layers");
    for (int64_t index = 0; index < config.layers; ++index) {
      layers_.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    AddHead(embed_tokens_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = decoder_.Enter();
    Builder& builder = decoder_.builder();
    if (config_.layer_drop > 0 && builder.execution().training) {
      builder.Fail("layerdrop leaves out layers at random");
    }
    const int64_t batch = inputs.input_ids.size(0);
    const int64_t length = inputs.input_ids.size(1);
    const Tensor input_ids = View(inputs.input_ids, {-1, length});
    Tensor embedded = embed_tokens_.Forward(input_ids);
    cache = StartCacheFor(inputs);
    const Tensor ones =
        Ones(builder, {batch, inputs.past + length}, DType::kFloat32);
    Tensor position_ids = Cumsum(ones, 1);
    position_ids = To(SubScalar(Mul(position_ids, ones), 1), DType::kInt64);
    position_ids = inputs.past > 0
                       ? Slice(position_ids, 1, inputs.past, kToTheEnd)
                       : Alias(position_ids);
    const Tensor mask =
        CausalMask(embedded, Tensor(), inputs.attention, 0, inputs.past);
    const Tensor positions = EmbedPositions(position_ids);
    if (project_in_) embedded = project_in_->Forward(embedded);
    Tensor hidden = Add(embedded, positions);
    for (const OptLayer& layer : layers_) {
      hidden = layer.Forward(hidden, mask, position_ids, inputs.attention,
                             cache.NextLayer());
    }
    if (final_layer_norm_) hidden = final_layer_norm_->Forward(hidden);
    if (project_out_) hidden = project_out_->Forward(hidden);
    return hidden;
  }

 private:
  // The sum is made by the module of the table.
  Tensor EmbedPositions(const Tensor& position_ids) const {
    const auto shifted = [&] {
      const Scope scope = embed_positions_.module.Enter();
      return AddScalar(position_ids, kOffset);
    };
    return embed_positions_.Forward(shifted());
  }

  OptConfig config_;
  Module decoder_;
  Embedding embed_tokens_;
  Embedding embed_positions_;
  std::optional<Linear> project_out_;
  std::optional<Linear> project_in_;
  std::optional<LayerNorm> final_layer_norm_;
  std::vector<OptLayer> layers_;
};

OptConfig ReadOpt(const ConfigView& config, std::string_view class_name) {
  OptConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"init_std", FieldKind::kFloat}});
  const int64_t hidden = config.Size({"hidden_size"}, 768);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  out.layer.heads =
      CheckWholeHeads(config, hidden, config.Size({"num_attention_heads"}, 12),
                      out.layers, "num_attention_heads");
  out.layer.inner = config.SizeOrZero({"ffn_dim"}, 3072);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50272);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 2048);
  out.embedding_width = SizeOrDerived(config, "word_embed_proj_dim", hidden);
  const std::string activation = config.Text({"activation_function"}, "relu");
  if (out.layers > 0) {
    out.layer.activation =
        ActivationNamed(config, "activation_function", activation);
  }
  out.layer.norms_before = config.Flag({"do_layer_norm_before"}, true);
  const bool removes = config.Flag({"_remove_final_layer_norm"}, false);
  out.has_last_norm = out.layer.norms_before && !removes;
  out.layer.bias = config.Flag({"enable_bias"}, true);
  if (!config.Flag({"layer_norm_elementwise_affine"}, true)) {
    out.layer.norm_terms = LayerNormTerms::kNone;
  }
  out.layer.dropout = ReadDropout(config, "dropout", 0.1);
  out.layer.attention_dropout = ReadDropout(config, "attention_dropout", 0);
  out.layer_drop = config.Real({"layerdrop"}, 0);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  CheckPadding(config, out.vocabulary, 1);
  const auto padding = config.Raw("pad_token_id") == nullptr
                           ? std::optional<int64_t>(1)
                           : config.OptionalInteger({"pad_token_id"});
  out.head = ReadHead(config, class_name, out.embedding_width, out.vocabulary,
                      padding);
  // Left by Metaseq's converter and older releases.
  config.Ignore({"activation_dropout", "prefix"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const OptConfig settings = ReadOpt(config, class_name);
  auto model = std::make_unique<Opt>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, settings.layer.heads.heads,
       settings.layer.heads.head_dim, settings.layer.heads.head_dim});
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"opt"};
constexpr std::array<std::string_view, 4> kClasses = {
    "OPTForCausalLM", "OPTModel", "OPTForSequenceClassification",
    "OPTForQuestionAnswering"};

}  // namespace

extern const Family kOptFamily = {
    .name = "opt",
    .title = "OPT",
    .doc =
        "A decoder with learned positions and an ungated feed-forward, each "
        "branch behind a LayerNorm or, in its 350M form, ahead of one.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .reads_mask = true,
    .build = Build,
};

}  // namespace foretell
