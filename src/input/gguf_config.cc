#include "input/gguf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {
namespace {

struct Key {
  std::string_view theirs;  // behind "qwen3moe."
  std::string_view ours;
};

// Of nearly every decoder; a key that the file lacks is left out.
constexpr std::array<Key, 11> kDecoder = {{
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"context_length", "max_position_embeddings"},
    {"rope.freq_base", "rope_theta"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
    {"attention.sliding_window", "sliding_window"},
    {"expert_used_count", "num_experts_per_tok"},
}};
constexpr std::array<Key, 3> kQwenMoe = {{
    {"expert_count", "num_experts"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
}};
constexpr std::array<Key, 1> kMixtral = {
    {{"expert_count", "num_local_experts"}}};
constexpr std::array<Key, 1> kOlmoe = {{{"expert_count", "num_experts"}}};
constexpr std::array<Key, 3> kGptOss = {{
    {"expert_count", "num_local_experts"},
    {"expert_feed_forward_length", "intermediate_size"},
    {"expert_used_count", "num_experts_per_tok"},
}};
constexpr std::array<Key, 10> kDeepseek = {{
    {"expert_count", "n_routed_experts"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"expert_group_count", "n_group"},
    {"expert_group_used_count", "topk_group"},
    {"attention.head_count", "num_key_value_heads"},
}};
constexpr std::array<Key, 4> kGlmMoe = {{
    {"expert_count", "n_routed_experts"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"leading_dense_block_count", "first_k_dense_replace"},
}};
constexpr std::array<Key, 1> kStarcoder = {
    {{"attention.layer_norm_epsilon", "norm_epsilon"}}};
constexpr std::array<Key, 5> kGpt2 = {{
    {"embedding_length", "n_embd"},
    {"attention.head_count", "n_head"},
    {"context_length", "n_positions"},
    {"feed_forward_length", "n_inner"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
}};
constexpr std::array<Key, 4> kMamba = {{
    {"ssm.conv_kernel", "conv_kernel"},
    {"ssm.inner_size", "intermediate_size"},
    {"ssm.state_size", "state_size"},
    {"ssm.time_step_rank", "time_step_rank"},
}};

struct Architecture {
  std::string_view name;        // general.architecture
  std::string_view model_type;  // transformers'
  std::string_view class_name;
  std::span<const Key> keys = {};
};

constexpr std::array<Architecture, 25> kArchitectures = {{
    {"llama", "llama", "LlamaForCausalLM"},
    {"qwen2", "qwen2", "Qwen2ForCausalLM"},
    {"qwen2moe", "qwen2_moe", "Qwen2MoeForCausalLM", kQwenMoe},
    {"qwen3", "qwen3", "Qwen3ForCausalLM"},
    {"qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM", kQwenMoe},
    {"gemma", "gemma", "GemmaForCausalLM"},
    {"gemma2", "gemma2", "Gemma2ForCausalLM"},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM"},
    {"phi2", "phi", "PhiForCausalLM"},
    {"phi3", "phi3", "Phi3ForCausalLM"},
    {"gpt-oss", "gpt_oss", "GptOssForCausalLM", kGptOss},
    {"deepseek2", "deepseek_v3", "DeepseekV3ForCausalLM", kDeepseek},
    {"glm4", "glm4", "Glm4ForCausalLM"},
    {"glm4moe", "glm4_moe", "Glm4MoeForCausalLM", kGlmMoe},
    {"olmo2", "olmo2", "Olmo2ForCausalLM"},
    {"olmoe", "olmoe", "OlmoeForCausalLM", kOlmoe},
    {"granite", "granite", "GraniteForCausalLM"},
    {"starcoder2", "starcoder2", "Starcoder2ForCausalLM", kStarcoder},
    {"stablelm", "stablelm", "StableLmForCausalLM"},
    {"command-r", "cohere", "CohereForCausalLM"},
    {"smollm3", "smollm3", "SmolLM3ForCausalLM"},
    {"seed_oss", "seed_oss", "SeedOssForCausalLM"},
    {"exaone4", "exaone4", "Exaone4ForCausalLM"},
    {"gpt2", "gpt2", "GPT2LMHeadModel", kGpt2},
    {"mamba", "mamba", "MambaForCausalLM", kMamba},
}};
constexpr Architecture kMixtralRow = {"llama", "mixtral", "MixtralForCausalLM",
                                      kMixtral};
constexpr Architecture kDeepseekV2Row = {"deepseek2", "deepseek_v2",
                                         "DeepseekV2ForCausalLM", kDeepseek};

class GgufConfig {
 public:
  GgufConfig(const Checkpoint& checkpoint, std::string architecture)
      : checkpoint_(checkpoint), architecture_(std::move(architecture)) {}

  std::optional<ModelConfig> Make() {
    const auto found =
        std::ranges::find(kArchitectures, architecture_, &Architecture::name);
    if (found == kArchitectures.end()) return std::nullopt;
    Architecture row = *found;
    if (row.name == "llama" && Whole("expert_count") > 0) row = kMixtralRow;
    // V3 corrects its scores by a bias of each expert; V2 has none.
    if (row.name == "deepseek2" && !HasTensor(".exp_probs_b.bias")) {
      row = kDeepseekV2Row;
    }
    Set("model_type", ConfigValue::String(std::string(row.model_type)));
    Set("architectures",
        ConfigValue::Array({ConfigValue::String(std::string(row.class_name))}));
    for (const Key& key : kDecoder) Copy(key);
    for (const Key& key : row.keys) Copy(key);
    SetLayers(row);
    SetFromTensors(row);
    if (row.keys.data() == kDeepseek.data()) SetLatent();
    Set("torch_dtype", ConfigValue::String("float16"));
    return Finish(row);
  }

 private:
  void Set(std::string_view key, ConfigValue value) {
    root_.Set(key, std::move(value));
  }
  void SetWhole(std::string_view key, int64_t value) {
    Set(key, ConfigValue::Number(std::to_string(value)));
  }

  const ConfigValue* Find(std::string_view key) const {
    const CheckpointEntry* entry =
        checkpoint_.Find(architecture_ + "." + std::string(key));
    return entry == nullptr ? nullptr : &entry->value;
  }
  int64_t Whole(std::string_view key) const {
    const ConfigValue* value = Find(key);
    return value == nullptr ? 0 : value->AsInteger().value_or(0);
  }

  // A list with one number for each layer is that number where all are equal;
  // else the model differs by layer, which these classes do not.
  void Copy(const Key& key) {
    const ConfigValue* value = Find(key.theirs);
    if (value == nullptr) return;
    if (!value->is_array()) {
      // 0 is written for a window that there is not.
      if (value->AsInteger() == 0 && key.theirs.ends_with("sliding_window")) {
        return;
      }
      Set(key.ours, *value);
      return;
    }
    const std::vector<ConfigValue>& items = value->items();
    if (items.empty()) return;
    for (const ConfigValue& item : items) {
      if (!(item == items.front())) {
        differs_.emplace_back(key.theirs);
        return;
      }
    }
    Set(key.ours, items.front());
  }

  bool HasTensor(std::string_view ending) const {
    return std::ranges::any_of(checkpoint_.tensors,
                               [&](const StoredTensor& tensor) {
                                 return tensor.name.ends_with(ending);
                               });
  }
  const StoredTensor* Tensor(std::string_view name) const {
    const auto found =
        std::ranges::find(checkpoint_.tensors, name, &StoredTensor::name);
    return found == checkpoint_.tensors.end() ? nullptr : &*found;
  }

  void SetLayers(const Architecture& row) {
    const int64_t further = Whole("nextn_predict_layers");
    const int64_t layers = Whole("block_count") - further;
    SetWhole(row.name == "gpt2" ? "n_layer" : "num_hidden_layers", layers);
    if (further > 0) SetWhole("num_nextn_predict_layers", further);
  }

  void SetFromTensors(const Architecture& row) {
    if (const StoredTensor* table = Tensor("token_embd.weight");
        table != nullptr && table->shape.size() == 2) {
      SetWhole("vocab_size", table->shape[0]);
    }
    Set("tie_word_embeddings",
        ConfigValue::Bool(Tensor("output.weight") == nullptr));
    // The converter states 4 * embedding_length, whatever it is
    // (conversion/phi.py, Phi2Model).
    if (const StoredTensor* up = Tensor("blk.0.ffn_up.weight");
        row.name == "phi2" && up != nullptr && up->shape.size() == 2) {
      SetWhole("intermediate_size", up->shape[0]);
    }
    const bool biased = HasTensor("blk.0.attn_q.bias");
    if (row.name == "stablelm") {
      Set("use_qkv_bias", ConfigValue::Bool(biased));
      Set("qk_layernorm",
          ConfigValue::Bool(HasTensor("blk.0.attn_q_norm.weight")));
    } else if (row.name == "command-r") {
      Set("use_qk_norm",
          ConfigValue::Bool(HasTensor("blk.0.attn_q_norm.weight")));
    } else if (row.name != "qwen2" && row.name != "qwen2moe" &&
               row.name != "starcoder2" && row.name != "phi2") {
      Set("attention_bias", ConfigValue::Bool(biased));
    }
    if (row.name == "glm4moe") {
      Set("use_qk_norm",
          ConfigValue::Bool(HasTensor("blk.0.attn_q_norm.weight")));
    }
  }

  // Heads of keys are as long as their two parts together; files since April
  // 2025 state the latent lengths under key_length and their own under
  // key_length_mla.
  void SetLatent() {
    const int64_t rope = Whole("rope.dimension_count");
    const int64_t own = Whole("attention.key_length_mla");
    const int64_t key = own > 0 ? own : Whole("attention.key_length");
    const int64_t own_value = Whole("attention.value_length_mla");
    SetWhole("qk_nope_head_dim", key - rope);
    SetWhole("v_head_dim",
             own_value > 0 ? own_value : Whole("attention.value_length"));
    SetWhole("head_dim", rope);
    if (Find("attention.q_lora_rank") == nullptr) {
      Set("q_lora_rank", ConfigValue::Null());
    }
    if (Find("expert_group_count") == nullptr) {
      SetWhole("n_group", 1);
      SetWhole("topk_group", 1);
    }
  }

  std::optional<ModelConfig> Finish(const Architecture& row) {
    if (!differs_.empty()) return std::nullopt;
    ModelConfig out;
    out.root = std::move(root_);
    out.source = checkpoint_.source;
    out.name = architecture_;
    Finding note;
    note.rule = "model/gguf-config";
    note.severity = Severity::kInfo;
    note.what = fmt::format(
        "the configuration is made of the file's metadata: {} is read as {}",
        architecture_, row.class_name);
    note.why =
        "what the metadata does not tell is the class's default; the dtype is "
        "float16, as llama.cpp keeps its cache by default";
    note.place.source = checkpoint_.source;
    out.notes.push_back(std::move(note));
    return out;
  }

  const Checkpoint& checkpoint_;
  std::string architecture_;
  ConfigValue root_ = ConfigValue::Object();
  std::vector<std::string> differs_;
};

}  // namespace

std::string GgufArchitecture(const Checkpoint& checkpoint) {
  const CheckpointEntry* entry = checkpoint.Find("general.architecture");
  if (entry == nullptr) return "";
  return std::string(entry->value.AsString().value_or(""));
}

std::optional<ModelConfig> ConfigOfGguf(const Checkpoint& checkpoint) {
  std::string architecture = GgufArchitecture(checkpoint);
  if (architecture.empty()) return std::nullopt;
  return GgufConfig(checkpoint, std::move(architecture)).Make();
}

}  // namespace foretell
