#include "answers/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "analysis/checkpoint_surplus.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 3> kVocabularies = {
    "vocab_size", "padded_vocab_size", "n_vocab"};

// Keys that only configurations with images, films or sounds have.
constexpr std::array<std::string_view, 15> kOtherSenses = {
    "vision_config",     "visual",           "audio_config",
    "speech_config",     "image_size",       "num_mel_bins",
    "feat_extract_norm", "thinker_config",   "talker_config",
    "mm_vision_tower",   "vision_tower_cfg", "acoustic_tokenizer_config",
    "text_config",       "llm_config",       "conv_dim"};

// By the class's name.
constexpr std::array<ProvenClass, 8> kProvenClasses = {{
    {"BaichuanForCausalLM", "baichuan-inc/Baichuan-7B"},
    {"ChatGLMModel", "THUDM/chatglm3-6b-32k"},
    {"DeciLMForCausalLM", "nvidia/Llama-3_3-Nemotron-Super-49B-v1"},
    {"InternLM2ForCausalLM", "internlm/internlm2_5-7b-chat"},
    {"InternLMForCausalLM", "internlm/internlm-chat-7b"},
    {"LlamaForCausalLMEagle3", "SpecForge/qwen3-8b-eagle3"},
    {"MiniCPMForCausalLM", "openbmb/MiniCPM4-8B"},
    {"QWenLMHeadModel", "Qwen/Qwen-7B-Chat"},
}};

// None of those has experts, so that a variant with them is not proven.
std::string_view ProvenBy(const ReadModel& model) {
  const bool has_experts = std::ranges::any_of(
      model.parameters.tensors,
      [](const TensorGroup& one) { return one.experts > 0; });
  const auto found = std::ranges::find(kProvenClasses, model.built.class_name,
                                       &ProvenClass::class_name);
  if (found == kProvenClasses.end() || has_experts) return {};
  return found->by;
}

bool HeaderAgrees(const ModelConfig& config, const ReadModel& model) {
  const auto& catalogue = config.catalogue;
  if (!catalogue || !catalogue->published) return false;
  if (!catalogue->asked.empty() && catalogue->asked != catalogue->id) {
    return false;
  }
  if (!model.parameters.total.is_exact()) return false;
  const int64_t difference =
      catalogue->published->parameters - model.parameters.total.exact();
  if (difference == 0) return true;
  return ExplainDifference(difference,
                           CheckpointSurplus(config, model.built.class_name,
                                             model.parameters))
      .has_value();
}

}  // namespace

std::span<const ProvenClass> ProvenClasses() { return kProvenClasses; }

Proof ProofOf(const ModelConfig& config, const ReadModel& model) {
  const Family& family = *model.built.family;
  if (family.described_by.empty()) {
    return {ProofKind::kLibrary, fmt::format("exact, as {} builds the class",
                                             FollowedLibrary(family))};
  }
  if (HeaderAgrees(config, model)) {
    return {ProofKind::kHeader,
            fmt::format("exact by the published total ({})",
                        config.catalogue->published->where)};
  }
  if (const std::string_view by = ProvenBy(model); !by.empty()) {
    return {ProofKind::kHeader,
            fmt::format("exact as its class is: the same layers give the "
                        "published total of {}",
                        by)};
  }
  return {ProofKind::kDescription,
          fmt::format("by description: {} has no such class and no published "
                      "total proves it; it follows {}",
                      FollowedLibrary(), family.described_by)};
}

bool IsTextModel(const ModelConfig& config) {
  const auto has = [&](std::string_view key) {
    const ConfigValue* value = config.root.Find(key);
    return value != nullptr && !value->is_null();
  };
  return std::ranges::any_of(kVocabularies, has) &&
         std::ranges::none_of(kOtherSenses, has);
}

}  // namespace foretell
