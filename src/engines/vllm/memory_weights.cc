#include "engines/vllm/memory_weights.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/quantization/gguf_layout.h"
#include "engines/vllm/kv_layers.h"
#include "engines/vllm/kv_spec.h"

namespace foretell::vllm {
namespace {

constexpr double kGib = 1073741824.0;
// vllm/model_executor/layers/vocab_parallel_embedding.py: a vocabulary is
// padded to a multiple of this.
constexpr int64_t kVocabularyMultiple = 64;

bool Has(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

bool IsVocabulary(const std::string& name) {
  return Has(name, "embed_tokens.") || Has(name, "wte.") ||
         Has(name, "word_embeddings.weight") || Has(name, "embed_in.") ||
         Has(name, "lm_head.") || Has(name, "embed_out.") ||
         Has(name, "backbone.embeddings.");
}

bool IsHead(const std::string& name) {
  return Has(name, "lm_head.") || Has(name, "embed_out.");
}

bool IsExpert(const TensorGroup& tensor) {
  return tensor.experts > 0 || Has(tensor.name, "experts.");
}

// Kept whole by every rank.
bool IsReplicated(const TensorGroup& tensor) {
  const std::string& name = tensor.name;
  if (tensor.shape.rank() < 2 && !Has(name, "_proj.bias") &&
      !Has(name, "A_log") && !Has(name, "dt_bias")) {
    return true;
  }
  if (Has(name, "o_proj.bias") || Has(name, "down_proj.bias")) return true;
  for (const std::string_view part :
       {"norm", "mlp.gate.weight", "mixer.gate.weight", "router", "q_a_proj",
        "kv_a_proj", "shared_expert_gate", "indexer.", "position", "wpe.",
        "block_sparse_moe.gate.weight", "latent_proj"}) {
    if (Has(name, part)) return true;
  }
  return false;
}

// Of a tower, what every rank holds: all but its linear layers, and attention
// whose heads do not divide (models/vision.py, intern_vit.py).
bool IsWholeTower(const TensorGroup& tensor, int64_t heads, int64_t ranks) {
  const std::string& name = tensor.name;
  if (tensor.shape.rank() != 2) return true;
  for (const std::string_view part :
       {"norm", "patch_embed", "pos_embed", "position", "class_embedding"}) {
    if (Has(name, part)) return true;
  }
  const bool is_attention = Has(name, "attn") || Has(name, "attention");
  return is_attention && heads > 0 && heads % ranks != 0;
}

bool IsKeyOrValue(const std::string& name) {
  return Has(name, "k_proj.") || Has(name, "v_proj.");
}

// "model.layers.#.mlp…": of a stack that stages divide.
bool IsOfLayer(const std::string& name) {
  return Has(name, "layers.#") || Has(name, ".h.#") || Has(name, "blocks.#") ||
         Has(name, "layer.#");
}

// How a kernel for experts in MXFP4 rounds up the two sizes of a weight.
// quantization/mxfp4.py, get_mxfp4_backend and create_weights (0.11.2 to
// 0.14.1); fused_moe/oracle/mxfp4.py (0.19.0).
double ExpertPadding(const WeightsInput& in, const ServingSettings& settings,
                     const Shape& shape) {
  if (shape.rank() < 3) return 1;
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  if (rows <= 0 || columns <= 0) return 1;
  // Gate and up stand side by side: the smaller size is the layer's own.
  const int64_t hidden = std::min(rows, columns);
  const int64_t ranks = settings.expert_parallel
                            ? 1
                            : std::max<int64_t>(settings.tensor_parallel, 1);
  const int64_t inner = CeilDivide(hidden, ranks);
  const auto padded = [&](int64_t h, int64_t i) {
    return static_cast<double>(RoundUp(hidden, h)) *
           static_cast<double>(RoundUp(inner, i)) /
           (static_cast<double>(hidden) * static_cast<double>(inner));
  };
  constexpr int64_t kTile = 256;
  constexpr int64_t kHalfTile = 128;
  constexpr int64_t kQuarterTile = 64;
  if (!in.is_nvidia) return padded(1, kQuarterTile);
  if (in.capability / 10 == 10) return padded(kTile, kTile);
  const EngineVersion& version = settings.version;
  const bool is_triton = in.capability == 90 &&
                         version >= EngineVersion{0, 12, 0} &&
                         version < EngineVersion{0, 19, 0};
  // Triton's layout for Hopper pads one size of the values.
  if (is_triton) return padded(kTile, 1);
  return padded(kTile, kHalfTile);
}

struct Split {
  double layers = 0;
  double embedding = 0;
  double head = 0;
  double rest = 0;
};

void Add(const WeightsInput& in, const ServingSettings& settings, size_t at,
         Split& out) {
  const TensorGroup& tensor = in.tensors[at];
  double bytes = in.bytes[at];
  const int64_t ranks = std::max<int64_t>(settings.tensor_parallel, 1);
  if (IsVocabulary(tensor.name) && tensor.shape.rank() == 2) {
    const int64_t words = tensor.shape[0];
    if (words > 0) {
      bytes *= static_cast<double>(RoundUp(words, kVocabularyMultiple)) /
               static_cast<double>(words);
    }
    (IsHead(tensor.name) ? out.head : out.embedding) +=
        bytes / static_cast<double>(ranks);
    return;
  }
  int64_t shards = ranks;
  if (IsTower(tensor)) {
    shards = IsWholeTower(tensor, in.tower_heads, ranks) ? 1 : ranks;
  } else if (IsReplicated(tensor)) {
    shards = 1;
  } else if (IsKeyOrValue(tensor.name) && in.key_value_heads > 0) {
    shards = std::min(ranks, in.key_value_heads);
  } else if (IsExpert(tensor)) {
    if (in.are_experts_padded) {
      bytes *= ExpertPadding(in, settings, tensor.shape);
    }
    if (settings.expert_parallel) {
      shards = ranks * std::max<int64_t>(settings.data_parallel, 1);
    }
  }
  bytes /= static_cast<double>(shards);
  (IsOfLayer(tensor.name) && !IsTower(tensor) ? out.layers : out.rest) += bytes;
}

// Slots of adapters: for each of them two narrow matrices beside every linear
// layer. lora/layers: of column-parallel layers the first is whole, of
// row-parallel ones the second.
double AdapterBytes(const WeightsInput& in, const ServingSettings& settings) {
  if (!settings.lora) return 0;
  const AdapterSettings& lora = *settings.lora;
  const auto ranks =
      static_cast<double>(std::max<int64_t>(settings.tensor_parallel, 1));
  double rows = 0;
  for (const TensorGroup& tensor : in.tensors) {
    if (tensor.shape.rank() != 2 || IsExpert(tensor) || IsTower(tensor) ||
        !tensor.name.ends_with(".weight")) {
      continue;
    }
    const auto out = static_cast<double>(tensor.shape[0]);
    const auto inner = static_cast<double>(tensor.shape[1]);
    const auto count = static_cast<double>(tensor.count);
    const bool is_row =
        Has(tensor.name, "o_proj.") || Has(tensor.name, "down_proj.");
    const bool is_llama = settings.architecture.starts_with("Llama") ||
                          settings.architecture.starts_with("Mistral");
    if (is_row) {
      rows += count * (inner / ranks + out);
    } else if (Has(tensor.name, "_proj.")) {
      rows += count * (inner + out / ranks);
    } else if (is_llama && IsVocabulary(tensor.name)) {
      // Classes that name them in embedding_modules.
      rows += (inner + out) * (in.is_tied ? 2 : 1);
    }
  }
  return rows * static_cast<double>(lora.max_loras) *
         static_cast<double>(lora.max_rank) *
         static_cast<double>(BytesOf(in.dtype));
}

double RotaryRows(const ConfigValue& scaling, double positions) {
  const auto number = [&](std::string_view key) {
    const ConfigValue* at = scaling.Find(key);
    return at == nullptr ? 0.0 : at->AsReal().value_or(0);
  };
  const auto text = [&](std::string_view key) {
    const ConfigValue* at = scaling.Find(key);
    return at == nullptr ? std::string()
                         : std::string(at->AsString().value_or(""));
  };
  std::string type = text("rope_type");
  if (type.empty()) type = text("type");
  const double factor = std::max(1.0, number("factor"));
  const double original = number("original_max_position_embeddings");
  // rotary_embedding/: each class's _compute_cos_sin_cache.
  if (type == "linear") return positions * factor;
  if (type == "yarn" && original > 0) return original * factor;
  if (type == "longrope") return positions + original;
  return positions;
}

}  // namespace

bool IsTower(const TensorGroup& tensor) {
  for (const std::string_view part :
       {"vision", "visual", "audio_tower", "multi_modal_projector",
        "mm_projector", "image_newline", "encoder.layers"}) {
    if (Has(tensor.name, part)) return true;
  }
  return false;
}

double RotaryTables(const ServedConfig& config, DType dtype) {
  const auto positions =
      static_cast<double>(config.SizeOr({"max_position_embeddings"}, 0));
  const bool is_latent = config.Find("kv_lora_rank") != nullptr;
  const int64_t size =
      is_latent ? config.SizeOr({"qk_rope_head_dim"}, 0) : config.head_dim();
  if (size <= 0) return 0;
  const ConfigValue* scaling = config.Find("rope_parameters");
  if (scaling == nullptr) scaling = config.Find("rope_scaling");
  double share = 1;
  const auto read_share = [&](const ConfigValue* at) {
    if (at != nullptr) share = std::clamp(at->AsReal().value_or(1), 0.0, 1.0);
  };
  read_share(config.Find("partial_rotary_factor"));
  double rows = positions;
  if (scaling != nullptr && scaling->is_object()) {
    read_share(scaling->Find("partial_rotary_factor"));
    // One table for each kind of layer where they differ.
    double sum = 0;
    for (const auto& [key, value] : scaling->members()) {
      if (value.is_object()) sum += RotaryRows(value, positions);
    }
    rows = sum > 0 ? sum : RotaryRows(*scaling, positions);
  }
  // mrope.py: four times as many, for positions past a video's. Classes that
  // the published files leave to their default have it, too.
  const std::string& type = config.text_type();
  const bool is_mrope =
      (scaling != nullptr && scaling->Find("mrope_section") != nullptr) ||
      type.starts_with("qwen3_vl") || type.starts_with("qwen2_5_vl") ||
      type.starts_with("qwen2_vl") || type.starts_with("qwen3_5");
  if (is_mrope) rows = 4 * positions;
  if (scaling == nullptr || !scaling->is_object() ||
      scaling->Find("full_attention") == nullptr) {
    // gemma3.py: layers with a window have a table of their own, unscaled.
    if (config.Find("rope_local_base_freq") != nullptr ||
        config.text_type().starts_with("gemma3")) {
      rows += positions;
    }
  }
  // Past a gibibyte it is no table that a class would build.
  const double bytes = rows * static_cast<double>(size) * share *
                       static_cast<double>(BytesOf(dtype));
  return bytes < kGib ? bytes : 0;
}

double PredictionLayerBytes(const WeightsInput& in, int64_t hidden,
                            double width) {
  const bool has_experts = std::ranges::any_of(in.tensors, IsExpert);
  double layer = 0;
  for (size_t i = 0; i < in.tensors.size(); ++i) {
    const TensorGroup& tensor = in.tensors[i];
    if (!IsOfLayer(tensor.name) || IsTower(tensor) || tensor.count <= 0) {
      continue;
    }
    const bool is_dense = Has(tensor.name, "mlp.gate_proj") ||
                          Has(tensor.name, "mlp.up_proj") ||
                          Has(tensor.name, "mlp.down_proj");
    if (has_experts && is_dense) continue;
    bool is_state = false;
    for (const std::string_view part :
         {"linear_attn", "mamba", "conv1d", "A_log", "dt_bias", "in_proj",
          "out_proj", "mixer.D"}) {
      is_state = is_state || Has(tensor.name, part);
    }
    if (is_state) continue;
    // Copies by layer; experts that stand apart count within their layer.
    const auto elements = tensor.Elements();
    if (!elements) continue;
    const auto indices = FirstIndices(tensor.indices, tensor.count);
    const auto layers =
        static_cast<double>(indices.empty() ? 1 : indices.size());
    layer +=
        (width > 0 ? static_cast<double>(*elements) * width : in.bytes[i]) /
        layers;
  }
  const auto size = static_cast<double>(hidden);
  return layer + 2 * size * size * (width > 0 ? width : 1);
}

Bytes WeightsOfRank(const WeightsInput& in, const ServingSettings& settings) {
  const std::vector<int64_t> stages =
      settings.pipeline_layers.empty()
          ? StageLayers(in.layers, settings.pipeline_parallel)
          : settings.pipeline_layers;
  Split split;
  for (size_t i = 0; i < in.tensors.size() && i < in.bytes.size(); ++i) {
    Add(in, settings, i, split);
  }
  // make_layers moves layers to the host until so much of them is there.
  const double offloaded =
      std::min(split.layers, settings.cpu_offload_gib * kGib);
  const auto ranks =
      static_cast<double>(std::max<int64_t>(settings.tensor_parallel, 1));
  const double kept =
      split.layers > 0 ? (split.layers - offloaded) / split.layers : 1;
  split.layers += in.copies / ranks * kept - offloaded;
  const double adapters = AdapterBytes(in, settings);
  // The first stage looks tokens up, the last one has the head; a tied head
  // is another copy of the table there.
  double most = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const double share = in.layers > 0 ? static_cast<double>(stages[i]) /
                                             static_cast<double>(in.layers)
                                       : 1.0;
    const bool is_first = i == 0;
    const bool is_last = i + 1 == stages.size();
    double bytes = (split.layers + adapters) * share + in.tables;
    if (is_first) bytes += split.embedding + split.rest;
    if (is_last) bytes += split.head + in.drafter / ranks;
    if (is_last && !is_first && in.is_tied) bytes += split.embedding;
    most = std::max(most, bytes);
  }
  double low = most * (1 - in.spread);
  double high = most * (1 + in.spread);
  if (in.is_amd) {
    // The platform's own count of used memory, which takes in what libraries
    // hold: 0.12 to 0.34 GiB more than the tensors in starts on MI300X.
    most += 0.23 * kGib;
    low += 0.1 * kGib;
    high += 0.36 * kGib;
  }
  return Bytes::Estimated(most, low, high,
                          "the class's tensors, split as vLLM's layers are");
}

}  // namespace foretell::vllm
