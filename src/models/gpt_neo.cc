// GPT-Neo: GPT-2's decoder with separate projections, scores in float32 and not
// scaled, and a table of who sees whom in each layer.
//
// Source: transformers 5.23, models/gpt_neo/modeling_gpt_neo.py and
// configuration_gpt_neo.py.
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/norm.h"
#include "models/layers/positions.h"
#include "models/layers/read_gpt_neo.h"

namespace foretell {
namespace {

struct GptNeoAttention {
  GptNeoAttention(const Module& at, const GptNeoConfig& config)
      : outer(at),
        module(at.Child("attention", RegionKind::kAttention)),
        heads(config.heads),
        attn_dropout(module.Child("attn_dropout"), config.attention_dropout),
        resid_dropout(module.Child("resid_dropout"), config.residual_dropout),
        k_proj(Projection("k_proj", false)),
        v_proj(Projection("v_proj", false)),
        q_proj(Projection("q_proj", false)),
        out_proj(Projection("out_proj", true)) {
    module.Buffer("bias", {1, 1, config.positions, config.positions},
                  DType::kBool, false);
    bias = module.builder().graph().buffers.back().value;
  }

  Linear Projection(std::string_view name, bool has_bias) const {
    return Linear(module.Child(name, RegionKind::kLinear), heads.hidden,
                  heads.hidden, has_bias);
  }

  // Its part of the table of a layer: [1, 1, s, t].
  Tensor Seen(int64_t queries, int64_t keys) const {
    Tensor seen = module.builder().Read(bias);
    const bool is_whole = queries == keys && keys == seen.size(-1);
    if (is_whole) return Alias(seen);
    if (keys - queries > 0 || keys < seen.size(2)) {
      seen = Slice(seen, 2, keys - queries, keys);
    }
    return keys < seen.size(3) ? Slice(seen, 3, 0, keys) : seen;
  }

  Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& v,
                const Tensor& mask) const {
    Builder& builder = module.builder();
    const Tensor q = To(query, DType::kFloat32);
    const Tensor k = To(key, DType::kFloat32);
    Tensor weights = Matmul(q, Transpose(k, -1, -2));
    const Tensor seen = Seen(q.size(2), k.size(2));
    const Tensor smallest = Transfer(LiftFresh(builder, {}, weights.dtype()));
    weights = Where(seen, weights, smallest);
    if (!mask.empty()) weights = Add(weights, mask);
    weights = SoftmaxOp(weights, -1);
    weights = To(weights, v.dtype());
    weights = attn_dropout.Forward(weights);
    // Two modules around this one hand the weights on.
    builder.ReturnBeside(weights, 3);
    return Matmul(weights, v);
  }

  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const {
    const Scope around = outer.Enter();
    const Scope scope = module.Enter();
    const int64_t batch = hidden.size(0);
    const int64_t length = hidden.size(1);
    Tensor q = q_proj.Forward(hidden);
    Tensor k = k_proj.Forward(hidden);
    Tensor v = v_proj.Forward(hidden);
    for (Tensor* one : {&q, &k, &v}) {
      *one = Permute(View(*one, {batch, length, heads.heads, heads.head_dim}),
                     {0, 2, 1, 3});
    }
    if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
    Tensor out = Attend(q, k, v, mask);
    const auto merge = [&] {
      const Tensor rows = Contiguous(Permute(out, {0, 2, 1, 3}));
      return View(rows, {batch, length, heads.hidden});
    };
    out = merge();
    out = out_proj.Forward(out);
    return resid_dropout.Forward(out);
  }

  Module outer;
  Module module;
  WholeHeads heads;
  Dropout attn_dropout;
  Dropout resid_dropout;
  Linear k_proj;
  Linear v_proj;
  Linear q_proj;
  Linear out_proj;
  ValueId bias;  // [1, 1, positions, positions] bool
};

struct GptNeoMlp {
  GptNeoMlp(const Module& at, const GptNeoConfig& config)
      : module(at),
        c_fc(at.Child("c_fc", RegionKind::kLinear), config.heads.hidden,
             config.inner, true),
        c_proj(at.Child("c_proj", RegionKind::kLinear), config.inner,
               config.heads.hidden, true),
        act(at.Child("act"), config.activation),
        dropout(at.Child("dropout"), config.residual_dropout) {}

  Tensor Forward(Tensor hidden) const {
    const Scope scope = module.Enter();
    hidden = c_fc.Forward(hidden);
    hidden = act.Forward(hidden);
    hidden = c_proj.Forward(hidden);
    return dropout.Forward(hidden);
  }

  Module module;
  Linear c_fc;
  Linear c_proj;
  ActivationModule act;
  Dropout dropout;
};

struct GptNeoBlock {
  GptNeoBlock(const Module& at, const GptNeoConfig& config)
      : module(at),
        ln_1(at.Child("ln_1", RegionKind::kNorm), config.heads.hidden,
             config.norm_epsilon),
        attn(at.Child("attn"), config),
        ln_2(at.Child("ln_2", RegionKind::kNorm), config.heads.hidden,
             config.norm_epsilon),
        mlp(at.Child("mlp", RegionKind::kMlp), config) {}

  Tensor Forward(Tensor hidden, const Tensor& mask, CachedLayer* cached) const {
    const CheckpointScope checkpoint(module.builder(), {hidden}, {mask});
    const Scope scope = module.Enter();
    Tensor residual = hidden;
    hidden = ln_1.Forward(hidden);
    const Tensor attended = attn.Forward(hidden, mask, cached);
    hidden = Add(attended, residual);
    residual = hidden;
    hidden = ln_2.Forward(hidden);
    const Tensor forwarded = mlp.Forward(hidden);
    return Add(residual, forwarded);
  }

  Module module;
  LayerNorm ln_1;
  GptNeoAttention attn;
  LayerNorm ln_2;
  GptNeoMlp mlp;
};

class GptNeo : public HeadedDecoder {
 public:
  GptNeo(const Module& root, const GptNeoConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.heads.hidden),
        wpe_(base_.Child("wpe", RegionKind::kEmbedding), config.positions,
             config.heads.hidden),
        drop_(base_.Child("drop"), config.embedding_dropout),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.heads.hidden,
              config.norm_epsilon) {
    fills_cache_ = config.fills_cache;
    AddHead(wte_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    const Tensor embedded = wte_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    const int64_t length = embedded.size(1);
    const Tensor position_ids =
        PositionIds(base_.builder(), length, inputs.past);
    // The class knows no sdpa: who asks for it gets eager attention. With a
    // cache nobody looks for several sequences in a row.
    const Tensor mask =
        CausalMask(embedded, cache.layers.empty() ? position_ids : Tensor(),
                   "eager", 0, inputs.past);
    const Tensor positions = wpe_.Forward(position_ids);
    Tensor hidden = Add(embedded, positions);
    hidden = drop_.Forward(hidden);
    Tensor last;  // what the loop's last block returned
    for (const GptNeoBlock& block : blocks_) {
      last = block.Forward(hidden, mask, cache.NextLayer());
      hidden = last;
    }
    hidden = ln_f_.Forward(hidden);
    return View(hidden, {-1, length, hidden.size(-1)});
  }

 private:
  static std::vector<GptNeoBlock> MakeBlocks(const Module& list,
                                             const GptNeoConfig& config) {
    std::vector<GptNeoBlock> blocks;
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config);
    }
    return blocks;
  }

  Embedding wte_;
  Embedding wpe_;
  Dropout drop_;
  std::vector<GptNeoBlock> blocks_;
  LayerNorm ln_f_;
};

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const GptNeoConfig settings = ReadGptNeo(config, class_name);
  auto model = std::make_unique<GptNeo>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  // Layers that look at a window keep all tokens, too.
  model->states.assign(static_cast<size_t>(settings.layers),
                       {LayerState::Kind::kFull, settings.heads.heads,
                        settings.heads.head_dim, settings.heads.head_dim});
  model->context_length = {settings.positions, "max_position_embeddings"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gpt_neo"};
constexpr std::array<std::string_view, 5> kClasses = {
    "GPTNeoForCausalLM", "GPTNeoModel", "GPTNeoForSequenceClassification",
    "GPTNeoForTokenClassification", "GPTNeoForQuestionAnswering"};

}  // namespace

extern const Family kGptNeoFamily = {
    .name = "gpt_neo",
    .title = "GPT-Neo",
    .doc =
        "GPT-2's decoder with scores in float32 and layers that attend to all "
        "tokens or to a window by a table of their own.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
