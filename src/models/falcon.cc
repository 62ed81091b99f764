// Falcon: a decoder whose queries share few heads of keys and values, with
// attention beside the feed-forward, and in its RW form linear biases by
// distance.
//
// Source: transformers 5.23, models/falcon/modeling_falcon.py and
// configuration_falcon.py.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/alibi.h"
#include "models/layers/falcon_layer.h"
#include "models/layers/functional.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/made_mask.h"
#include "models/layers/positions.h"
#include "models/layers/read_falcon.h"

namespace foretell {
namespace {

class Falcon : public HeadedDecoder {
 public:
  Falcon(const Module& root, const FalconModelConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        config_(config),
        word_embeddings_(base_.Child("word_embeddings", RegionKind::kEmbedding),
                         config.vocabulary, config.layer.heads.hidden),
        layers_(MakeLayers(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.layer.heads.hidden,
              config.layer.norm_epsilon),
        rotary_emb_(base_.Child("rotary_emb"), config.rope) {
    fills_cache_ = config.fills_cache;
    AddHead(word_embeddings_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    if (!config_.failure.empty()) builder.Fail(config_.failure);
    const Tensor embedded = word_embeddings_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    FalconContext context;
    context.attention = inputs.attention;
    context.cache = &cache;
    const int64_t length = embedded.size(1);
    Tensor ones;
    if (config_.layer.has_alibi) {
      ones = Ones(builder, {embedded.size(0), length + inputs.past},
                  DType::kInt64);
      context.alibi = MakeAlibi(ones, embedded.dtype());
    }
    context.position_ids = PositionIds(builder, length, inputs.past);
    // The library that has masks of packed sequences makes this class none: the
    // kernel's own flag serves.
    const bool has_flag = builder.library().masks_packed_sequences &&
                          inputs.attention == "sdpa" &&
                          !config_.layer.has_alibi;
    if (!has_flag) {
      context.mask = MadeCausalMask(embedded, inputs.attention, inputs.past);
    }
    if (config_.layer.has_alibi) AddAlibi(context, embedded.dtype());
    Tensor hidden = embedded;
    context.rotary = rotary_emb_.Forward(hidden, context.position_ids);
    Tensor last;  // what the loop's last layer returned
    for (const FalconLayer& layer : layers_) {
      last = layer.Forward(hidden, context);
      hidden = last;
    }
    return ln_f_.Forward(hidden);
  }

 private:
  static std::vector<FalconLayer> MakeLayers(const Module& list,
                                             const FalconModelConfig& config) {
    std::vector<FalconLayer> layers;
    for (int64_t index = 0; index < config.layers; ++index) {
      layers.emplace_back(list.Child(index, RegionKind::kBlock), config.layer);
    }
    return layers;
  }

  // build_alibi_tensor: of a mask [b, t] the biases [b h, 1, t].
  Tensor MakeAlibi(const Tensor& mask, DType dtype) const {
    const int64_t heads = config_.layer.heads.heads;
    const std::vector<Tensor> slopes = AlibiSlopes(base_.builder(), heads);
    const auto count = [&] {
      Tensor places = SubScalar(Cumsum(mask, -1), 1);
      places = Mul(std::move(places), mask);
      return Unsqueeze(std::move(places), 1);
    };
    const Tensor places = count();
    const auto multiply = [&] {
      const Tensor column = To(Unsqueeze(slopes[0], 1), DType::kBFloat16);
      return Mul(column, places);
    };
    const Tensor alibi = multiply();
    const Tensor flat = Reshape(alibi, {mask.size(0) * heads, 1, mask.size(1)});
    return To(flat, dtype);
  }

  // The mask takes on the biases where it lets a key through.
  void AddAlibi(FalconContext& context, DType dtype) const {
    Builder& builder = base_.builder();
    const double smallest = SmallestOf(dtype);
    if (context.mask.dtype() == DType::kBool) {
      const auto add = [&] {
        const Tensor zero = Full(builder, {}, 0, dtype);
        const Tensor least = ScalarTensor(builder, smallest, dtype);
        return Where(context.mask, zero, least);
      };
      context.mask = add();
    }
    const int64_t batch = context.mask.size(0);
    const int64_t length = context.alibi.size(2);
    context.alibi = Reshape(context.alibi, {batch, -1, 1, length});
    const WholeHeads& heads = config_.layer.heads;
    const auto fill = [&] {
      const Tensor scaled = DivScalar(
          context.alibi, std::sqrt(static_cast<double>(heads.head_dim)));
      const Tensor hidden = LtScalar(context.mask, -1);
      return MaskedFill(scaled, hidden, smallest);
    };
    context.mask = fill();
  }

  FalconModelConfig config_;
  Embedding word_embeddings_;
  std::vector<FalconLayer> layers_;
  LayerNorm ln_f_;
  RotaryEmbedding rotary_emb_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const FalconModelConfig settings = ReadFalcon(config, class_name);
  auto model = std::make_unique<Falcon>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  const FalconConfig& layer = settings.layer;
  model->states.assign(static_cast<size_t>(settings.layers),
                       {LayerState::Kind::kFull, layer.kept_heads(),
                        layer.heads.head_dim, layer.heads.head_dim});
  model->context_length = RopeContext(settings.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"falcon"};
constexpr std::array<std::string_view, 5> kClasses = {
    "FalconForCausalLM", "FalconModel", "FalconForSequenceClassification",
    "FalconForTokenClassification", "FalconForQuestionAnswering"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 0>
    kOldNames = {};

}  // namespace

extern const Family kFalconFamily = {
    .name = "falcon",
    .title = "Falcon",
    .doc =
        "A decoder with one or few heads of keys and values, attention beside "
        "the feed-forward, and rotary positions or linear biases.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = kOldNames,
    .reads_mask = true,
    .build = Build,
};

}  // namespace foretell
