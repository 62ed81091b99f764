#include "answers/score/launch_words.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "engines/vllm/served_config.h"

namespace foretell {
namespace {

struct CardRow {
  std::string_view name;
  int capability;
  // Of 70 GiB and more, and no A100: a server batches 8192 tokens, from
  // 160 GiB on 16384; others 2048 (vllm/engine/arg_utils.py, 0.33.0).
  int64_t batched_tokens;
  int64_t requests;
};

constexpr auto kCards = std::to_array<CardRow>({
    {"H100", 90, 8192, 1024},
    {"H200", 90, 8192, 1024},
    {"A100", 80, 2048, 256},
    {"A100-40", 80, 2048, 256},
    {"L4", 89, 2048, 256},
    {"L40S", 89, 2048, 256},
    {"T4", 75, 2048, 256},
    {"RTX4090", 89, 2048, 256},
    {"RTX3090", 86, 2048, 256},
    {"V100", 70, 2048, 256},
    {"B200", 100, 16384, 1024},
    {"RTX5090", 120, 2048, 256},
});

int64_t Number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  double scale = 1;
  if (end != nullptr && *end == 'k') scale = 1e3;
  if (end != nullptr && *end == 'K') scale = 1024;
  return static_cast<int64_t>(value * scale);
}

// The length that the configuration states; scaled positions count.
int64_t DerivedLength(const vllm::ServedConfig& config) {
  int64_t least = 0;
  for (const std::string_view key :
       {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
        "model_max_length", "max_target_positions", "max_sequence_length",
        "max_seq_length", "seq_len"}) {
    const auto value = config.Size({key});
    if (value && *value > 0)
      least = least == 0 ? *value : std::min(least, *value);
  }
  if (const auto own = config.Written("model_max_length")) least = *own;
  const ConfigValue* rope = config.Find("rope_scaling");
  if (rope == nullptr) rope = config.Find("rope_parameters");
  if (rope != nullptr && rope->is_object() && least > 0) {
    const ConfigValue* type = rope->Find("rope_type");
    if (type == nullptr) type = rope->Find("type");
    const std::string name(type == nullptr ? ""
                                           : type->AsString().value_or(""));
    const ConfigValue* factor = rope->Find("factor");
    const double by = factor == nullptr ? 1 : factor->AsReal().value_or(1);
    const ConfigValue* original =
        rope->Find("original_max_position_embeddings");
    if (name == "yarn" && original != nullptr) {
      const int64_t from = original->AsInteger().value_or(least);
      least = static_cast<int64_t>(static_cast<double>(from) * by);
    } else if (!name.empty() && name != "su" && name != "longrope" &&
               name != "llama3" && name != "mrope" && name != "default" &&
               name != "proportional" && config.text_type() != "gemma3_text") {
      least = static_cast<int64_t>(static_cast<double>(least) * by);
    }
  }
  return least > 0 ? least : 2048;
}

bool IsState(const std::string& type) {
  return type == "mamba" || type == "mamba2" || type == "falcon_mamba";
}

void ReadSpeculation(const std::string& text, ServingSettings& out) {
  // {"method": "mtp", "num_speculative_tokens": 1}: two keys are read.
  const auto after = [&](const std::string& key) -> std::string {
    const size_t at = text.find("\"" + key + "\"");
    if (at == std::string::npos) return {};
    size_t from = text.find(':', at);
    if (from == std::string::npos) return {};
    from = text.find_first_not_of(" \"", from + 1);
    if (from == std::string::npos) return {};
    return text.substr(from, text.find_first_of("\",}", from) - from);
  };
  SpeculativeSettings drafter;
  drafter.method = after("method");
  drafter.tokens = Number(after("num_speculative_tokens"));
  drafter.model = after("model");
  out.speculative = drafter;
}

}  // namespace

RecordedLaunch ReadRecordedLaunch(const std::vector<std::string>& argv,
                                  const ModelConfig& model,
                                  const std::string& card,
                                  const std::string& version) {
  RecordedLaunch out;
  const vllm::ServedConfig config(model);
  ServingSettings& s = out.settings;
  s.version = ParseEngineVersion(version).value_or(EngineVersion{0, 33, 0});
  const auto row = std::ranges::find(kCards, card, &CardRow::name);
  const CardRow& known = row == kCards.end() ? kCards.front() : *row;
  out.card.name = card;
  out.card.vendor = "nvidia";
  out.card.capability = known.capability;
  s.max_num_batched_tokens = known.batched_tokens;
  s.max_num_seqs = known.requests;
  s.async_scheduling = true;
  const std::string stated = config.Text("dtype").empty()
                                 ? config.Text("torch_dtype")
                                 : config.Text("dtype");
  s.dtype = stated.empty() || stated == "float32"
                ? (known.capability >= 80 ? "bfloat16" : "float16")
                : stated;
  if (s.dtype == "bfloat16" && known.capability < 80) s.dtype = "float16";
  s.enable_prefix_caching =
      !IsState(config.text_type()) && config.text_type() != "whisper";
  s.max_model_len = DerivedLength(config);
  int64_t asked = 0;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    const std::string value = i + 1 < argv.size() ? argv[i + 1] : "";
    if (word == "--tensor-parallel-size") s.tensor_parallel = Number(value);
    if (word == "--pipeline-parallel-size") s.pipeline_parallel = Number(value);
    if (word == "--decode-context-parallel-size") {
      s.decode_context_parallel = Number(value);
    }
    if (word == "--max-model-len") {
      if (value == "auto" || value == "-1") {
        out.is_length_fitted = true;
      } else {
        asked = Number(value);
      }
    }
    if (word == "--block-size") s.block_size = Number(value);
    if (word == "--kv-cache-dtype") s.cache_dtype = value;
    if (word == "--dtype" && value != "auto") s.dtype = value;
    if (word == "--max-num-batched-tokens") {
      s.max_num_batched_tokens = Number(value);
    }
    if (word == "--max-num-seqs") s.max_num_seqs = Number(value);
    if (word == "--enable-prefix-caching") s.enable_prefix_caching = true;
    if (word == "--no-enable-prefix-caching") s.enable_prefix_caching = false;
    if (word == "--mamba-ssm-cache-dtype") s.mamba_ssm_cache_dtype = value;
    if (word == "--mamba-cache-dtype") s.mamba_cache_dtype = value;
    if (word == "--num-gpu-blocks-override") {
      s.num_gpu_blocks_override = Number(value);
    }
    if (word == "--attention-backend") s.attention_backend = value;
    if (word == "--disable-sliding-window") s.disable_sliding_window = true;
    if (word == "--disable-hybrid-kv-cache-manager") {
      s.disable_hybrid_kv_cache_manager = true;
    }
    if (word == "--language-model-only") s.language_model_only = true;
    if (word == "--speculative-config") ReadSpeculation(value, s);
  }
  if (s.disable_sliding_window) {
    const auto window = config.Size({"sliding_window"});
    if (window && *window > 0) {
      s.max_model_len = std::min(s.max_model_len, *window);
    }
  }
  if (asked > 0) s.max_model_len = asked;
  return out;
}

}  // namespace foretell
