// InternLM 2 and 2.5: Llama's layer under other names, with queries, keys and
// values from one product, group by group of heads.
//
// transformers 5.23 has no such class. Source: "InternLM2 Technical Report"
// (arXiv 2403.17297) and the published configurations and tensor names. Nothing
// here is recorded against PyTorch, so no figure of it is exact.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = EvenHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"bias"}, true);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden, {.vocabulary = 103168});
  DecoderConfig& decoder = keys.decoder;
  decoder.embeddings_name = "tok_embeddings";
  decoder.head.lm_name = "output";
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  DescribedConfig layer;
  layer.names = {.attention = "attention",
                 .qkv = "wqkv",
                 .output = "wo",
                 .mlp = "feed_forward",
                 .gate = "w1",
                 .up = "w3",
                 .down = "w2",
                 .input_norm = "attention_norm",
                 .mlp_norm = "ffn_norm"};
  layer.groups_heads = true;
  layer.attention = attention;
  layer.intermediate = keys.intermediate;
  layer.activation = keys.activation;
  layer.norm_epsilon = decoder.norm_epsilon;
  // How the code that comes with a file attends; and nothing reads the other.
  config.Ignore({"attn_implementation", "pretraining_tp"});

  using Layer = DescribedLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"internlm2"};
constexpr std::array<std::string_view, 3> kClasses = {
    "InternLM2ForCausalLM", "InternLM2Model",
    "InternLM2ForSequenceClassification"};

}  // namespace

extern const Family kInternlm2Family = {
    .name = "internlm2",
    .title = "InternLM 2",
    .doc =
        "Llama's decoder with one product for queries, keys and values; "
        "InternLM 2 "
        "and 2.5.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the InternLM2 report (arXiv 2403.17297) and published files",
};

}  // namespace foretell
