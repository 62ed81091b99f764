#include "spec/ignorable_keys.h"

#include <algorithm>
#include <array>

namespace foretell {
namespace {

// transformers 5.23, generation/configuration_utils.py: settings of sampling
// and beam search that old configurations carry beside the architecture.
constexpr std::array<std::string_view, 32> kGeneration = {
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_decoder_ids",
    "forced_eos_token_id",
    "generation_config",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "min_new_tokens",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "penalty_alpha",
    "prefix",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "top_k",
    "top_p",
    "typical_p"};

// Ids of special tokens: rows of a table, not its size. (A padding id that a
// class does read is read by the family and so is not looked up here.)
constexpr std::array<std::string_view, 9> kTokenIds = {
    "bos_token_id", "cls_token_id",  "decoder_start_token_id",
    "eos_token_id", "mask_token_id", "pad_token_id",
    "sep_token_id", "unk_token_id",  "ignore_index"};

// Where a file came from and what wrote it.
constexpr std::array<std::string_view, 18> kNames = {
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "auto_map",
    "finetuning_task",
    "language",
    "license",
    "model_name",
    "name_or_path",
    "tokenizer_class",
    "tokenizer_config",
    "transformers_version",
    "torchscript",
    "unsloth_fixed",
    "unsloth_version",
    "transformers.js_config",
    "model_size",
    "_diffusers_version"};

// What a run wrote into the file, or what only a result's form depends on.
constexpr std::array<std::string_view, 11> kRun = {"gradient_checkpointing",
                                                   "id2label",
                                                   "label2id",
                                                   "output_attentions",
                                                   "output_hidden_states",
                                                   "output_past",
                                                   "return_dict",
                                                   "seed",
                                                   "use_bfloat16",
                                                   "initializer_range",
                                                   "initializer_factor"};

constexpr std::array<IgnorableKeys, 4> kGroups = {{
    {"defaults of text generation, not of the model", kGeneration},
    {"token ids: which row is used, not how many there are", kTokenIds},
    {"names and versions of what wrote the file", kNames},
    {"settings of a run, or of how results are returned or initialised", kRun},
}};

}  // namespace

std::span<const IgnorableKeys> AllIgnorableKeys() { return kGroups; }

bool IsIgnorableKey(std::string_view path) {
  const size_t dot = path.rfind('.');
  const std::string_view key =
      dot == std::string_view::npos ? path : path.substr(dot + 1);
  return std::ranges::any_of(kGroups, [key](const IgnorableKeys& group) {
    return std::ranges::find(group.keys, key) != group.keys.end();
  });
}

}  // namespace foretell
