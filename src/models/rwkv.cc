// RWKV-4: blocks without attention, whose sums over earlier tokens decay with
// each further one.
//
// Source: transformers 5.23, models/rwkv/modeling_rwkv.py and
// configuration_rwkv.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/read_decoder.h"
#include "models/layers/rwkv_block.h"

namespace foretell {
namespace {

struct RwkvSettings {
  RwkvConfig block;
  int64_t vocabulary = 0;
  int64_t layers = 0;
  int64_t rescale_every = 0;
  bool tie_embeddings = false;
};

class Rwkv : public Model {
 public:
  Rwkv(const Module& root, const RwkvSettings& settings, bool has_head)
      : settings_(settings),
        base_(has_head ? root.Child("rwkv") : root),
        embeddings_(base_.Child("embeddings", RegionKind::kEmbedding),
                    settings.vocabulary, settings.block.hidden),
        blocks_(MakeBlocks(base_.Child("blocks"), settings)),
        ln_out_(base_.Child("ln_out", RegionKind::kNorm), settings.block.hidden,
                1e-5) {
    embeddings_.module.MarkInputEmbeddings();
    if (!has_head) return;
    head_.emplace(root.Child("head", RegionKind::kHead), settings.block.hidden,
                  settings.vocabulary, false);
    head_->module.MarkOutputEmbeddings();
    if (settings.tie_embeddings) {
      root.builder().Tie(head_->weight, embeddings_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    RwkvState state;
    const Tensor hidden = RunBase(inputs, state);
    for (const Tensor& part : state) inputs.Return(part);
    if (!head_) return hidden;
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor logits = head_->Forward(
        inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden));
    return Scored(logits, inputs, CausalLmLoss);
  }

 private:
  static std::vector<RwkvBlock> MakeBlocks(const Module& list,
                                           const RwkvSettings& settings) {
    std::vector<RwkvBlock> blocks;
    blocks.reserve(static_cast<size_t>(settings.layers));
    for (int64_t layer = 0; layer < settings.layers; ++layer) {
      blocks.emplace_back(list.Child(layer, RegionKind::kBlock), settings.block,
                          layer);
    }
    return blocks;
  }

  // The first inference divides what later layers add, against overflow.
  void Rescale() const {
    Builder& builder = base_.builder();
    if (builder.execution().training || settings_.rescale_every <= 0) return;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const double by =
          std::pow(2, static_cast<double>(static_cast<int64_t>(i) /
                                          settings_.rescale_every));
      DivScalarInto(builder.Read(blocks_[i].attention.output.weight), by);
      DivScalarInto(builder.Read(blocks_[i].feed_forward.value.weight), by);
    }
  }

  RwkvState MakeState(const Tensor& embedded) const {
    const Shape shape = {embedded.size(0), settings_.block.hidden,
                         settings_.layers};
    RwkvState state;
    for (size_t i = 0; i < state.size(); ++i) {
      state[i] = Zeros(base_.builder(), shape,
                       i <= 1 ? embedded.dtype() : DType::kFloat32);
    }
    state[4] = SubScalarInto(state[4], 1e30);
    return state;
  }

  Tensor RunBase(const ForwardInputs& inputs, RwkvState& state) const {
    const Scope scope = base_.Enter();
    const bool training = base_.builder().execution().training;
    Rescale();
    const Tensor embedded = embeddings_.Forward(inputs.input_ids);
    if (inputs.prefill) state = MakeState(embedded);
    Tensor hidden = embedded;
    int64_t layer = 0;
    for (const RwkvBlock& block : blocks_) {
      hidden = block.Forward(hidden, inputs.prefill ? &state : nullptr);
      ++layer;
      if (!training && settings_.rescale_every > 0 &&
          layer % settings_.rescale_every == 0) {
        hidden = DivScalar(hidden, 2);
      }
    }
    hidden = ln_out_.Forward(hidden);
    return hidden;
  }

  RwkvSettings settings_;
  Module base_;
  Embedding embeddings_;
  std::vector<RwkvBlock> blocks_;
  LayerNorm ln_out_;
  std::optional<Linear> head_;
};

RwkvSettings ReadRwkv(const ConfigView& config) {
  RwkvSettings out;
  CheckCommonFields(config);
  ReadLabels(config, false);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"context_length", FieldKind::kWhole},
                       {"max_position_embeddings", FieldKind::kWhole},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50277);
  out.layers = config.Layers({"num_hidden_layers"}, 32);
  out.rescale_every = config.Whole({"rescale_every"}, 6);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, false);
  RwkvConfig& block = out.block;
  block.hidden = config.Size({"hidden_size"}, 4096);
  block.attention =
      SizeOrDerived(config, "attention_hidden_size", block.hidden);
  block.intermediate = SizeOrDerived(config, "intermediate_size",
                                     std::min(4 * block.hidden, kLargestSize));
  block.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const RwkvSettings settings = ReadRwkv(config);
  auto model =
      std::make_unique<Rwkv>(root, settings, class_name != "RwkvModel");
  model->stacks.push_back({"decoder", settings.layers});
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = settings.block.hidden;
  state.key_dim = 3;
  state.value_dim = 1;
  state.conv_channels = settings.block.hidden;
  state.conv_tokens = 2;  // the last input of either half
  model->states.assign(static_cast<size_t>(settings.layers), state);
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"rwkv"};
constexpr std::array<std::string_view, 2> kClasses = {"RwkvForCausalLM",
                                                      "RwkvModel"};

}  // namespace

extern const Family kRwkvFamily = {
    .name = "rwkv",
    .title = "RWKV",
    .doc =
        "RWKV-4: sums over earlier tokens that decay, in place of attention, "
        "and no positions.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
