// Phi 1, 1.5 and 2: attention and a plain feed-forward side by side behind one
// LayerNorm, a part of each head turned, and a head with a bias.
//
// Source: transformers 5.23, models/phi/modeling_phi.py and
// configuration_phi.py.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/partial_rotary.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct PhiSettings {
  bool norms_queries = false;
  int64_t norm_width = 0;  // even where the file states another head_dim
  double dropout = 0;
};

void Extend(const Module& at, GroupedQueryAttention& attention,
            const PhiSettings& settings, double epsilon) {
  if (!settings.norms_queries) {
    attention.before_turn = TurnFirstDims;
    return;
  }
  const auto norm = [&](std::string_view name) {
    return LayerNorm(at.Child(name, RegionKind::kNorm), settings.norm_width,
                     epsilon);
  };
  const LayerNorm q_norm = norm("q_layernorm");
  const LayerNorm k_norm = norm("k_layernorm");
  attention.before_turn = [q_norm, k_norm](Tensor& q, Tensor& k,
                                           const auto& rotary) {
    q = q_norm.Forward(q);
    k = k_norm.Forward(k);
    return TurnFirstDims(q, k, rotary);
  };
}

struct PhiLayer {
  PhiLayer(const Module& at, const AttentionConfig& attention,
           const DecoderKeys& keys, const PhiSettings& settings)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp),
            {.up = "fc1", .down = "fc2", .activation = "activation_fn"},
            attention.hidden, keys.intermediate, true, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon),
        resid_dropout(at.Child("resid_dropout"), settings.dropout) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    Tensor attended = self_attn.Forward(hidden, context.rotary, context.mask,
                                        context.attention, cached);
    attended = resid_dropout.Forward(attended);
    const Tensor forwarded = resid_dropout.Forward(mlp.Forward(hidden));
    hidden = Add(Add(attended, forwarded), input);
    return hidden;
  }

  Module module;
  GroupedQueryAttention self_attn;
  PlainMlp mlp;
  LayerNorm input_layernorm;
  Dropout resid_dropout;
};

AttentionConfig ReadPhiAttention(const ConfigView& config) {
  AttentionConfig attention =
      ReadHeads(config, {.hidden = 2048, .dropout_may_be_null = true});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 64);
  attention.qkv_bias = true;
  attention.output_bias = true;
  attention.output_name = "dense";
  attention.turn = nullptr;
  const ConfigValue* dropout = config.Raw("attention_dropout");
  if (dropout != nullptr && dropout->is_null()) {
    config.Find("model/dropout", Severity::kBlock, "attention_dropout",
                "attention_dropout is null",
                "the class takes it, but a training step fails on it",
                "set attention_dropout to 0.0");
  }
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadPhiAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 51200,
                                  .intermediate = 8192,
                                  .positions = 2048,
                                  .norm_epsilon = 1e-5,
                                  .layers = 24,
                                  .norm_key = "layer_norm_eps",
                                  .activation = "gelu_new"});
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_name = "final_layernorm";
  decoder.embedding_dropout_name = "embed_dropout";
  decoder.embedding_dropout = ReadDropout(config, "embd_pdrop", 0);
  decoder.head.lm_bias = true;
  decoder.rope = ReadPartialRope(config, attention, keys.positions, 0.5);
  PhiSettings settings;
  settings.norms_queries = config.Flag({"qk_layernorm"}, false);
  settings.norm_width = attention.hidden / attention.heads;
  settings.dropout = ReadDropout(config, "resid_pdrop", 0);
  if (settings.norms_queries && settings.norm_width != attention.head_dim) {
    config.Find("model/heads", Severity::kBlock, "head_dim",
                fmt::format("heads have {} dims, and their norms {}",
                            attention.head_dim, settings.norm_width),
                "the norms of queries and keys are hidden_size / "
                "num_attention_heads wide; the forward fails on the shapes",
                fmt::format("set head_dim to {}", settings.norm_width));
  }
  attention.extend = [settings, epsilon = decoder.norm_epsilon](
                         const Module& at, GroupedQueryAttention& one) {
    Extend(at, one, settings, epsilon);
  };
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // Biases are fixed by the class; the rest are settings of the code that came
  // with the first files.
  config.Ignore({"attention_bias", "rotary_dim", "model_size", "flash_attn",
                 "flash_rotary", "fused_dense"});

  auto model = std::make_unique<Decoder<PhiLayer, LayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return PhiLayer(at, attention, keys, settings);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"phi"};
constexpr std::array<std::string_view, 4> kClasses = {
    "PhiForCausalLM", "PhiModel", "PhiForSequenceClassification",
    "PhiForTokenClassification"};

}  // namespace

extern const Family kPhiFamily = {
    .name = "phi",
    .title = "Phi",
    .doc =
        "A decoder whose attention and feed-forward stand side by side behind "
        "one LayerNorm; Phi-1, Phi-1.5 and Phi-2.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
