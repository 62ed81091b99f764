// GPT-J and CodeGen: decoders whose attention and feed-forward both read one
// norm, with pairs of neighbouring dims turned and scores in float32.
//
// Source: transformers 5.23, models/gptj/{modeling,configuration}_gptj.py,
// models/codegen/{modeling,configuration}_codegen.py.
#include <array>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/gptj_block.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/positions.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct GptjModelConfig {
  GptjConfig block;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  double embedding_dropout = 0;
  bool ties = false;
  bool fills_cache = false;
  HeadConfig head;
};

class Gptj : public HeadedDecoder {
 public:
  Gptj(const Module& root, const GptjModelConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.block.heads.hidden),
        drop_(base_.Child("drop"), config.embedding_dropout),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.block.heads.hidden,
              config.block.norm_epsilon) {
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
    // The classes know no sdpa: who asks for it gets eager attention. With a
    // cache nobody looks for several sequences in a row.
    const Tensor mask =
        CausalMask(embedded, cache.layers.empty() ? position_ids : Tensor(),
                   "eager", 0, inputs.past);
    Tensor hidden = drop_.Forward(embedded);
    Tensor last;  // what the loop's last block returned
    for (const GptjBlock& block : blocks_) {
      last = block.Forward(hidden, mask, position_ids, cache.NextLayer());
      hidden = last;
    }
    hidden = ln_f_.Forward(hidden);
    return View(hidden, {-1, length, hidden.size(-1)});
  }

 private:
  static std::vector<GptjBlock> MakeBlocks(const Module& list,
                                           const GptjModelConfig& config) {
    std::vector<GptjBlock> blocks;
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block);
    }
    return blocks;
  }

  Embedding wte_;
  Dropout drop_;
  std::vector<GptjBlock> blocks_;
  LayerNorm ln_f_;
};

// What both classes read.
GptjModelConfig ReadGptj(const ConfigView& config,
                         std::string_view class_name) {
  GptjModelConfig out;
  GptjConfig& block = out.block;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat}});
  const int64_t hidden = config.Size({"hidden_size", "n_embd"}, 4096);
  out.layers = config.Layers({"num_hidden_layers", "n_layer"}, 28);
  block.heads = CheckWholeHeads(
      config, hidden, config.Size({"num_attention_heads", "n_head"}, 16),
      out.layers, "n_head");
  block.positions =
      SizeOrEmpty(config, {"max_position_embeddings", "n_positions"}, 2048);
  block.rotary_dim = config.SizeOrZero({"rotary_dim"}, 64);
  block.inner =
      config.Has("n_inner") ? config.SizeOrZero({"n_inner"}, 0) : 4 * hidden;
  const std::string activation =
      config.Text({"activation_function"}, "gelu_new");
  if (out.layers > 0) {
    block.activation =
        ActivationNamed(config, "activation_function", activation);
  }
  block.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  block.attention_dropout = ReadDropout(config, "attn_pdrop", 0);
  block.residual_dropout = ReadDropout(config, "resid_pdrop", 0);
  out.embedding_dropout = ReadDropout(config, "embd_pdrop", 0);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50400);
  out.ties = config.Flag({"tie_word_embeddings"}, false);
  out.head = ReadHead(config, class_name, hidden, out.vocabulary,
                      config.OptionalInteger({"pad_token_id"}));
  out.head.lm_bias = true;
  out.head.answer_ends = out.head.labels.count;
  // The class for answers hands no use_cache on: the file's value holds.
  out.fills_cache = config.Flag({"use_cache"}, true) &&
                    out.head.kind == Head::kQuestionAnswering;
  // Positions know no scaling; the rest is of GPT-2's configuration, which
  // older files copied.
  config.Ignore({"rope_scaling", "scale_attn_weights", "summary_activation",
                 "summary_first_dropout", "summary_proj_to_labels",
                 "summary_type", "summary_use_proj", "gradient_checkpointing",
                 "rotary", "n_ctx"});
  return out;
}

std::unique_ptr<Model> BuildModel(const Module& root,
                                  const GptjModelConfig& settings) {
  auto model = std::make_unique<Gptj>(root, settings);
  const WholeHeads& heads = settings.block.heads;
  model->stacks.push_back({"decoder", settings.layers});
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, heads.heads, heads.head_dim, heads.head_dim});
  model->context_length = {settings.block.positions, "n_positions"};
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  CheckFields(config, {{"pad_token_id", FieldKind::kWhole, true}});
  return BuildModel(root, ReadGptj(config, class_name));
}

std::unique_ptr<Model> BuildCodegen(const ConfigView& config,
                                    const Module& root,
                                    std::string_view class_name) {
  // Read once, for a number that nothing uses.
  CheckFields(config, {{"n_ctx", FieldKind::kWhole}});
  GptjModelConfig settings = ReadGptj(config, class_name);
  settings.block.is_fused = true;
  return BuildModel(root, settings);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gptj"};
constexpr std::array<std::string_view, 4> kClasses = {
    "GPTJForCausalLM", "GPTJModel", "GPTJForSequenceClassification",
    "GPTJForQuestionAnswering"};
constexpr std::array<std::string_view, 1> kCodegenTypes = {"codegen"};
constexpr std::array<std::string_view, 2> kCodegenClasses = {
    "CodeGenForCausalLM", "CodeGenModel"};

}  // namespace

extern const Family kCodegenFamily = {
    .name = "codegen",
    .title = "CodeGen",
    .doc =
        "GPT-J's decoder with one projection for queries, values and keys, in "
        "four parts.",
    .model_types = kCodegenTypes,
    .classes = kCodegenClasses,
    .old_names = {},
    .build = BuildCodegen,
};

extern const Family kGptjFamily = {
    .name = "gptj",
    .title = "GPT-J",
    .doc =
        "A decoder with attention beside the feed-forward behind one "
        "LayerNorm, and a part of each head turned by pairs of neighbours.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
