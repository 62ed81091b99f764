// RecurrentGemma (Griffin): recurrent blocks, and every so many one that
// attends to a window.
//
// Source: transformers 5.23, models/recurrent_gemma/
// modeling_recurrent_gemma.py and configuration_recurrent_gemma.py.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/heads.h"
#include "models/layers/read_decoder.h"
#include "models/layers/recurrent_gemma_block.h"

namespace foretell {
namespace {

class RecurrentGemma : public Model {
 public:
  RecurrentGemma(const Module& root, const RecurrentGemmaConfig& settings,
                 bool has_head)
      : settings_(settings),
        base_(has_head ? root.Child("model") : root),
        normalizer_(MakeNormalizer(base_)),
        embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                      settings.keys.decoder.vocabulary,
                      settings.attention.hidden) {
    embed_tokens_.module.MarkInputEmbeddings();
    const Module list = base_.Child("layers");
    for (size_t i = 0; i < settings.attends.size(); ++i) {
      layers_.emplace_back(
          list.Child(static_cast<int64_t>(i), RegionKind::kBlock), settings,
          settings.attends[i]);
    }
    final_norm_.emplace(
        RecurrentGemmaBlock::Norm(base_, "final_norm", settings));
    states_.resize(layers_.size());
    if (!has_head) return;
    lm_head_.emplace(root.Child("lm_head", RegionKind::kHead),
                     settings.attention.hidden,
                     settings.keys.decoder.vocabulary, false);
    lm_head_->module.MarkOutputEmbeddings();
    if (settings.keys.decoder.tie_embeddings) {
      root.builder().Tie(lm_head_->weight, embed_tokens_.weight);
    }
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor hidden = RunBase(inputs);
    if (!lm_head_) return hidden;
    constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
    Tensor logits = lm_head_->Forward(
        inputs.prefill ? Slice(hidden, 1, -1, kToTheEnd) : Alias(hidden));
    const auto cap = [&] {
      Tensor out = Tanh(DivScalar(logits, settings_.softcap));
      return MulScalar(std::move(out), settings_.softcap);
    };
    logits = cap();
    return Scored(logits, inputs, CausalLmLoss);
  }

 private:
  static ValueId MakeNormalizer(const Module& at) {
    at.Buffer("normalizer", {}, DType::kBFloat16, false);
    return at.builder().graph().buffers.back().value;
  }

  void MakeStates(const Tensor& embedded) {
    const RgLruConfig& config = settings_.recurrent;
    const int64_t batch = embedded.size(0);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (settings_.attends[i]) continue;
      states_[i].recurrent =
          Zeros(base_.builder(), {batch, config.width}, DType::kFloat32);
      states_[i].conv_bdk =
          Zeros(base_.builder(), {batch, config.hidden, config.kernel - 1},
                embedded.dtype());
    }
  }

  Tensor RunBase(const ForwardInputs& inputs) {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    // Each block names it until its convolution, and with it whatever a forward
    // without a backward has kept.
    if (builder.execution().training) {
      builder.Assume("no earlier forward has left a state in the blocks");
    }
    const Tensor embedded = embed_tokens_.Forward(inputs.input_ids);
    Tensor hidden = embedded;
    std::vector<CachedLayer> cache(layers_.size());
    RecurrentGemmaCall call;
    call.keeps = inputs.prefill;
    call.attention = inputs.attention;
    if (inputs.prefill) {
      MakeStates(embedded);
      for (size_t i = 0; i < layers_.size(); ++i) {
        if (!settings_.attends[i]) continue;
        cache[i].window = LiftFresh(builder, {}, DType::kInt64);
      }
    }
    call.position_ids = AddScalar(Arange(builder, hidden.size(1)), 0);
    call.position_ids = Unsqueeze(call.position_ids, 0);
    call.mask =
        CausalMask(embedded, inputs.prefill ? Tensor() : call.position_ids,
                   inputs.attention, settings_.attention.window);
    const auto scale = [&] {
      return Mul(hidden, To(builder.Read(normalizer_), hidden.dtype()));
    };
    hidden = scale();
    for (size_t i = 0; i < layers_.size(); ++i) {
      hidden = layers_[i].Forward(hidden, call, cache[i], states_[i]);
    }
    // The caller's objects do not hold them, but nothing lets go of them.
    for (const RecurrentCache& state : states_) {
      inputs.Return(state.recurrent);
      inputs.Return(state.conv_bdk);
    }
    hidden = final_norm_->Forward(hidden);
    return hidden;
  }

  RecurrentGemmaConfig settings_;
  Module base_;
  ValueId normalizer_;
  Embedding embed_tokens_;
  std::vector<RecurrentGemmaBlock> layers_;
  std::optional<RmsNorm> final_norm_;
  std::optional<Linear> lm_head_;
  // What the blocks keep as plain attributes, past the end of the step.
  std::vector<RecurrentCache> states_;
};

std::vector<bool> ReadBlocks(const ConfigView& config, int64_t layers) {
  const auto stated = config.TextList({"block_types"});
  const std::vector<std::string> kinds = stated.value_or(
      std::vector<std::string>{"recurrent", "recurrent", "attention"});
  if (kinds.empty() && layers > 0) {
    config.Problem("block_types", "names no kind of block",
                   "list recurrent and attention");
    return {};
  }
  std::vector<bool> out;
  for (int64_t layer = 0; layer < layers; ++layer) {
    out.push_back(kinds[static_cast<size_t>(layer) % kinds.size()] !=
                  "recurrent");
  }
  return out;
}

RecurrentGemmaConfig ReadSettings(const ConfigView& config,
                                  std::string_view class_name) {
  RecurrentGemmaConfig out;
  AttentionConfig& attention = out.attention;
  attention = ReadHeads(config, {.hidden = 2560, .heads = 10});
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.window =
      config.Size({"sliding_window", "attention_window_size"}, 2048);
  out.keys = ReadDecoder(config, class_name, attention.hidden,
                         {.vocabulary = 256000,
                          .intermediate = 7680,
                          .layers = 26,
                          .ties = true,
                          .padding = 0,
                          .activation_key = "hidden_activation",
                          .activation = "gelu_pytorch_tanh"});
  out.keys.intermediate /= 2;
  out.keys.decoder.rope = ReadRope(config, {.default_theta = 10000,
                                            .positions = out.keys.positions,
                                            .head_dim = attention.head_dim,
                                            .turns_part = true,
                                            .default_part = 0.5});
  if (out.keys.decoder.rope.type != "default") {
    config.Find("model/rope", Severity::kBlock, "rope_parameters",
                fmt::format("rope type {} is not the default",
                            out.keys.decoder.rope.type),
                "each attention refuses it as it is built", "remove rope_type");
  }
  out.attends = ReadBlocks(config, out.keys.decoder.layers);
  out.softcap = config.Real({"logits_soft_cap"}, 30);
  RgLruConfig& recurrent = out.recurrent;
  recurrent.hidden = attention.hidden;
  recurrent.width = SizeOrDerived(config, "lru_width", attention.hidden);
  recurrent.heads = attention.heads;
  recurrent.kernel = config.Size({"conv1d_width"}, 4);
  recurrent.activation = out.keys.activation;
  if (recurrent.width % recurrent.heads != 0) {
    config.Find("model/heads", Severity::kBlock, "lru_width",
                fmt::format("lru_width {} is not a multiple of "
                            "num_attention_heads {}",
                            recurrent.width, recurrent.heads),
                "the gates' blocks do not cover it; the forward fails on the "
                "shapes",
                fmt::format("choose a multiple of {}", recurrent.heads));
  }
  CheckFields(config, {{"w_init_variance_scale", FieldKind::kFloat}});
  // Worked out as the class loads, or other classes' keys.
  config.Ignore(
      {"final_w_init_variance_scale", "embeddings_scale_by_sqrt_dim"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const RecurrentGemmaConfig settings = ReadSettings(config, class_name);
  auto model = std::make_unique<RecurrentGemma>(
      root, settings, class_name != "RecurrentGemmaModel");
  model->stacks.push_back({"decoder", settings.keys.decoder.layers});
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = settings.recurrent.width;
  state.key_dim = 1;
  state.value_dim = 1;
  state.conv_channels = settings.recurrent.hidden;
  state.conv_tokens = settings.recurrent.kernel - 1;
  for (const bool attends : settings.attends) {
    model->states.push_back(
        attends ? StateOf(settings.attention, settings.attention.window)
                : state);
  }
  model->context_length = {std::nullopt, "a window and states: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"recurrent_gemma"};
constexpr std::array<std::string_view, 2> kClasses = {
    "RecurrentGemmaForCausalLM", "RecurrentGemmaModel"};

}  // namespace

extern const Family kRecurrentGemmaFamily = {
    .name = "recurrent_gemma",
    .title = "RecurrentGemma",
    .doc =
        "Griffin: real-gated linear recurrences behind short convolutions, and "
        "attention to a window in every third layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
