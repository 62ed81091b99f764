// Phi-3, 3.5 and 4: Llama's layer with queries, keys and values from one
// product, gate and up from another, a part of each head turned, and dropout
// behind both branches.
//
// Source: transformers 5.23, models/phi3/modeling_phi3.py and
// configuration_phi3.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

struct Phi3Attention {
  Phi3Attention(const Module& at, const AttentionConfig& settings)
      : module(at),
        config(settings),
        o_proj(at.Child("o_proj", RegionKind::kLinear),
               config.heads * config.head_dim, config.hidden, false),
        qkv_proj(at.Child("qkv_proj", RegionKind::kLinear), config.hidden,
                 (config.heads + 2 * config.kv_heads) * config.head_dim,
                 false) {}

  // hidden [b, s, width] -> the same
  Tensor Forward(const Tensor& hidden, const DecoderContext& context) const {
    const Scope scope = module.Enter();
    const int64_t batch = hidden.size(0);
    const int64_t length = hidden.size(1);
    const Tensor qkv = qkv_proj.Forward(hidden);
    const int64_t q_end = config.heads * config.head_dim;
    const int64_t k_end = q_end + config.kv_heads * config.head_dim;
    Tensor q = Slice(qkv, 2, 0, q_end);
    Tensor k = Slice(qkv, 2, q_end, k_end);
    Tensor v = Slice(qkv, 2, k_end, std::numeric_limits<int64_t>::max());
    for (Tensor* one : {&q, &k, &v}) {
      *one = View(*one, {batch, length, -1, config.head_dim});
      *one = Transpose(*one, 1, 2);
    }
    std::tie(q, k) =
        ApplyPartialRotary(q, k, context.rotary.first, context.rotary.second);
    if (context.fills_cache) {
      if (CachedLayer* cached = context.output->NextLayer()) {
        std::tie(k, v) = FillCache(*cached, k, v, config.window);
      }
    }
    AttentionCall call;
    call.mask = config.window > 0 ? context.window_mask : context.mask;
    call.dropout = config.dropout;
    call.scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
    call.attention = context.attention;
    const Tensor out = Attend(q, k, v, call);
    return o_proj.Forward(Reshape(out, {batch, length, -1}));
  }

  Module module;
  AttentionConfig config;
  Linear o_proj;
  Linear qkv_proj;
};

struct Phi3Layer {
  Phi3Layer(const Module& at, const AttentionConfig& attention,
            const DecoderKeys& keys, double dropout)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden,
            keys.intermediate, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, keys.decoder.norm_epsilon),
        resid_attn_dropout(at.Child("resid_attn_dropout"), dropout),
        resid_mlp_dropout(at.Child("resid_mlp_dropout"), dropout) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {self_attn.config.window > 0 ? context.window_mask : context.mask,
         context.rotary.first, context.rotary.second, context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    hidden = self_attn.Forward(hidden, context);
    hidden = Add(residual, resid_attn_dropout.Forward(hidden));
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    return Add(residual, resid_mlp_dropout.Forward(hidden));
  }

  Module module;
  Phi3Attention self_attn;
  FusedGatedMlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
  Dropout resid_attn_dropout;
  Dropout resid_mlp_dropout;
};

AttentionConfig ReadPhi3Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 3072});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 96);
  // An absent key and a null are no window.
  attention.window = config.OptionalSize({"sliding_window"}).value_or(0);
  return attention;
}

void RefuseRope(const ConfigView& rope, std::string_view key, std::string what,
                std::string fix) {
  rope.Find("model/rope", Severity::kBlock, key, std::move(what),
            "Phi3Config refuses the configuration as it loads", std::move(fix));
}

// Whatever the type is, factors fit the heads as hidden_size and
// num_attention_heads give them, even where the file states another head_dim.
void CheckFactors(const ConfigView& rope, std::string_view key, int64_t count) {
  const ConfigValue* factors = rope.Raw(key);
  if (factors == nullptr || factors->is_null()) return;
  const bool is_list =
      factors->is_array() &&
      std::ranges::all_of(factors->items(), [](const ConfigValue& item) {
        return item.is_number() || item.AsBool().has_value();
      });
  if (!is_list) {
    RefuseRope(rope, key,
               fmt::format("{} is no list of numbers", rope.PathOf(key)),
               fmt::format("list {} numbers", count));
  } else if (static_cast<int64_t>(factors->items().size()) != count) {
    RefuseRope(
        rope, key,
        fmt::format("{} lists {} factors, and {} dims of a head are "
                    "turned in pairs",
                    rope.PathOf(key), factors->items().size(), 2 * count),
        fmt::format("list {} factors", count));
  }
}

// validate_rope of the class.
void CheckRope(const ConfigView& config, const AttentionConfig& attention,
               const RopeConfig& read) {
  if (config.config().is_loaded) return;
  const ConfigView rope = RopeSettings(config);
  if (read.type != "default" && read.type != "longrope") {
    RefuseRope(rope, rope.Raw("rope_type") != nullptr ? "rope_type" : "type",
               fmt::format("the class takes no rope type {}", read.type),
               "write longrope, or remove the key");
  }
  const ConfigView& place =
      rope.Raw("partial_rotary_factor") != nullptr ? rope : config;
  const double partial =
      place.OptionalReal({"partial_rotary_factor"}).value_or(1);
  const auto even = static_cast<double>(attention.hidden / attention.heads);
  const double turned = std::trunc(even * partial);
  if (!(turned >= 0 && turned <= static_cast<double>(kLargestSize))) return;
  const int64_t count = static_cast<int64_t>(turned) / 2;
  CheckFactors(rope, "short_factor", count);
  CheckFactors(rope, "long_factor", count);
  // Older files' name for longrope; the length that it needs is filled in for
  // the new name only.
  const ConfigValue* type =
      rope.Raw(rope.Raw("rope_type") != nullptr ? "rope_type" : "type");
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  if (type != nullptr && type->AsString() == "su" &&
      rope.Raw(kOriginal) == nullptr) {
    RefuseRope(rope, kOriginal,
               fmt::format("rope type su lacks {}", rope.PathOf(kOriginal)),
               "write longrope in place of su");
  }
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadPhi3Attention(config);
  const DecoderKeys keys = [&] {
    DecoderKeys read = ReadDecoder(config, class_name, attention.hidden,
                                   {.vocabulary = 32064,
                                    .intermediate = 8192,
                                    .positions = 4096,
                                    .norm_epsilon = 1e-5,
                                    .padding = 32000});
    read.decoder.window = attention.window;
    read.decoder.rope =
        ReadRope(config, {.default_theta = 10000,
                          .positions = read.positions,
                          .head_dim = attention.head_dim,
                          .head_dim_is_held = config.Raw("head_dim") != nullptr,
                          .turns_part = true,
                          .original_positions = 4096,
                          .longrope_names = {"su", "yarn"}});
    return read;
  }();
  CheckRope(config, attention, keys.decoder.rope);
  const double dropout = ReadDropout(config, "resid_pdrop", 0);
  // No dropout stands behind the embeddings, although the class has its rate.
  CheckFields(config, {{"embd_pdrop", FieldKind::kNumber}});
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, keys.decoder.layers);
  // The class has no biases; the rest are settings of code that Phi-4-mini's
  // files name and the library's class does not have.
  config.Ignore({"attention_bias", "mlp_bias", "lm_head_bias", "full_attn_mod",
                 "interpolate_factor"});

  auto model = std::make_unique<Decoder<Phi3Layer>>(
      root, keys.decoder, [&](const Module& at, int64_t) {
        return Phi3Layer(at, attention, keys, dropout);
      });
  model->states.assign(static_cast<size_t>(keys.decoder.layers),
                       StateOf(attention, attention.window));
  model->context_length = RopeContext(keys.decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"phi3"};
constexpr std::array<std::string_view, 4> kClasses = {
    "Phi3ForCausalLM", "Phi3Model", "Phi3ForSequenceClassification",
    "Phi3ForTokenClassification"};

}  // namespace

extern const Family kPhi3Family = {
    .name = "phi3",
    .title = "Phi-3",
    .doc =
        "Llama's decoder with fused products for queries, keys and values and "
        "for gate and up; Phi-3, Phi-3.5 and Phi-4.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
