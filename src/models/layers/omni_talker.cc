#include "models/layers/omni_talker.h"

#include <algorithm>
#include <vector>

#include "models/layers/check_fields.h"
#include "models/layers/plain_decoder.h"
#include "models/layers/read_decoder.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

struct Defaults {
  int64_t vocabulary = 3072;
  int64_t layers = 20;
  int64_t intermediate = 2048;
  int64_t kv_heads = 2;
};

struct Stack {
  AttentionConfig attention;
  int64_t vocabulary = 0;
  int64_t layers = 0;
  int64_t intermediate = 0;
  bool bias = false;
};

Stack ReadStack(const ConfigView& config, const Defaults& otherwise) {
  Stack out;
  AttentionConfig& attention = out.attention;
  attention.hidden = config.Size({"hidden_size"}, 1024);
  attention.heads = config.Size({"num_attention_heads"}, 16);
  attention.kv_heads = config.Size({"num_key_value_heads"}, otherwise.kv_heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  ProductOf(config, "head_dim", attention.heads, attention.head_dim);
  out.vocabulary = config.Size({"vocab_size"}, otherwise.vocabulary);
  out.layers = config.Layers({"num_hidden_layers"}, otherwise.layers);
  out.intermediate = config.Size({"intermediate_size"}, otherwise.intermediate);
  out.bias = config.Flag({"attention_bias"}, false);
  config.Ignore({"rope_scaling", "sliding_window", "use_sliding_window",
                 "max_window_layers", "layer_types", "tie_word_embeddings",
                 "norm_topk_prob", "output_router_logits",
                 "router_aux_loss_coef"});
  IgnoreTowerKeys(config);
  return out;
}

void AddAttention(const TowerModule& at, const Stack& stack, bool output_bias,
                  bool norms) {
  const AttentionConfig& heads = stack.attention;
  const int64_t queries = heads.heads * heads.head_dim;
  const int64_t keys = heads.kv_heads * heads.head_dim;
  at.Linear("q_proj", heads.hidden, queries, stack.bias);
  at.Linear("k_proj", heads.hidden, keys, stack.bias);
  at.Linear("v_proj", heads.hidden, keys, stack.bias);
  at.Linear("o_proj", queries, heads.hidden, output_bias);
  if (!norms) return;
  at.RmsNorm("q_norm", heads.head_dim);
  at.RmsNorm("k_norm", heads.head_dim);
}

struct Experts {
  int64_t experts = 0;
  int64_t per_token = 0;
  int64_t intermediate = 0;
  int64_t shared = 0;
};

void AddExperts(const TowerModule& mlp, const Experts& experts,
                int64_t hidden) {
  mlp.Child("gate", RegionKind::kRouter)
      .Parameter("weight", {experts.experts, hidden});
  const Module at = mlp.Child("experts", RegionKind::kExperts).module();
  const ParameterId wide = at.Parameter(
      "gate_up_proj", {experts.experts, 2 * experts.intermediate, hidden});
  const ParameterId narrow = at.Parameter(
      "down_proj", {experts.experts, hidden, experts.intermediate});
  for (const ParameterId weight : {wide, narrow}) {
    at.builder().MarkExperts(weight, experts.experts, experts.per_token);
  }
  AddPlainMlp(mlp.Child("shared_expert", RegionKind::kMlp), hidden,
              experts.shared);
  mlp.Linear("shared_expert_gate", hidden, 1, false);
}

Experts ReadExperts(const ConfigView& config) {
  Experts out;
  out.experts = config.Size({"num_experts", "num_local_experts"}, 128);
  out.per_token = config.Size({"num_experts_per_tok"}, 8);
  out.intermediate = config.Size({"moe_intermediate_size"}, 384);
  out.shared = config.Size({"shared_expert_intermediate_size"}, 0);
  return out;
}

void AddDecoder(const ConfigView& config, const TowerModule& at,
                const Stack& stack) {
  const Experts experts = ReadExperts(config);
  config.Ignore({"mlp_only_layers", "decoder_sparse_step"});
  const int64_t hidden = stack.attention.hidden;
  const TowerModule layers = at.Child("layers");
  for (int64_t index = 0; index < stack.layers; ++index) {
    const TowerModule layer = layers.Child(index);
    AddAttention(layer.Child("self_attn", RegionKind::kAttention), stack,
                 stack.bias, true);
    AddExperts(layer.Child("mlp", RegionKind::kMlp), experts, hidden);
    layer.RmsNorm("input_layernorm", hidden);
    layer.RmsNorm("post_attention_layernorm", hidden);
  }
  at.RmsNorm("norm", hidden);
  at.Angles("rotary_emb", (stack.attention.head_dim + 1) / 2);
  at.Embedding("codec_embedding", stack.vocabulary, hidden);
}

void AddPredictor(const ConfigView& config, const TowerModule& at) {
  const Stack stack = ReadStack(
      config,
      {.vocabulary = 2048, .layers = 5, .intermediate = 3072, .kv_heads = 8});
  const int64_t groups = config.Size({"num_code_groups"}, 32);
  const int64_t hidden = stack.attention.hidden;
  const TowerModule base = at.Child("model");
  const TowerModule layers = base.Child("layers");
  for (int64_t index = 0; index < stack.layers; ++index) {
    const TowerModule layer = layers.Child(index);
    AddAttention(layer.Child("self_attn", RegionKind::kAttention), stack,
                 stack.bias, true);
    AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden,
                stack.intermediate);
    layer.RmsNorm("input_layernorm", hidden);
    layer.RmsNorm("post_attention_layernorm", hidden);
  }
  base.RmsNorm("norm", hidden);
  base.Angles("rotary_emb", (stack.attention.head_dim + 1) / 2);
  if (groups - 1 > kLargestLayerCount) {
    config.Problem("num_code_groups", "is more than 4097 groups",
                   "the published model states 16");
    return;
  }
  const TowerModule tables = base.Child("codec_embedding");
  const TowerModule heads = at.Child("lm_head", RegionKind::kHead);
  for (int64_t index = 0; index + 1 < groups; ++index) {
    tables.Child(index).Parameter("weight", {stack.vocabulary, hidden});
    heads.Child(index).Parameter("weight", {stack.vocabulary, hidden});
  }
}

void AddResize(const TowerModule& at, int64_t in, int64_t inner, int64_t out) {
  at.Linear("linear_fc1", in, inner, true);
  at.Linear("linear_fc2", inner, out, true);
}

// Rates of a wave, each at least one and small enough to multiply.
std::vector<int64_t> ReadRates(const ConfigView& config, std::string_view key,
                               std::vector<int64_t> otherwise) {
  constexpr int64_t kMost = 4096;
  const auto list = config.IntegerList({key});
  if (!list) return otherwise;
  const bool fits =
      list->size() <= 16 && std::ranges::all_of(*list, [](int64_t rate) {
        return rate >= 1 && rate <= kMost;
      });
  if (fits) return *list;
  config.Problem(key, "is no short list of rates from 1 to 4096",
                 "the published model states four");
  return otherwise;
}

void AddSnake(const TowerModule& at, int64_t channels) {
  at.Parameter("alpha", {channels});
  at.Parameter("beta", {channels});
}

void AddConv(const TowerModule& at, std::string_view name, int64_t in,
             int64_t out, int64_t kernel) {
  at.Child(name).Convolution("conv", {out, in, kernel}, true);
}

// A transposed convolution, whose bias is of its second dim.
void AddUpsampling(const TowerModule& at, int64_t in, int64_t out,
                   int64_t kernel) {
  const TowerModule conv = at.Child("conv", RegionKind::kLinear);
  conv.Parameter("weight", {in, out, kernel});
  conv.Parameter("bias", {out});
}

constexpr int64_t kWaveKernel = 7;

void AddWaveTransformer(const TowerModule& at, const Stack& stack) {
  const int64_t hidden = stack.attention.hidden;
  const TowerModule layers = at.Child("layers");
  for (int64_t index = 0; index < stack.layers; ++index) {
    const TowerModule layer = layers.Child(index);
    AddAttention(layer.Child("self_attn", RegionKind::kAttention), stack,
                 stack.bias, false);
    AddPlainMlp(layer.Child("mlp", RegionKind::kMlp), hidden,
                stack.intermediate);
    layer.RmsNorm("input_layernorm", hidden);
    layer.RmsNorm("post_attention_layernorm", hidden);
    layer.Child("self_attn_layer_scale").Parameter("scale", {hidden});
    layer.Child("mlp_layer_scale").Parameter("scale", {hidden});
  }
  at.RmsNorm("norm", hidden);
  at.Angles("rotary_emb", (stack.attention.head_dim + 1) / 2);
}

void AddConvNext(const TowerModule& at, int64_t hidden) {
  at.Parameter("gamma", {hidden});
  AddConv(at, "dwconv", 1, hidden, kWaveKernel);
  at.LayerNorm("norm", hidden);
  at.Linear("pwconv1", hidden, 4 * hidden, true);
  at.Linear("pwconv2", 4 * hidden, hidden, true);
}

void AddWaveDecoder(const TowerModule& at, int64_t hidden, int64_t wide,
                    const std::vector<int64_t>& rates) {
  AddConv(at, "0", hidden, wide, kWaveKernel);
  int64_t channels = wide;
  for (size_t i = 0; i < rates.size(); ++i) {
    const TowerModule block =
        at.Child(static_cast<int64_t>(i) + 1).Child("block");
    const int64_t half = channels / 2;
    AddSnake(block.Child("0"), channels);
    AddUpsampling(block.Child("1"), channels, half, 2 * rates[i]);
    // One residual unit for each of the dilations 1, 3 and 9.
    for (const std::string_view unit : {"2", "3", "4"}) {
      const TowerModule residual = block.Child(unit);
      AddSnake(residual.Child("act1"), half);
      AddConv(residual, "conv1", half, half, kWaveKernel);
      AddSnake(residual.Child("act2"), half);
      AddConv(residual, "conv2", half, half, 1);
    }
    channels = half;
  }
  const auto next = static_cast<int64_t>(rates.size()) + 1;
  AddSnake(at.Child(next), channels);
  at.Child(next + 1).Convolution("conv", {1, channels, kWaveKernel}, true);
}

}  // namespace

void AddOmniTalker(const ConfigView& config, const Module& root) {
  const TowerModule at(root);
  const ConfigView text = config.Nested("text_config");
  const Stack stack = ReadStack(text, {});
  const int64_t hidden = stack.attention.hidden;
  const int64_t thinker = config.Size({"thinker_hidden_size"}, 2048);
  config.Ignore({"accept_hidden_layer", "codec_bos_id", "codec_nothink_id",
                 "codec_pad_id", "codec_think_bos_id", "codec_think_eos_id",
                 "codec_eos_token_id", "position_id_per_seconds",
                 "seconds_per_chunk", "spatial_merge_size", "speaker_id",
                 "num_code_groups", "output_router_logits", "model_type",
                 "audio_token_id", "audio_start_token_id", "image_token_id",
                 "video_token_id", "vision_start_token_id"});
  AddDecoder(text, at.Child("model"), stack);
  AddResize(at.Child("text_projection"), thinker, stack.intermediate, hidden);
  AddResize(at.Child("hidden_projection"), thinker, stack.intermediate, hidden);
  at.Linear("codec_head", hidden, stack.vocabulary, false);
  AddPredictor(config.Nested("code_predictor_config"),
               at.Child("code_predictor"));
}

void AddCodeToWave(const ConfigView& config, const Module& root) {
  const TowerModule at(root);
  const Stack stack =
      ReadStack(config, {.layers = 8, .intermediate = 3072, .kv_heads = 16});
  const int64_t hidden = stack.attention.hidden;
  const int64_t codes = config.Size({"codebook_size"}, 2048);
  const int64_t quantizers = config.Size({"num_quantizers"}, 16);
  const int64_t wide = config.Size({"decoder_dim"}, 1536);
  const std::vector<int64_t> rates =
      ReadRates(config, "upsample_rates", {8, 5, 4, 3});
  const std::vector<int64_t> ratios =
      ReadRates(config, "upsampling_ratios", {2, 2});
  config.Ignore({"codebook_dim", "layer_scale_initial_scale",
                 "num_semantic_quantizers", "semantic_codebook_size",
                 "vector_quantization_hidden_dimension"});
  AddWaveTransformer(at.Child("pre_transformer"), stack);
  at.Embedding("code_embedding",
               ProductOf(config, "num_quantizers", codes, quantizers), hidden);
  root.Buffer("code_offset", {1, quantizers, 1}, DType::kInt64, false);
  const TowerModule upsample = at.Child("upsample");
  for (size_t i = 0; i < ratios.size(); ++i) {
    const TowerModule step = upsample.Child(static_cast<int64_t>(i));
    AddUpsampling(step.Child("0"), hidden, hidden, ratios[i]);
    AddConvNext(step.Child("1"), hidden);
  }
  AddWaveDecoder(at.Child("decoder"), hidden, wide, rates);
}

}  // namespace foretell
