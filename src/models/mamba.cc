// Mamba: a stack of selective state-space layers without attention, as Gu and
// Dao published it with its first checkpoints.
//
// Source: transformers 5.23, models/mamba/modeling_mamba.py and
// configuration_mamba.py.
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/mamba_block.h"
#include "models/layers/norm.h"
#include "models/layers/read_mamba.h"

namespace foretell {
namespace {

class Mamba : public Model {
 public:
  Mamba(const Module& root, const MambaConfig& config, bool has_head)
      : base_(has_head ? root.Child("backbone") : root),
        embeddings_(base_.Child("embeddings", RegionKind::kEmbedding),
                    config.vocabulary, config.block.hidden),
        blocks_(MakeBlocks(base_.Child("layers"), config)),
        norm_f_(base_.Child("norm_f", RegionKind::kNorm), config.block.hidden,
                config.block.norm_epsilon) {
    embeddings_.module.MarkInputEmbeddings();
    if (!has_head) return;
    lm_head_.emplace(root.Child("lm_head", RegionKind::kHead),
                     config.block.hidden, config.vocabulary, false);
    lm_head_->module.MarkOutputEmbeddings();
    if (config.tie_embeddings) {
      root.builder().Tie(lm_head_->weight, embeddings_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor hidden = RunBase(inputs);
    if (!lm_head_) return hidden;
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    const Tensor kept =
        inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden);
    const auto project = [&] {
      return lm_head_->Forward(To(kept, base_.builder().dtype()));
    };
    const Tensor logits = To(project(), DType::kFloat32);
    inputs.Return(logits);
    return inputs.labels.empty() ? logits : CausalLmLoss(logits, inputs.labels);
  }

 private:
  static std::vector<MambaBlock> MakeBlocks(const Module& list,
                                            const MambaConfig& config) {
    std::vector<MambaBlock> blocks;
    blocks.reserve(static_cast<size_t>(config.layers));
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block);
    }
    return blocks;
  }

  Tensor RunBase(const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    const Tensor embedded = embeddings_.Forward(inputs.input_ids);
    Tensor hidden = embedded;
    for (const MambaBlock& block : blocks_) {
      MambaCache cache;
      hidden = block.Forward(hidden, inputs.prefill ? &cache : nullptr);
      inputs.Return(cache.conv_bdk);
      inputs.Return(cache.recurrent_bdn);
    }
    hidden = norm_f_.Forward(hidden);
    return hidden;
  }

  Module base_;
  Embedding embeddings_;
  std::vector<MambaBlock> blocks_;
  RmsNorm norm_f_;
  std::optional<Linear> lm_head_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const MambaConfig settings = ReadMamba(config);
  auto model =
      std::make_unique<Mamba>(root, settings, class_name != "MambaModel");
  model->stacks.push_back({"decoder", settings.layers});
  const MambaBlockConfig& block = settings.block;
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = block.channels;
  state.key_dim = block.state;
  state.value_dim = 1;
  state.conv_channels = block.channels;
  state.conv_tokens = block.kernel;
  model->states.assign(static_cast<size_t>(settings.layers), state);
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mamba"};
constexpr std::array<std::string_view, 2> kClasses = {"MambaForCausalLM",
                                                      "MambaModel"};

}  // namespace

extern const Family kMambaFamily = {
    .name = "mamba",
    .title = "Mamba",
    .doc =
        "Selective state-space layers: a short convolution and a scan over "
        "the tokens in place of attention, and no positions.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
