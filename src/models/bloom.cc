// Bloom: a decoder without positions but for linear biases by distance, with a
// norm behind the embeddings.
//
// Source: transformers 5.23, models/bloom/modeling_bloom.py and
// configuration_bloom.py.
#include <array>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/alibi.h"
#include "models/layers/bloom_block.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct BloomModelConfig {
  BloomConfig block;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  bool ties = true;
  bool fills_cache = false;
  HeadConfig head;
};

class Bloom : public HeadedDecoder {
 public:
  Bloom(const Module& root, const BloomModelConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        config_(config),
        word_embeddings_(base_.Child("word_embeddings", RegionKind::kEmbedding),
                         config.vocabulary, config.block.heads.hidden),
        word_embeddings_layernorm_(
            base_.Child("word_embeddings_layernorm", RegionKind::kNorm),
            config.block.heads.hidden, config.block.norm_epsilon),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.block.heads.hidden,
              config.block.norm_epsilon) {
    fills_cache_ = config.fills_cache;
    AddHead(word_embeddings_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    if (config_.block.is_sliced) {
      builder.Fail("products slice by slice (slow_but_exact) are not modelled");
    }
    const Tensor embedded = word_embeddings_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    Tensor hidden = word_embeddings_layernorm_.Forward(embedded);
    const int64_t heads = config_.block.heads.heads;
    const Tensor slopes = AlibiSlopes(builder, heads)[0];
    const auto spread = [&] {
      const Tensor column = Unsqueeze(Unsqueeze(slopes, 1), 2);
      return Mul(column, Arange(builder, inputs.past + embedded.size(1)));
    };
    Tensor alibi = spread();
    alibi = To(Repeat(alibi, {embedded.size(0), 1, 1}), hidden.dtype());
    // The class knows no sdpa: who asks for it gets eager attention.
    const Tensor mask = CausalMask(embedded, Tensor(), "eager", 0, inputs.past);
    Tensor last;  // what the loop's last block returned
    for (const BloomBlock& block : blocks_) {
      last = block.Forward(hidden, alibi, mask, cache.NextLayer());
      hidden = last;
    }
    return ln_f_.Forward(hidden);
  }

 private:
  static std::vector<BloomBlock> MakeBlocks(const Module& list,
                                            const BloomModelConfig& config) {
    std::vector<BloomBlock> blocks;
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block);
    }
    return blocks;
  }

  BloomModelConfig config_;
  Embedding word_embeddings_;
  LayerNorm word_embeddings_layernorm_;
  std::vector<BloomBlock> blocks_;
  LayerNorm ln_f_;
};

BloomModelConfig ReadBloom(const ConfigView& config,
                           std::string_view class_name) {
  BloomModelConfig out;
  BloomConfig& block = out.block;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat},
                       {"hidden_size", FieldKind::kWhole},
                       {"pad_token_id", FieldKind::kWhole, true}});
  // An older name of the width, which comes first where it is no null.
  const bool is_old = config.Has("n_embed") && !config.config().is_loaded;
  const int64_t hidden =
      is_old ? config.Size({"n_embed"}, 64) : config.Size({"hidden_size"}, 64);
  config.Ignore({"n_embed"});
  if (is_old) {
    config.Derive("hidden_size", ConfigValue::Number(std::to_string(hidden)));
  }
  out.layers = config.Layers({"num_hidden_layers", "n_layer"}, 2);
  block.heads = CheckWholeHeads(
      config, hidden, config.Size({"num_attention_heads", "n_head"}, 8),
      out.layers, "n_head");
  block.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  block.hidden_dropout = ReadDropout(config, "hidden_dropout", 0);
  block.attention_dropout = ReadDropout(config, "attention_dropout", 0);
  block.residual_is_normed =
      config.Flag({"apply_residual_connection_post_layernorm"}, false);
  const int64_t slices = config.Whole({"pretraining_tp"}, 1);
  block.is_sliced = config.Flag({"slow_but_exact"}, false) && slices > 1;
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 250880);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  out.head = ReadHead(config, class_name, hidden, out.vocabulary,
                      config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.tokens_in_float = false;
  if (!config.Has("classifier_dropout")) {
    out.head.token_dropout = block.hidden_dropout;
  }
  // The class for answers hands no use_cache on: the file's value holds.
  out.fills_cache = config.Flag({"use_cache"}, true) &&
                    out.head.kind == Head::kQuestionAnswering;
  // Of Megatron's kernels and its training; the class reads none of them.
  config.Ignore({"attention_softmax_in_fp32", "bias_dropout_fusion",
                 "masked_softmax_fusion", "n_inner", "offset_alibi",
                 "skip_bias_add", "skip_bias_add_qkv", "unk_token_id",
                 "seq_length"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const BloomModelConfig settings = ReadBloom(config, class_name);
  auto model = std::make_unique<Bloom>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  const WholeHeads& heads = settings.block.heads;
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, heads.heads, heads.head_dim, heads.head_dim});
  model->context_length = {std::nullopt, "positions are unbounded (alibi)"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"bloom"};
constexpr std::array<std::string_view, 5> kClasses = {
    "BloomForCausalLM", "BloomModel", "BloomForSequenceClassification",
    "BloomForTokenClassification", "BloomForQuestionAnswering"};

}  // namespace

extern const Family kBloomFamily = {
    .name = "bloom",
    .title = "Bloom",
    .doc =
        "A decoder with linear biases by distance in place of positions and a "
        "LayerNorm behind the embeddings.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .reads_mask = true,
    .build = Build,
};

}  // namespace foretell
