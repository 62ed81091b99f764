#include "models/layers/read_hunyuan.h"

#include <string>

#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

void FixFrequencies(const ConfigView& config, const AttentionConfig& attention,
                    RopeConfig& rope) {
  if (rope.type != "dynamic") return;
  const ConfigView nested = RopeSettings(config);
  if (!nested.Has("alpha") || nested.Real({"alpha"}, 0) == 0) return;
  rope.type = "dynamic by a fixed alpha";
  rope.frequencies = (attention.head_dim + 1) / 2;
}

}  // namespace

AttentionConfig ReadHunyuanAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  if (const auto stated = config.OptionalSize({"head_dim"})) {
    attention.head_dim = *stated;
    return attention;
  }
  attention.head_dim = EvenHeadDim(config, attention);
  config.Find("model/heads", Severity::kBlock, "head_dim",
              "head_dim is not stated",
              "the class has no other width for its heads, and fails as a "
              "layer is built",
              "set head_dim to " + std::to_string(attention.head_dim));
  return attention;
}

RopeConfig ReadHunyuanRope(const ConfigView& config, int64_t positions,
                           const AttentionConfig& attention) {
  RopeConfig rope = ReadRope(config, {.default_theta = 10000,
                                      .positions = positions,
                                      .head_dim = attention.head_dim});
  FixFrequencies(config, attention, rope);
  return rope;
}

void IgnoreHunyuanCode(const ConfigView& config) {
  config.Ignore({"use_qk_norm",        "qk_norm",
                 "mlp_bias",           "attention_head_dim",
                 "norm_type",          "add_classification_head",
                 "class_num",          "pool_type",
                 "use_rotary_pos_emb", "use_cla",
                 "cla_share_factor",   "dense_list",
                 "im_end_id",          "im_newline_id",
                 "im_start_id",        "image_token_id",
                 "mask_init_id",       "sep_token_id",
                 "text_end_id",        "text_start_id",
                 "org_vocab_size",     "group_limited_greedy"});
}

}  // namespace foretell
