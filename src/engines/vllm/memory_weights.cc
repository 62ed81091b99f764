#include "engines/vllm/memory_weights.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "engines/vllm/kv_layers.h"
#include "engines/vllm/kv_spec.h"

namespace foretell::vllm {
namespace {

// vllm/model_executor/layers/vocab_parallel_embedding.py: a vocabulary is
// padded to a multiple of this.
constexpr int64_t kVocabularyMultiple = 64;

bool Has(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

bool IsVocabulary(const std::string& name) {
  return Has(name, "embed_tokens.") || Has(name, "wte.") ||
         Has(name, "word_embeddings.weight") || Has(name, "embed_in.") ||
         Has(name, "lm_head.") || Has(name, "embed_out.");
}

bool IsHead(const std::string& name) {
  return Has(name, "lm_head.") || Has(name, "embed_out.");
}

bool IsTower(const TensorGroup& tensor) {
  for (const std::string_view part :
       {"vision", "visual", "audio_tower", "multi_modal_projector",
        "mm_projector", "image_newline", "encoder.layers"}) {
    if (Has(tensor.name, part)) return true;
  }
  return false;
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
       {"norm", "mlp.gate.weight", "router", "q_a_proj", "kv_a_proj",
        "shared_expert_gate", "indexer.", "position", "wpe.",
        "block_sparse_moe.gate.weight"}) {
    if (Has(name, part)) return true;
  }
  return false;
}

bool IsKeyOrValue(const std::string& name) {
  return Has(name, "k_proj.") || Has(name, "v_proj.");
}

bool IsQuantized(const TensorGroup& tensor, const WeightFormat& format) {
  if (format.bytes <= 0 || IsVocabulary(tensor.name) || IsTower(tensor) ||
      tensor.shape.rank() < 2) {
    return false;
  }
  const bool is_expert = tensor.experts > 0 || Has(tensor.name, "experts");
  if (format.is_experts_only) return is_expert;
  for (const std::string_view part : {"norm", "mlp.gate.weight", "router",
                                      "conv1d", "A_log", "position", "wpe."}) {
    if (Has(tensor.name, part)) return false;
  }
  return true;
}

// Kernels of four-bit experts want the inner sizes in whole tiles: what they
// repack is padded so (2880 x 2880 of gpt-oss becomes 3072 x 2944).
double PaddingOfExperts(const Shape& shape) {
  if (shape.rank() < 3) return 1;
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  if (rows <= 0 || columns <= 0) return 1;
  // Gate and up stand side by side: the smaller size is the layer's own.
  const int64_t own = std::min(rows, columns);
  constexpr int64_t kTile = 256;
  constexpr int64_t kHalfTile = 128;
  return static_cast<double>(RoundUp(own, kTile)) *
         static_cast<double>(RoundUp(own, kHalfTile)) /
         (static_cast<double>(own) * static_cast<double>(own));
}

// "model.layers.#.mlp…": of a stack that stages divide.
bool IsOfLayer(const std::string& name) {
  return Has(name, "layers.#") || Has(name, ".h.#") || Has(name, "blocks.#") ||
         Has(name, "layer.#");
}

}  // namespace

WeightFormat FormatOf(const std::string& quantization, int64_t bits) {
  std::string name = quantization;
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto has = [&](std::string_view part) {
    return name.find(part) != std::string::npos;
  };
  if (name.empty() || name == "none") return {};
  // Four bits, a scale of two bytes and a share of a zero for each 128.
  constexpr double kInt4 = 0.5 + 2.0 / 128 + 0.5 / 128;
  if (has("mxfp4")) return {"mxfp4", 0.5 + 1.0 / 32, true};
  if (has("nvfp4") || has("modelopt_fp4"))
    return {"nvfp4", 0.5 + 1.0 / 16, false};
  if (has("bitsandbytes") || has("bnb"))
    return {"bitsandbytes", 0.5 + 4.0 / 64, false};
  if (has("w8a8") || has("fp8") || has("int8") || bits == 8) {
    return {"8 bits", 1.0, false};
  }
  if (has("awq") || has("gptq") || has("w4a16") || has("int4") || bits == 4 ||
      has("auto_round")) {
    return {"int4", kInt4, false};
  }
  return {};
}

Bytes WeightsOfRank(const WeightsInput& in, const ServingSettings& settings) {
  const int64_t ranks = std::max<int64_t>(settings.tensor_parallel, 1);
  const int64_t expert_ranks =
      settings.expert_parallel
          ? ranks * std::max<int64_t>(settings.data_parallel, 1)
          : ranks;
  const std::vector<int64_t> stages =
      settings.pipeline_layers.empty()
          ? StageLayers(in.layers, settings.pipeline_parallel)
          : settings.pipeline_layers;
  const auto width = static_cast<double>(BytesOf(in.dtype));
  double layer_bytes = 0;
  double embedding = 0;
  double head = 0;
  double rest = 0;
  for (const TensorGroup& tensor : in.tensors) {
    const auto all = tensor.Elements();
    if (!all) {
      return Bytes::Unknown("a tensor's size is past what can be counted");
    }
    const bool is_quantized = IsQuantized(tensor, in.format);
    auto bytes =
        static_cast<double>(*all) * (is_quantized ? in.format.bytes : width);
    if (is_quantized && in.format.is_experts_only) {
      bytes *= PaddingOfExperts(tensor.shape);
    }
    if (IsVocabulary(tensor.name) && tensor.shape.rank() == 2) {
      const int64_t words = tensor.shape[0];
      if (words > 0) {
        bytes *= static_cast<double>(RoundUp(words, kVocabularyMultiple)) /
                 static_cast<double>(words);
      }
      (IsHead(tensor.name) ? head : embedding) +=
          bytes / static_cast<double>(ranks);
      continue;
    }
    int64_t shards = ranks;
    if (IsTower(tensor) || IsReplicated(tensor)) {
      shards = 1;
    } else if (IsKeyOrValue(tensor.name) && in.key_value_heads > 0) {
      shards = std::min(ranks, in.key_value_heads);
    } else if (tensor.experts > 0 || Has(tensor.name, "experts.")) {
      shards = expert_ranks;
    }
    bytes /= static_cast<double>(shards);
    (IsOfLayer(tensor.name) && !IsTower(tensor) ? layer_bytes : rest) += bytes;
  }
  // The first stage looks tokens up, the last one has the head; a tied head
  // is another copy of the table there.
  const double table = static_cast<double>(in.positions) *
                       static_cast<double>(in.rotary_dim) * width;
  double most = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const double share = in.layers > 0 ? static_cast<double>(stages[i]) /
                                             static_cast<double>(in.layers)
                                       : 1.0;
    const bool is_first = i == 0;
    const bool is_last = i + 1 == stages.size();
    double bytes = layer_bytes * share + table;
    if (is_first) bytes += embedding + rest;
    if (is_last) bytes += head;
    if (is_last && !is_first && in.is_tied) bytes += embedding;
    most = std::max(most, bytes);
  }
  const double spread = in.format.bytes > 0 ? 0.03 : 0.005;
  return Bytes::Estimated(most, most * (1 - spread), most * (1 + spread),
                          "the class's tensors, split as vLLM's layers are");
}

}  // namespace foretell::vllm
