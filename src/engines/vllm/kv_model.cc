#include "engines/vllm/kv_model.h"

#include <algorithm>
#include <array>

namespace foretell::vllm {
namespace {

bool IsAttention(const std::string& type) {
  return type == "full_attention" || type == "attention" || type == "hybrid" ||
         type == "sliding_attention";
}

KvShape Attention(const ServedConfig& config, const ServingSettings& settings,
                  int64_t index) {
  KvShape out;
  out.name = "model.layers." + std::to_string(index) + ".self_attn.attn";
  out.index = index;
  out.spec.heads =
      HeadsOfRank(config.key_value_heads(), settings.tensor_parallel);
  out.spec.key_dim = config.head_dim();
  out.spec.value_dim = out.spec.key_dim;
  return out;
}

void SetWindow(KvShape& shape, std::optional<int64_t> window,
               const ServingSettings& settings) {
  if (!window || *window <= 0 || settings.disable_sliding_window) return;
  shape.spec.kind = KvKind::kSliding;
  shape.spec.window = *window;
}

KvShape State(const StateFacts& facts, int64_t index, std::string name) {
  KvShape out;
  out.name = std::move(name);
  out.index = index;
  out.source = KvSource::kState;
  out.spec.kind = KvKind::kState;
  out.spec.states = facts.states;
  out.spec.checkpoint_states = facts.checkpoints;
  out.spec.is_sharded_by_context = false;
  return out;
}

// Ordinary decoders: a window for every layer whose type says so, or for all
// where the model has but one kind.
void AddDecoder(const ServedConfig& config, const ServingSettings& settings,
                KvModel& model) {
  const std::vector<std::string> types = config.LayerTypes();
  const auto window = config.Size({"sliding_window"});
  const bool is_all_sliding =
      types.empty() ? config.Flag("use_sliding_window", true)
                    : std::ranges::all_of(types, [](const std::string& type) {
                        return type == "sliding_attention";
                      });
  // Cohere's window counts the token itself.
  const bool is_inclusive = config.text_type().starts_with("cohere2");
  const std::vector<int64_t> no_rope = config.Integers("no_rope_layers");
  const bool is_chunked =
      config.text_type() == "llama4_text" || config.text_type() == "llama4";
  const std::vector<int64_t> of_block = config.Integers("swa_layers");
  const bool has_sinks =
      config.text_type() == "gpt_oss" || config.Flag("attention_sinks", false);
  for (int64_t i = 0; i < model.stack; ++i) {
    const auto at = static_cast<size_t>(i);
    KvShape shape = Attention(config, settings, i);
    shape.has_sink = has_sinks;
    const bool is_sliding =
        at < types.size() ? types[at] == "sliding_attention" : is_all_sliding;
    if (is_chunked) {
      // Every fourth layer has no rotary positions and sees everything.
      const bool is_nope =
          at < no_rope.size() ? no_rope[at] == 0 : (i + 1) % 4 == 0;
      const auto chunk = config.Size({"attention_chunk_size"});
      if (!is_nope && chunk && *chunk > 0) {
        shape.spec.kind = KvKind::kChunked;
        shape.spec.chunk = *chunk;
      }
    } else if ((is_sliding && !types.empty()) ||
               (types.empty() && is_all_sliding)) {
      SetWindow(shape,
                window && is_inclusive ? std::optional(*window + 1) : window,
                settings);
    }
    model.layers.push_back(std::move(shape));
  }
}

// Gemma 3n and 4: the last layers use the cache of an earlier one, and Gemma
// 4's full layers have heads of another size.
void AddGemmaShared(const ServedConfig& config, const ServingSettings& settings,
                    KvModel& model) {
  const std::vector<std::string> types = config.LayerTypes();
  const int64_t shared = config.SizeOr({"num_kv_shared_layers"}, 0);
  const bool is_fourth = config.text_type().starts_with("gemma4");
  for (int64_t i = 0; i < model.stack - shared; ++i) {
    const auto at = static_cast<size_t>(i);
    KvShape shape = Attention(config, settings, i);
    const bool is_sliding =
        at < types.size() && types[at] == "sliding_attention";
    if (is_sliding) {
      SetWindow(shape, config.Size({"sliding_window"}), settings);
    } else if (is_fourth) {
      const int64_t dim = config.SizeOr({"global_head_dim"}, 512);
      shape.spec.key_dim = dim;
      shape.spec.value_dim = dim;
      if (config.Flag("attention_k_eq_v", false)) {
        const auto heads = config.Size({"num_global_key_value_heads"});
        if (heads && *heads > 0) {
          shape.spec.heads = HeadsOfRank(*heads, settings.tensor_parallel);
        }
      }
    }
    model.layers.push_back(std::move(shape));
  }
}

void AddMimo(const ServedConfig& config, const ServingSettings& settings,
             KvModel& model) {
  const std::vector<int64_t> pattern = config.Integers("hybrid_layer_pattern");
  for (int64_t i = 0; i < model.stack; ++i) {
    const auto at = static_cast<size_t>(i);
    KvShape shape = Attention(config, settings, i);
    shape.spec.value_dim = config.SizeOr({"v_head_dim"}, shape.spec.key_dim);
    if (at < pattern.size() && pattern[at] == 1) {
      shape.spec.heads = HeadsOfRank(
          config.SizeOr({"swa_num_key_value_heads"}, config.key_value_heads()),
          settings.tensor_parallel);
      shape.spec.key_dim = config.SizeOr({"swa_head_dim"}, shape.spec.key_dim);
      shape.spec.value_dim =
          config.SizeOr({"swa_v_head_dim"}, shape.spec.key_dim);
      shape.has_sink = config.Flag("add_swa_attention_sink_bias", false);
      SetWindow(shape, config.Size({"sliding_window_size", "sliding_window"}),
                settings);
    }
    model.layers.push_back(std::move(shape));
  }
}

// Nemotron NAS: blocks without attention, and groups of another size in each.
void AddBlocks(const ServedConfig& config, const ServingSettings& settings,
               KvModel& model) {
  const ConfigValue* blocks = config.Find("block_configs");
  if (blocks == nullptr || !blocks->is_array()) {
    return AddDecoder(config, settings, model);
  }
  int64_t index = 0;
  for (const ConfigValue& block : blocks->items()) {
    const ConfigValue* attention = block.Find("attention");
    const ConfigValue* no_op =
        attention == nullptr ? nullptr : attention->Find("no_op");
    const ConfigValue* group =
        attention == nullptr ? nullptr : attention->Find("n_heads_in_group");
    const bool is_none = no_op != nullptr && no_op->AsBool().value_or(false);
    const int64_t size = group == nullptr ? 0 : group->AsInteger().value_or(0);
    if (!is_none && size > 0 && size <= kMostSize && index < model.stack) {
      KvShape shape = Attention(config, settings, index);
      shape.spec.heads = HeadsOfRank(config.attention_heads() / size,
                                     settings.tensor_parallel);
      if (model.heads == 0) model.heads = shape.spec.heads;
      model.layers.push_back(std::move(shape));
    }
    ++index;
  }
}

// States beside attention, in the order of the layers; a layer of Falcon H1
// has both, and Zamba's "hybrid" layers do.
void AddHybrid(const ServedConfig& config, const ServingSettings& settings,
               const ServingCard& card, KvModel& model) {
  const StateFacts facts = ReadStates(config, settings, card);
  model.checkpoint_alignment = facts.checkpoint_alignment;
  if (facts.states.empty()) {
    model.fault = "the configuration does not say what its state layers keep";
    return;
  }
  const auto state = [&](int64_t i) {
    model.layers.push_back(
        State(facts, i, "model.layers." + std::to_string(i) + ".mixer"));
  };
  const std::string& type = config.text_type();
  if (type == "falcon_h1") {
    for (int64_t i = 0; i < model.stack; ++i) {
      model.layers.push_back(Attention(config, settings, i));
      state(i);
    }
    return;
  }
  if (type == "nemotron_h") {
    const std::string pattern = config.Text("hybrid_override_pattern");
    if (!pattern.empty()) {
      int64_t index = 0;
      for (const char letter : pattern) {
        if (letter == 'M') state(index);
        if (letter == '*') {
          model.layers.push_back(Attention(config, settings, index));
        }
        if (letter != '|') ++index;
      }
      model.stack = index;
      return;
    }
  }
  std::vector<std::string> types = config.LayerTypes();
  if (types.empty()) {
    const int64_t every = config.SizeOr({"attn_layer_period"}, 0);
    const int64_t first = config.SizeOr({"attn_layer_offset"}, 0);
    const std::vector<int64_t> listed = config.Integers(
        config.FindInRoot("full_attn_idxs") != nullptr ? "full_attn_idxs"
                                                       : "attn_layer_indices");
    for (int64_t i = 0; i < model.stack; ++i) {
      const bool is_attention =
          every > 0 ? i % every == first
                    : std::ranges::find(listed, i) != listed.end();
      types.emplace_back(is_attention ? "full_attention" : "linear_attention");
    }
  }
  if (type == "zamba2") {
    // The shared blocks are built before the layers, each with the caches of
    // the layers that use it.
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] != "hybrid") continue;
      KvShape shape = Attention(config, settings, static_cast<int64_t>(i));
      shape.spec.key_dim =
          config.SizeOr({"attention_head_dim"},
                        2 * config.hidden_size() /
                            std::max<int64_t>(config.attention_heads(), 1));
      shape.spec.value_dim = shape.spec.key_dim;
      shape.spec.heads = config.attention_heads() / settings.tensor_parallel;
      model.layers.push_back(std::move(shape));
    }
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (type == "zamba2") {
      state(index);
    } else if (IsAttention(types[i])) {
      model.layers.push_back(Attention(config, settings, index));
    } else if (types[i] != "mlp" && types[i] != "moe") {
      state(index);
    }
  }
}

void AddStates(const ServedConfig& config, const ServingSettings& settings,
               const ServingCard& card, KvModel& model) {
  const StateFacts facts = ReadStates(config, settings, card);
  if (facts.states.empty()) {
    model.fault = "the configuration does not say what its state layers keep";
  }
  for (int64_t i = 0; i < model.stack; ++i) {
    model.layers.push_back(
        State(facts, i, "backbone.layers." + std::to_string(i) + ".mixer"));
  }
}

void AddWhisper(const ServedConfig& config, const ServingSettings& settings,
                KvModel& model) {
  model.stack = std::min(config.SizeOr({"decoder_layers"}, 0), kMostLayers);
  const int64_t heads = config.SizeOr({"decoder_attention_heads"}, 0);
  for (int64_t i = 0; i < model.stack && heads > 0; ++i) {
    KvShape shape;
    shape.index = i;
    shape.spec.heads = std::max<int64_t>(1, heads / settings.tensor_parallel);
    shape.spec.key_dim = config.hidden_size() / heads;
    shape.spec.value_dim = shape.spec.key_dim;
    const std::string prefix = "model.decoder.layers." + std::to_string(i);
    shape.name = prefix + ".self_attn.attn";
    model.layers.push_back(shape);
    shape.name = prefix + ".encoder_attn.attn";
    shape.source = KvSource::kCross;
    shape.spec.kind = KvKind::kCross;
    model.layers.push_back(std::move(shape));
  }
}

// Attends both ways, so nothing is kept.
bool IsEncoder(const ServedConfig& config) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Bert", "Roberta", "XLMRoberta", "ModernBert", "NomicBert", "GteModel",
       "GteNew", "NewModel", "CLIPModel", "SiglipModel", "HF_ColBERT",
       "DistilBert", "MPNet", "LlamaBidirectional", "JinaBert"});
  const std::string& name = config.architecture();
  if (std::ranges::any_of(kNames, [&](std::string_view prefix) {
        return name.starts_with(prefix);
      })) {
    return true;
  }
  return (config.text_type().starts_with("gemma3") &&
          config.Flag("use_bidirectional_attention", false)) ||
         !config.Flag("is_causal", true);
}

bool HasImagePrefix(const ServedConfig& config,
                    const ServingSettings& settings) {
  if (settings.language_model_only || !config.has_towers()) return false;
  if (config.FindInRoot("is_mm_prefix_lm") != nullptr) {
    return config.Flag("is_mm_prefix_lm", false);
  }
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"bagel", "gemma3", "molmo2", "moondream3", "paligemma"});
  return std::ranges::find(kTypes, config.root_type()) != kTypes.end();
}

}  // namespace

int64_t HeadsOfRank(int64_t heads, int64_t ranks) {
  return std::max<int64_t>(1, heads / std::max<int64_t>(ranks, 1));
}

KvModel ReadKvModel(const ServedConfig& config, const ServingSettings& settings,
                    const ServingCard& card) {
  KvModel model;
  const std::string& type = config.text_type();
  model.stack = config.layers();
  model.query_heads =
      config.attention_heads() / std::max<int64_t>(settings.tensor_parallel, 1);
  model.heads = HeadsOfRank(config.key_value_heads(), settings.tensor_parallel);
  model.head_dim = config.head_dim();
  model.nope_dim = config.Written("qk_nope_head_dim");
  model.has_image_prefix = HasImagePrefix(config, settings);
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, type) != names.end();
  };
  if (IsEncoder(config)) return model;
  if (is({"deepseek_v4", "deepseek_v41"})) {
    AddCompressedLayers(config, settings, card, model);
  } else if (is({"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2",
                 "glm4_moe_lite", "glm_moe_dsa", "longcat_flash", "axk1",
                 "kimi_linear", "bailing_hybrid", "minicpm3", "minimax_m3",
                 "minimax_m3_vl", "minimax_m3_vl_text", "pangu_ultra_moe"})) {
    AddLatentLayers(config, settings, card, model);
  } else if (is({"mamba", "mamba2", "falcon_mamba"})) {
    AddStates(config, settings, card, model);
  } else if (is({"falcon_h1", "nemotron_h", "zamba2", "jamba", "bamba",
                 "granitemoehybrid", "qwen3_next", "lfm2", "lfm2_moe",
                 "olmo_hybrid"}) ||
             type.starts_with("qwen3_5") || type.starts_with("qwen3_6") ||
             type.starts_with("qwen3_8")) {
    model.is_hybrid = true;
    AddHybrid(config, settings, card, model);
  } else if (type.starts_with("gemma3n") || type.starts_with("gemma4")) {
    AddGemmaShared(config, settings, model);
  } else if (is({"mimo_v2_flash", "mimo_v2"})) {
    AddMimo(config, settings, model);
  } else if (type == "nemotron-nas") {
    AddBlocks(config, settings, model);
  } else if (type == "whisper") {
    AddWhisper(config, settings, model);
  } else {
    AddDecoder(config, settings, model);
  }
  AddDraftLayers(config, settings, card, model);
  for (const KvShape& shape : model.layers) {
    if (shape.spec.kind == KvKind::kState) continue;
    if (shape.spec.heads <= 0 || shape.spec.key_dim <= 0) {
      model.fault = "the configuration does not say the heads of its layers";
    }
  }
  if (model.stack <= 0 && model.layers.empty() && model.fault.empty()) {
    model.fault = "the configuration does not say how many layers it has";
  }
  return model;
}

}  // namespace foretell::vllm
