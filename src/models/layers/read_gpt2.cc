#include "models/layers/read_gpt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "models/layers/check_fields.h"

namespace foretell {
namespace {

void ReadBlock(const ConfigView& config, int64_t layers, Gpt2BlockConfig& out) {
  out.hidden = config.Size({"hidden_size", "n_embd"}, 768);
  out.heads = config.Size({"num_attention_heads", "n_head"}, 12);
  out.head_dim = std::max<int64_t>(1, out.hidden / out.heads);
  if (layers > 0 && out.hidden % out.heads != 0) {
    config.Find("model/heads", Severity::kBlock, "n_head",
                fmt::format("n_embd {} is not a multiple of n_head {}",
                            out.hidden, out.heads),
                "GPT2Attention refuses it as the model is built",
                "choose a number of heads that divides n_embd");
  }
  // Null or absent: four times the width; zero stays zero.
  out.inner = config.Has("n_inner") ? config.SizeOrZero({"n_inner"}, 0)
                                    : 4 * out.hidden;
  const std::string activation =
      config.Text({"activation_function"}, "gelu_new");
  if (layers > 0) {
    out.activation = ActivationNamed(config, "activation_function", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_epsilon"}, 1e-5);
  out.attention_dropout = ReadDropout(config, "attn_pdrop", 0.1);
  out.residual_dropout = ReadDropout(config, "resid_pdrop", 0.1);
  out.cross_attention = config.Flag({"add_cross_attention"}, false);
  out.scale_weights = config.Flag({"scale_attn_weights"}, true);
  out.scale_by_layer = config.Flag({"scale_attn_by_inverse_layer_idx"}, false);
  out.reorder_and_upcast = config.Flag({"reorder_and_upcast_attn"}, false);
}

}  // namespace

Gpt2Config ReadGpt2(const ConfigView& config, const Gpt2Needs& needs) {
  Gpt2Config out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_epsilon", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50257);
  out.positions =
      SizeOrEmpty(config, {"max_position_embeddings", "n_positions"}, 1024);
  out.block.positions = out.positions;
  out.layers = config.Layers({"num_hidden_layers", "n_layer"}, 12);
  ReadBlock(config, out.layers, out.block);
  out.embedding_dropout = ReadDropout(config, "embd_pdrop", 0.1);
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.uses_cache = config.Flag({"use_cache"}, true);
  out.padding = config.OptionalInteger({"pad_token_id"});
  out.labels = ReadLabels(config, needs.labels);
  if (needs.classifier_dropout) {
    for (const std::string_view key :
         {"hidden_dropout", "classifier_dropout"}) {
      if (config.Has(key)) {
        out.classifier_dropout = ReadDropout(config, key, 0.1);
      }
    }
  }
  out.summary = ReadGpt2Summary(config, needs.summary);
  // n_ctx was the length of a mask that is no longer kept; the rest belongs to
  // GPT-1, to pruning, or to other classes' heads.
  config.Ignore({"n_ctx", "n_special", "predict_special_tokens", "pruned_heads",
                 "hidden_dropout", "classifier_dropout", "is_decoder"});
  return out;
}

}  // namespace foretell
