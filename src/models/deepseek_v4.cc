// DeepSeek-V4: parameters only. Attention over a window and over compressed
// entries, experts in every layer, and several residual streams that each
// layer mixes.
//
// Source: transformers 5.23, models/deepseek_v4/modeling_deepseek_v4.py and
// configuration_deepseek_v4.py.
// Does not model: the forward, and what generation keeps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/deepseek_v4_modules.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

void Refuse(const ConfigView& config, std::string_view key, std::string what,
            std::string fix) {
  config.Find("model/layer-types", Severity::kBlock, key, std::move(what),
              "the class refuses the configuration as it loads",
              std::move(fix));
}

constexpr std::array<std::pair<std::string_view, V4Attention>, 3> kKinds = {
    {{"sliding_attention", V4Attention::kSliding},
     {"compressed_sparse_attention", V4Attention::kSparse},
     {"heavily_compressed_attention", V4Attention::kHeavy}}};

// Stated by name, or by how many tokens an entry stands for, or as V4-Pro.
std::vector<V4Attention> ReadAttentions(const ConfigView& config,
                                        int64_t layers) {
  std::vector<V4Attention> out;
  const auto names = config.TextList({"layer_types"});
  const auto ratios = config.IntegerList({"compress_ratios"});
  if (names) {
    for (const std::string& name : *names) {
      const auto* kind = std::ranges::find(
          kKinds, name, &std::pair<std::string_view, V4Attention>::first);
      if (kind == kKinds.end()) {
        Refuse(config, "layer_types",
               fmt::format("the class has no layer of the kind \"{}\"",
                           name.substr(0, 40)),
               "write sliding_attention, compressed_sparse_attention or "
               "heavily_compressed_attention");
        break;
      }
      out.push_back(kind->second);
    }
  } else if (ratios) {
    for (const int64_t ratio : *ratios) {
      if (ratio != 0 && ratio != 4 && ratio != 128) {
        Refuse(config, "compress_ratios",
               fmt::format("no layer compresses by {}", ratio),
               "write 0, 4 or 128 for each layer");
      }
      out.push_back(ratio == 0   ? V4Attention::kSliding
                    : ratio == 4 ? V4Attention::kSparse
                                 : V4Attention::kHeavy);
    }
  } else {
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.push_back(layer < 2 || layer % 2 == 0 ? V4Attention::kHeavy
                                                : V4Attention::kSparse);
    }
  }
  if (out.size() < static_cast<size_t>(layers)) {
    Refuse(config, names ? "layer_types" : "compress_ratios",
           fmt::format("{} layers are named, and there are {}", out.size(),
                       layers),
           "name each layer, or remove the key");
  }
  out.resize(static_cast<size_t>(layers), V4Attention::kSliding);
  if (!names) {
    std::vector<ConfigValue> held;
    for (const V4Attention kind : out) {
      for (const auto& [name, of] : kKinds) {
        if (of == kind) held.push_back(ConfigValue::String(std::string(name)));
      }
    }
    config.Derive("layer_types", ConfigValue::Array(std::move(held)));
  }
  return out;
}

std::vector<bool> ReadHashes(const ConfigView& config, int64_t layers) {
  std::vector<bool> out;
  const auto names = config.TextList({"mlp_layer_types"});
  if (names) {
    for (const std::string& name : *names) {
      out.push_back(name == "hash_moe");
      if (name == "hash_moe" || name == "moe") continue;
      Refuse(config, "mlp_layer_types",
             fmt::format("the class has no experts of the kind \"{}\"",
                         name.substr(0, 40)),
             "write hash_moe or moe");
      break;
    }
    if (out.size() < static_cast<size_t>(layers)) {
      Refuse(config, "mlp_layer_types",
             fmt::format("{} layers are named, and there are {}", out.size(),
                         layers),
             "name each layer, or remove the key");
    }
    config.Ignore({"num_hash_layers"});
  } else {
    const int64_t first =
        config.OptionalInteger({"num_hash_layers"}).value_or(3);
    std::vector<ConfigValue> held;
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.push_back(layer < first);
      held.push_back(ConfigValue::String(layer < first ? "hash_moe" : "moe"));
    }
    config.Derive("mlp_layer_types", ConfigValue::Array(std::move(held)));
  }
  out.resize(static_cast<size_t>(layers));
  return out;
}

// How many angles there are, half the turned dims of a head.
int64_t ReadFrequencies(const ConfigView& config, int64_t head_dim) {
  double partial = 64.0 / 512;
  const auto turned = config.OptionalSize({"qk_rope_head_dim"});
  if (const auto stated = config.OptionalReal({"partial_rotary_factor"})) {
    partial = *stated;
  } else if (turned) {
    partial = static_cast<double>(*turned) / static_cast<double>(head_dim);
  }
  if (!(partial >= 0 && partial <= 1)) {
    config.Problem("partial_rotary_factor",
                   fmt::format("turns {} of a head", partial),
                   "write a number from 0 to 1");
    partial = 0;
  }
  const auto dims =
      static_cast<int64_t>(static_cast<double>(head_dim) * partial);
  config.Nested("rope_parameters");
  config.Nested("rope_scaling");
  // Angles move numbers, not shapes.
  config.Ignore({"rope_parameters", "rope_scaling", "rope_theta",
                 "compress_rope_theta", "compress_rope_parameters"});
  return (dims + 1) / 2;
}

int64_t ReadRate(const ConfigView& config, std::string_view key,
                 std::string_view old_key, int64_t otherwise) {
  const auto old_rate = config.OptionalSize({old_key});
  const ConfigView rates = config.NestedOr("compress_rates", nullptr);
  const int64_t rate =
      rates.object() == nullptr ? otherwise : rates.Size({key}, otherwise);
  return old_rate.value_or(rate);
}

V4Config ReadConfig(const ConfigView& config, const DecoderKeys& keys) {
  V4Config out;
  out.hidden = keys.decoder.hidden;
  out.heads = config.Size({"num_attention_heads"}, 64);
  out.head_dim = config.Size({"head_dim"}, 512);
  out.q_rank = config.Size({"q_lora_rank"}, 1024);
  out.output_groups = config.Size({"o_groups"}, 8);
  out.output_rank = config.Size({"o_lora_rank"}, 1024);
  out.index_heads = config.Size({"index_n_heads"}, 64);
  out.index_dim = config.Size({"index_head_dim"}, 128);
  out.streams = config.Size({"hc_mult"}, 4);
  out.mlp_bias = config.Flag({"mlp_bias"}, false);
  out.sparse_rate =
      ReadRate(config, "compressed_sparse_attention", "compress_rate_csa", 4);
  out.heavy_rate = ReadRate(config, "heavily_compressed_attention",
                            "compress_rate_hca", 128);
  out.frequencies = ReadFrequencies(config, out.head_dim);
  ExpertsConfig& experts = out.experts;
  experts.hidden = out.hidden;
  experts.activation = keys.activation;
  experts.intermediate =
      config.SizeOrZero({"intermediate_size", "moe_intermediate_size"}, 2048);
  experts.experts =
      config.SizeOrZero({"num_local_experts", "n_routed_experts"}, 256);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 6);
  CheckExpertsPerToken(config, experts);
  out.attentions = ReadAttentions(config, keys.decoder.layers);
  out.hashes = ReadHashes(config, keys.decoder.layers);
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const int64_t hidden = config.Size({"hidden_size"}, 4096);
  const DecoderKeys keys = ReadDecoder(config, class_name, hidden,
                                       {.vocabulary = 129280,
                                        .intermediate = 2048,
                                        .positions = 1048576,
                                        .layers = 43});
  const V4Config read = ReadConfig(config, keys);
  CheckFields(config, {{"num_key_value_heads", FieldKind::kWhole},
                       {"n_shared_experts", FieldKind::kWhole},
                       {"scoring_func", FieldKind::kText},
                       {"norm_topk_prob", FieldKind::kFlag},
                       {"routed_scaling_factor", FieldKind::kFloat},
                       {"hc_sinkhorn_iters", FieldKind::kWhole},
                       {"hc_eps", FieldKind::kFloat},
                       {"rope_theta", FieldKind::kNumber},
                       {"compress_rope_theta", FieldKind::kNumber},
                       {"partial_rotary_factor", FieldKind::kFloat, true},
                       {"swiglu_limit", FieldKind::kFloat},
                       {"sliding_window", FieldKind::kWhole},
                       {"index_topk", FieldKind::kWhole},
                       {"num_nextn_predict_layers", FieldKind::kWhole},
                       {"output_router_logits", FieldKind::kFlag},
                       {"router_aux_loss_coef", FieldKind::kFloat},
                       {"router_jitter_noise", FieldKind::kFloat},
                       {"attention_bias", FieldKind::kFlag},
                       {"attention_dropout", FieldKind::kFloat}});
  // Keys of V3 that files still carry; the class has no such modules.
  config.Ignore({"expert_dtype", "first_k_dense_replace", "kv_lora_rank",
                 "n_group", "topk_group", "topk_method", "pretraining_tp",
                 "qk_nope_head_dim", "rope_interleave", "v_head_dim"});
  auto model = std::make_unique<V4Model>(root, read, keys.decoder);
  model->context_length.tokens = keys.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"deepseek_v4"};
constexpr std::array<std::string_view, 2> kClasses = {"DeepseekV4ForCausalLM",
                                                      "DeepseekV4Model"};

}  // namespace

extern const Family kDeepseekV4Family = {
    .name = "deepseek_v4",
    .title = "DeepSeek-V4",
    .doc =
        "Parameters only: attention over a window and compressed entries, "
        "experts in every layer, several residual streams.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
