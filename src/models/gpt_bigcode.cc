// GPT-BigCode: GPT-2's decoder with plain linear layers and, in SantaCoder and
// StarCoder, one head of keys and values for all queries.
//
// Source: transformers 5.23, models/gpt_bigcode/modeling_gpt_bigcode.py and
// configuration_gpt_bigcode.py.
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/bigcode_block.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/positions.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct BigcodeModelConfig {
  BigcodeConfig block;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  double embedding_dropout = 0;
  bool ties = true;
  HeadConfig head;
};

class GptBigcode : public HeadedDecoder {
 public:
  GptBigcode(const Module& root, const BigcodeModelConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.block.heads.hidden),
        wpe_(base_.Child("wpe", RegionKind::kEmbedding), config.positions,
             config.block.heads.hidden),
        drop_(base_.Child("drop"), config.embedding_dropout),
        blocks_(MakeBlocks(base_.Child("h"), config)),
        ln_f_(base_.Child("ln_f", RegionKind::kNorm), config.block.heads.hidden,
              config.block.norm_epsilon) {
    // Who sees whom: nothing reads it any more.
    base_.Buffer("bias", {config.positions, config.positions}, DType::kBool,
                 false);
    AddHead(wte_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    cache = StartCacheFor(inputs);
    const Tensor embedded = wte_.Forward(inputs.input_ids);
    const Tensor position_ids =
        PositionIds(base_.builder(), embedded.size(1), inputs.past);
    // With a cache nobody looks for several sequences in a row.
    const Tensor mask =
        CausalMask(embedded, cache.layers.empty() ? position_ids : Tensor(),
                   inputs.attention, 0, inputs.past);
    const Tensor positions = wpe_.Forward(position_ids);
    Tensor hidden = Add(embedded, positions);
    hidden = drop_.Forward(hidden);
    for (const BigcodeBlock& block : blocks_) {
      hidden = block.Forward(hidden, mask, inputs.attention, cache.NextLayer());
    }
    hidden = ln_f_.Forward(hidden);
    return View(hidden, hidden.shape());
  }

 private:
  static std::vector<BigcodeBlock> MakeBlocks(
      const Module& list, const BigcodeModelConfig& config) {
    std::vector<BigcodeBlock> blocks;
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block);
    }
    return blocks;
  }

  Embedding wte_;
  Embedding wpe_;
  Dropout drop_;
  std::vector<BigcodeBlock> blocks_;
  LayerNorm ln_f_;
};

void ReadBlock(const ConfigView& config, int64_t layers, BigcodeConfig& out) {
  const int64_t hidden = config.Size({"hidden_size", "n_embd"}, 768);
  out.heads = CheckWholeHeads(
      config, hidden, config.Size({"num_attention_heads", "n_head"}, 12),
      layers, "n_head");
  out.inner =
      config.Has("n_inner") ? config.SizeOrZero({"n_inner"}, 0) : 4 * hidden;
  const std::string activation =
      config.Text({"activation_function"}, "gelu_pytorch_tanh");
  if (layers > 0) {
    out.activation = ActivationNamed(config, "activation_function", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.attention_dropout = ReadDropout(config, "attn_pdrop", 0.1);
  out.residual_dropout = ReadDropout(config, "resid_pdrop", 0.1);
  out.scales = config.Flag({"scale_attn_weights"}, true);
  out.shares_keys = config.Flag({"multi_query"}, true);
  out.cross_attention = config.Flag({"add_cross_attention"}, false);
  if (out.cross_attention && out.shares_keys && layers > 0) {
    config.Find("model/cross-attention", Severity::kBlock,
                "add_cross_attention",
                "add_cross_attention is true, and so is multi_query",
                "the class has no cross attention of one key head and refuses "
                "to be built",
                "\"multi_query\": false");
  }
}

BigcodeModelConfig ReadBigcode(const ConfigView& config,
                               std::string_view class_name) {
  BigcodeModelConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat},
                       {"attention_softmax_in_fp32", FieldKind::kFlag},
                       {"scale_attention_softmax_in_fp32", FieldKind::kFlag},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.layers = config.Layers({"num_hidden_layers", "n_layer"}, 12);
  ReadBlock(config, out.layers, out.block);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50257);
  out.positions =
      SizeOrEmpty(config, {"max_position_embeddings", "n_positions"}, 1024);
  out.embedding_dropout = ReadDropout(config, "embd_pdrop", 0.1);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  out.head = ReadHead(config, class_name, out.block.heads.hidden,
                      out.vocabulary, config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.tokens_in_float = false;
  // Worked out from multi_query; how many tokens and which kernels an older
  // inference took; and of GPT-2's configuration, which older files copied.
  config.Ignore({"num_key_value_heads", "inference_runner",
                 "runner_max_sequence_length", "max_batch_size",
                 "max_sequence_length", "pre_allocate_kv_cache",
                 "pad_key_length", "validate_runner_input", "use_wpe",
                 "summary_activation", "summary_first_dropout",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const BigcodeModelConfig settings = ReadBigcode(config, class_name);
  auto model = std::make_unique<GptBigcode>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  const WholeHeads& heads = settings.block.heads;
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, settings.block.shares_keys ? 1 : heads.heads,
       heads.head_dim, heads.head_dim});
  model->context_length = {settings.positions, "n_positions"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gpt_bigcode"};
constexpr std::array<std::string_view, 4> kClasses = {
    "GPTBigCodeForCausalLM", "GPTBigCodeModel",
    "GPTBigCodeForSequenceClassification", "GPTBigCodeForTokenClassification"};

}  // namespace

extern const Family kGptBigcodeFamily = {
    .name = "gpt_bigcode",
    .title = "GPT-BigCode",
    .doc = "GPT-2's decoder with one head of keys and values for all queries.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
