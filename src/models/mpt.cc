// MPT: a decoder with linear biases by distance added to the scores, and no
// bias anywhere else.
//
// Source: transformers 5.23, models/mpt/modeling_mpt.py and
// configuration_mpt.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/causal_mask.h"
#include "models/layers/check_fields.h"
#include "models/layers/headed_decoder.h"
#include "models/layers/mpt_block.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct MptModelConfig {
  MptConfig block;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  bool ties = true;
  bool fills_cache = false;
  HeadConfig head;
};

class Mpt : public HeadedDecoder {
 public:
  Mpt(const Module& root, const MptModelConfig& config)
      : HeadedDecoder(root, "transformer", config.head),
        config_(config),
        wte_(base_.Child("wte", RegionKind::kEmbedding), config.vocabulary,
             config.block.heads.hidden),
        blocks_(MakeBlocks(base_.Child("blocks"), config)),
        norm_f_(base_.Child("norm_f", RegionKind::kNorm),
                config.block.heads.hidden, config.block.norm_epsilon,
                LayerNormTerms::kWeight) {
    fills_cache_ = config.fills_cache;
    AddHead(wte_, config.ties);
  }

 protected:
  Tensor RunBase(const ForwardInputs& inputs,
                 GenerationCache& cache) const override {
    const Scope scope = base_.Enter();
    const Tensor embedded = wte_.Forward(inputs.input_ids);
    cache = StartCacheFor(inputs);
    Tensor hidden = embedded;
    const MptConfig& block = config_.block;
    const Tensor alibi =
        MptAlibi(base_.builder(), block.heads.heads, block.positions);
    // The class knows no sdpa: who asks for it gets eager attention.
    const auto look = [&] {
      const Tensor added =
          CausalMask(embedded, Tensor(), "eager", 0, inputs.past);
      return To(added, DType::kBool);
    };
    const Tensor mask = look();
    Tensor last;  // what the loop's last block returned
    for (const MptBlock& one : blocks_) {
      last = one.Forward(hidden, alibi, mask, cache.NextLayer());
      hidden = last;
    }
    return norm_f_.Forward(hidden);
  }

 private:
  static std::vector<MptBlock> MakeBlocks(const Module& list,
                                          const MptModelConfig& config) {
    std::vector<MptBlock> blocks;
    for (int64_t index = 0; index < config.layers; ++index) {
      blocks.emplace_back(list.Child(index, RegionKind::kBlock), config.block);
    }
    return blocks;
  }

  MptModelConfig config_;
  Embedding wte_;
  std::vector<MptBlock> blocks_;
  LayerNorm norm_f_;
};

// `attn_config`, of which the class reads four keys.
void ReadAttention(const ConfigView& config, MptConfig& out) {
  const ConfigView nested = config.Nested("attn_config");
  const double even = static_cast<double>(out.heads.hidden) /
                      static_cast<double>(out.heads.heads);
  out.scale = 1 / std::sqrt(even);
  if (nested.object() == nullptr) return;
  CheckFields(nested, {{"attn_impl", FieldKind::kText},
                       {"attn_type", FieldKind::kText},
                       {"prefix_lm", FieldKind::kFlag},
                       {"qk_ln", FieldKind::kFlag},
                       {"attn_uses_sequence_id", FieldKind::kFlag},
                       {"alibi", FieldKind::kFlag},
                       {"alibi_bias_max", FieldKind::kWhole},
                       {"attn_pdrop", FieldKind::kWhole},
                       {"clip_qkv", FieldKind::kFloat, true},
                       {"softmax_scale", FieldKind::kFloat, true}});
  const std::string type = nested.Text({"attn_type"}, "multihead_attention");
  if (type != "multihead_attention" && type != "multiquery_attention") {
    nested.Problem("attn_type",
                   fmt::format("is \"{}\", which the class does not know",
                               type.substr(0, 40)),
                   "write multihead_attention");
  }
  out.dropout = ReadDropout(nested, "attn_pdrop", 0);
  // Zero clips nothing.
  const auto clip = nested.OptionalReal({"clip_qkv"});
  if (clip && *clip != 0) out.clip = clip;
  out.scale = nested.OptionalReal({"softmax_scale"}).value_or(out.scale);
}

MptModelConfig ReadMpt(const ConfigView& config, std::string_view class_name) {
  MptModelConfig out;
  MptConfig& block = out.block;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"layer_norm_epsilon", FieldKind::kFloat},
                       {"expansion_ratio", FieldKind::kWhole},
                       {"resid_pdrop", FieldKind::kNumber},
                       {"emb_pdrop", FieldKind::kNumber},
                       {"learned_pos_emb", FieldKind::kFlag},
                       {"init_device", FieldKind::kText},
                       {"no_bias", FieldKind::kFlag},
                       {"embedding_fraction", FieldKind::kFloat},
                       {"norm_type", FieldKind::kText},
                       {"pad_token_id", FieldKind::kWhole, true}});
  const int64_t hidden = config.Size({"hidden_size", "d_model"}, 2048);
  const int64_t heads = config.Size({"num_attention_heads", "n_heads"}, 16);
  // Heads that do not share the width are told by the forward alone.
  block.heads = {hidden, heads, std::max<int64_t>(1, hidden / heads)};
  out.layers = config.Layers({"num_hidden_layers", "n_layers"}, 24);
  block.positions = config.Size({"max_seq_len"}, 2048);
  block.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  ReadAttention(config, block);
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50368);
  out.ties = config.Flag({"tie_word_embeddings"}, true);
  out.head = ReadHead(config, class_name, hidden, out.vocabulary,
                      config.OptionalInteger({"pad_token_id"}));
  out.head.token_name = "classifier";
  out.head.tokens_in_float = false;
  // A number is float | str, which a whole one is not.
  const ConfigValue* scale = config.Raw("logit_scale");
  if (scale != nullptr && !scale->is_string()) {
    CheckFields(config, {{"logit_scale", FieldKind::kFloat, true}});
  }
  // The class for answers hands no use_cache on: the file's value holds.
  const bool uses_cache = config.Flag({"use_cache"}, false);
  out.fills_cache = uses_cache && out.head.kind == Head::kQuestionAnswering;
  // Of the training code that the class does not have.
  config.Ignore({"init_config", "tokenizer_name", "verbose", "attn_config"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const MptModelConfig settings = ReadMpt(config, class_name);
  auto model = std::make_unique<Mpt>(root, settings);
  model->stacks.push_back({"decoder", settings.layers});
  const WholeHeads& heads = settings.block.heads;
  model->states.assign(
      static_cast<size_t>(settings.layers),
      {LayerState::Kind::kFull, heads.heads, heads.head_dim, heads.head_dim});
  model->context_length = {settings.block.positions, "max_seq_len"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mpt"};
constexpr std::array<std::string_view, 5> kClasses = {
    "MptForCausalLM", "MptModel", "MptForSequenceClassification",
    "MptForTokenClassification", "MptForQuestionAnswering"};

}  // namespace

extern const Family kMptFamily = {
    .name = "mpt",
    .title = "MPT",
    .doc =
        "A decoder with linear biases by distance, LayerNorms without a bias "
        "and scores in float32.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
