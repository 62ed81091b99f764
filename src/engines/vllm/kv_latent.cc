// Layers of latent attention, with and without an indexer, and DeepSeek V4's
// compressed rows. Source: vllm/model_executor/models/deepseek_v2.py,
// vllm/models/{deepseek_v32,deepseek_v4,minimax_m3,kimi_k3} of 0.33.0.
#include <algorithm>

#include "engines/vllm/kv_model.h"

namespace foretell::vllm {
namespace {

std::string LayerName(int64_t index) {
  return "model.layers." + std::to_string(index) + ".self_attn";
}

KvShape Latent(const ServedConfig& c, int64_t index, bool is_sparse) {
  KvShape out;
  out.name = LayerName(index) + ".attn";
  out.index = index;
  out.source = is_sparse ? KvSource::kSparseLatent : KvSource::kLatent;
  out.spec.kind = KvKind::kLatent;
  out.spec.heads = 1;
  out.spec.key_dim =
      c.SizeOr({"kv_lora_rank"}, 0) + c.SizeOr({"qk_rope_head_dim"}, 0);
  return out;
}

// Keys of an indexer: a byte each, and a float32 scale for 128.
KvShape Indexer(const ServedConfig& c, int64_t index, KvSource source) {
  const int64_t dim = c.SizeOr({"index_head_dim"}, 128);
  KvShape out;
  out.name = LayerName(index) + ".indexer.k_cache";
  out.index = index;
  out.source = source;
  out.spec.kind = KvKind::kLatent;
  out.spec.heads = 1;
  out.spec.key_dim = dim + dim / 128 * 4;
  out.spec.element_bytes = 1;
  out.spec.role = 1;
  return out;
}

// Layers that reuse the choice of an earlier one have no indexer.
bool HasIndexer(const ServedConfig& c, int64_t index) {
  const std::string pattern = c.Text("index_topk_pattern");
  if (!pattern.empty()) {
    return index >= static_cast<int64_t>(pattern.size()) ||
           pattern[static_cast<size_t>(index)] != 'S';
  }
  const int64_t every = std::max<int64_t>(c.SizeOr({"index_topk_freq"}, 1), 1);
  const int64_t offset = c.SizeOr({"index_skip_topk_offset"}, 2);
  return std::max<int64_t>(index - offset + 1, 0) % every == 0;
}

void AddMinimax(const ServedConfig& c, const ServingSettings& settings,
                KvModel& model) {
  const ConfigValue* part = c.Find("sparse_attention_config");
  const ConfigValue* every =
      part == nullptr ? nullptr : part->Find("sparse_attention_freq");
  const ConfigValue* dim =
      part == nullptr ? nullptr : part->Find("sparse_index_dim");
  for (int64_t i = 0; i < model.stack; ++i) {
    KvShape shape;
    shape.name = LayerName(i) + ".attn";
    shape.index = i;
    shape.spec.heads =
        HeadsOfRank(c.key_value_heads(), settings.tensor_parallel);
    shape.spec.key_dim = c.head_dim();
    shape.spec.value_dim = shape.spec.key_dim;
    const bool is_sparse =
        every != nullptr && every->is_array() &&
        static_cast<size_t>(i) < every->items().size() &&
        every->items()[static_cast<size_t>(i)].AsInteger().value_or(0) != 0;
    if (!is_sparse) {
      model.layers.push_back(std::move(shape));
      continue;
    }
    KvShape indexer;
    indexer.name = LayerName(i) + ".attn.index_cache";
    indexer.index = i;
    indexer.source = KvSource::kSparseIndexer;
    indexer.spec.kind = KvKind::kLatent;
    indexer.spec.heads = 1;
    indexer.spec.key_dim =
        dim == nullptr ? 128 : dim->AsInteger().value_or(128);
    indexer.spec.element_bytes = 2;
    indexer.spec.role = 1;
    shape.source = KvSource::kSparse;
    model.layers.push_back(std::move(indexer));
    model.layers.push_back(std::move(shape));
  }
}

// Kimi's linear layers: their states, a latent layer every few.
void AddKimi(const ServedConfig& c, const ServingSettings& settings,
             KvModel& model) {
  const ConfigValue* part = c.Find("linear_attn_config");
  const auto number = [&](std::string_view key, int64_t otherwise) {
    const ConfigValue* at = part == nullptr ? nullptr : part->Find(key);
    const int64_t value =
        at == nullptr ? otherwise : at->AsInteger().value_or(otherwise);
    return value > 0 && value <= kMostSize ? value : otherwise;
  };
  const int64_t heads = number("num_heads", c.attention_heads());
  const int64_t dim = number("head_dim", 128);
  const int64_t kernel = number("short_conv_kernel_size", 4);
  const int64_t ranks = std::max<int64_t>(settings.tensor_parallel, 1);
  const int64_t drafts =
      settings.speculative ? std::max<int64_t>(settings.speculative->tokens, 0)
                           : 0;
  std::vector<int64_t> full;
  const ConfigValue* listed =
      part == nullptr ? nullptr : part->Find("full_attn_layers");
  if (listed != nullptr && listed->is_array()) {
    for (const ConfigValue& item : listed->items()) {
      full.push_back(item.AsInteger().value_or(0) - 1);  // counted from one
    }
  }
  const DType conv = ParseDType(settings.dtype).value_or(DType::kBFloat16);
  const DType state = settings.mamba_ssm_cache_dtype == "bfloat16"
                          ? DType::kBFloat16
                          : DType::kFloat32;
  model.is_hybrid = true;
  for (int64_t i = 0; i < model.stack; ++i) {
    if (std::ranges::find(full, i) != full.end()) {
      model.layers.push_back(Latent(c, i, false));
      continue;
    }
    KvShape shape;
    shape.name = LayerName(i) + ".kda";
    shape.index = i;
    shape.source = KvSource::kState;
    shape.spec.kind = KvKind::kState;
    shape.spec.is_sharded_by_context = false;
    shape.spec.states = {{{kernel - 1 + drafts, 3 * heads * dim / ranks}, conv},
                         {{heads / ranks, dim, dim}, state}};
    model.layers.push_back(std::move(shape));
  }
}

}  // namespace

void AddLatentLayers(const ServedConfig& c, const ServingSettings& settings,
                     const ServingCard&, KvModel& model) {
  const std::string& type = c.text_type();
  if (type.starts_with("minimax_m3")) return AddMinimax(c, settings, model);
  if (type == "minicpm3") {
    // Its class widens the latents before it keeps them.
    for (int64_t i = 0; i < model.stack; ++i) {
      KvShape shape;
      shape.name = LayerName(i) + ".attn";
      shape.index = i;
      shape.spec.heads = c.attention_heads() / settings.tensor_parallel;
      shape.spec.key_dim = c.SizeOr({"qk_nope_head_dim"}, 64) +
                           c.SizeOr({"qk_rope_head_dim"}, 32);
      shape.spec.value_dim = shape.spec.key_dim;
      model.layers.push_back(std::move(shape));
    }
    return;
  }
  model.is_latent = c.Size({"kv_lora_rank"}).has_value();
  model.heads = 1;
  model.head_dim =
      c.SizeOr({"kv_lora_rank"}, 0) + c.SizeOr({"qk_rope_head_dim"}, 0);
  if (type == "kimi_linear") return AddKimi(c, settings, model);
  if (!model.is_latent) {
    model.fault = "the configuration does not say the rank of its latents";
    return;
  }
  const bool is_sparse = c.Find("index_topk") != nullptr;
  // Two attentions in each of LongCat's layers.
  const int64_t each = type == "longcat_flash" ? 2 : 1;
  if (each == 2) model.stack = c.SizeOr({"num_layers"}, model.stack);
  for (int64_t i = 0; i < model.stack; ++i) {
    if (is_sparse && HasIndexer(c, i)) {
      model.layers.push_back(Indexer(c, i, KvSource::kIndexer));
    }
    for (int64_t j = 0; j < each; ++j) {
      model.layers.push_back(Latent(c, i, is_sparse));
    }
  }
}

void AddCompressedLayers(const ServedConfig& c, const ServingSettings& settings,
                         const ServingCard&, KvModel& model) {
  model.is_latent = true;
  model.heads = 1;
  const int64_t dim = c.SizeOr({"head_dim"}, 512);
  model.head_dim = dim;
  const int64_t index_dim = c.SizeOr({"index_head_dim"}, 128);
  const std::vector<int64_t> ratios = c.Integers("compress_ratios");
  const int64_t window = c.SizeOr({"sliding_window"}, 128);
  // Rows of DeepSeek's own fp8 format, and the boundary of their pages.
  constexpr int64_t kRow = 584;
  constexpr int64_t kAlignment = 576;
  const int64_t drafts =
      settings.speculative && settings.speculative->method == "mtp"
          ? c.SizeOr({"num_nextn_predict_layers"}, 1)
          : 0;
  const auto state = [&](int64_t index, int64_t ratio, int64_t of,
                         const std::string& name) {
    KvShape out;
    out.name = name;
    out.index = index;
    out.source = KvSource::kCompressorState;
    out.spec.kind = KvKind::kSlidingLatent;
    out.spec.block_size = ratio == 4 ? 4 : 8;
    out.spec.heads = 1;
    const int64_t overlap = ratio == 4 ? 2 : 1;
    out.spec.key_dim = 2 * overlap * of;  // keys and their scores
    out.spec.element_bytes = 4;
    out.spec.window = overlap * ratio;
    out.spec.row_alignment = kAlignment;
    return out;
  };
  for (int64_t i = 0; i < model.stack + drafts; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t ratio = i < model.stack && at < ratios.size()
                              ? std::max<int64_t>(ratios[at], 1)
                              : 1;
    const std::string prefix = LayerName(i);
    const size_t before = model.layers.size();
    if (ratio == 4) {
      KvShape keys = Indexer(c, i, KvSource::kCompressedIndexer);
      keys.spec.tokens_per_state = ratio;
      keys.spec.row_alignment = kAlignment;
      keys.spec.role = 0;
      model.layers.push_back(keys);
      model.layers.push_back(state(i, ratio, index_dim,
                                   prefix + ".indexer.compressor.state_cache"));
    }
    KvShape recent;
    recent.name = prefix + ".swa_cache";
    recent.index = i;
    recent.source = KvSource::kCompressedWindow;
    recent.spec.kind = KvKind::kSlidingLatent;
    recent.spec.block_size = 64;
    recent.spec.heads = 1;
    recent.spec.key_dim = dim;
    recent.spec.element_bytes = 1;
    recent.spec.row_bytes = kRow;
    recent.spec.window = window;
    recent.spec.row_alignment = kAlignment;
    recent.spec.packing = KvPacking::kFp8;
    recent.spec.cache_dtype = "fp8_ds_mla";
    model.layers.push_back(recent);
    if (ratio > 1) {
      KvShape rows = recent;
      rows.name = prefix;
      rows.source = KvSource::kCompressed;
      rows.spec.kind = KvKind::kLatent;
      rows.spec.window = 0;
      rows.spec.tokens_per_state = ratio;
      rows.spec.role = 2;
      model.layers.push_back(rows);
      model.layers.push_back(
          state(i, ratio, dim, prefix + ".compressor.state_cache"));
    }
    for (size_t k = before; k < model.layers.size(); ++k) {
      model.layers[k].is_draft = i >= model.stack;
    }
  }
}

}  // namespace foretell::vllm
