#include "answers/gguf_facts.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace foretell {
namespace {

const ConfigValue* Find(const ConfigValue& root, std::string_view key) {
  for (const std::string_view part : {"text_config", "llm_config"}) {
    const ConfigValue* nested = root.Find(part);
    if (nested == nullptr) continue;
    const ConfigValue* value = nested->Find(key);
    if (value != nullptr && !value->is_null()) return value;
  }
  const ConfigValue* value = root.Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

int64_t NumberOf(const ConfigValue& root,
                 std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const ConfigValue* value = Find(root, key);
    if (value == nullptr) continue;
    if (const auto number = value->AsInteger()) return *number;
  }
  return 0;
}

int64_t LayersOf(const BuiltModel& built) {
  int64_t most = 0;
  for (const LayerStack& stack : built.model->stacks) {
    most = std::max(most, stack.layers);
  }
  return most;
}

std::string_view RopeTypeOf(const ConfigValue& root) {
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const ConfigValue* rope = Find(root, key);
    if (rope == nullptr) continue;
    for (const std::string_view name : {"rope_type", "type"}) {
      const ConfigValue* type = rope->Find(name);
      if (type != nullptr && type->is_string()) return *type->AsString();
    }
  }
  return "";
}

// conversion/llama.py: factors for half of a head's dims, where the rope is
// Llama 3's; conversion/phi.py: two tables where it is LongRoPE.
std::vector<int64_t> RopeTables(const ConfigValue& root, int64_t heads) {
  const std::string_view type = RopeTypeOf(root);
  int64_t head = NumberOf(root, {"head_dim"});
  if (head == 0 && heads > 0) head = NumberOf(root, {"hidden_size"}) / heads;
  if (head <= 0) return {};
  if (type == "llama3") return {head / 2};
  if (type == "longrope" || type == "su") return {head / 2, head / 2};
  return {};
}

}  // namespace

GgufFacts GgufFactsOf(const ModelConfig& config, const ReadModel& model) {
  const ConfigValue& root = config.root;
  GgufFacts out;
  out.class_name = model.built.class_name;
  out.layers = LayersOf(model.built);
  out.heads = NumberOf(root, {"num_attention_heads", "n_head", "n_heads"});
  out.kv_heads = NumberOf(root, {"num_key_value_heads", "num_kv_heads"});
  if (out.kv_heads == 0) out.kv_heads = out.heads;
  for (const TensorGroup& group : model.parameters.tensors) {
    out.experts = std::max(out.experts, group.experts);
  }
  out.nope_dims = NumberOf(root, {"qk_nope_head_dim"});
  out.value_dims = NumberOf(root, {"v_head_dim"});
  out.gate_rows = NumberOf(root, {"linear_num_value_heads"}) *
                  NumberOf(root, {"linear_value_head_dim"});
  const ConfigValue* quantization = config.root.Find("quantization_config");
  const ConfigValue* method =
      quantization == nullptr ? nullptr : quantization->Find("quant_method");
  out.experts_are_mxfp4 = method != nullptr && method->AsString() == "mxfp4";
  out.rope_tables = RopeTables(root, out.heads);
  return out;
}

int64_t VocabularyOf(const ModelConfig& config) {
  return NumberOf(config.root, {"vocab_size"});
}

}  // namespace foretell
