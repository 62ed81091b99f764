// Llama: the decoder that most open models follow (Llama 1 to 3, Yi, CodeLlama,
// TinyLlama, SmolLM, DeepSeek-LLM, …).
//
// Source: transformers 5.23, models/llama/modeling_llama.py and
// configuration_llama.py.
#include <fmt/format.h>

#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadLlamaAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  attention.head_dim =
      SizeOrDerived(config, "head_dim", EvenHeadDim(config, attention));
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  CheckKeyValueHeads(config, attention);
  CheckEvenHeads(config, attention, "LlamaConfig");  // a stated head_dim too
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadLlamaAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden, {});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // Split products for old tensor-parallel runs; gone from the class.
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole, true}});
  const double range = config.Has("initializer_range")
                           ? config.Real({"initializer_range"}, 0.02)
                           : 0.02;
  if (!(range >= 0 && range <= 1)) {
    config.Problem("initializer_range",
                   fmt::format("is {}, which the class refuses", range),
                   "write a number from 0.0 to 1.0");
  }
  // Left by other classes and converters: this class has no such attribute.
  config.Ignore({"sliding_window", "use_sliding_window", "max_window_layers",
                 "max_sequence_length", "rope_interleaved", "is_llama_config",
                 "n_ctx", "n_positions"});

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       mlp_bias, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"llama"};
constexpr std::array<std::string_view, 5> kClasses = {
    "LlamaForCausalLM", "LlamaModel", "LlamaForSequenceClassification",
    "LlamaForTokenClassification", "LlamaForQuestionAnswering"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kOldNames = {{{"LLaMAForCausalLM", "LlamaForCausalLM"}}};

}  // namespace

extern const Family kLlamaFamily = {
    .name = "llama",
    .title = "Llama",
    .doc =
        "A decoder of grouped-query attention with rotary positions and a "
        "gated feed-forward, each behind an RMSNorm.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = kOldNames,
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
