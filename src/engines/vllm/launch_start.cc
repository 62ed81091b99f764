// What a start refuses after validation and before it looks at memory: sizes
// that ranks or blocks of quantized weights do not divide, and parsers that the
// release does not have.
//
// Follows vllm/model_executor/layers/linear.py (divide), fused_moe/layer.py,
// quantization/gptq.py and awq.py (the alignment of groups, 0.2 to 0.21) and
// quantization/fp8.py (blocks, since 0.6.6; of experts to 0.29, after which
// smaller blocks are tried) of the versions named at each rule.
//
// Does not model: layers of towers, of a class's own kinds, of hybrids' states.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/nearest.h"
#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

// The largest number of ranks below `ranks` that divides every one of `sizes`.
int64_t Fewer(int64_t ranks, std::initializer_list<int64_t> sizes) {
  for (int64_t fewer = ranks - 1; fewer > 1; --fewer) {
    if (std::ranges::all_of(sizes, [&](int64_t n) { return n % fewer == 0; })) {
      return fewer;
    }
  }
  return 1;
}

void Refuse(const State& state, std::string what, std::string why,
            int64_t fewer) {
  state.RefuseAtStart("parallel-divisibility", "tensor_parallel_size",
                      std::move(what), std::move(why),
                      fmt::format("--tensor-parallel-size {}", fewer));
}

void KeyHeads(const State& state, int64_t ranks) {
  const int64_t heads = state.kv_heads;
  const bool replicated = ranks >= heads;
  if (heads <= 0 || state.heads % ranks != 0 ||
      (replicated ? ranks % heads : heads % ranks) == 0) {
    return;
  }
  Refuse(state,
         fmt::format("{} key and value heads neither divide nor are divided by "
                     "{} ranks",
                     heads, ranks),
         replicated ? "a head is held by a whole number of ranks; it ends with "
                      "an assertion"
                    : "it ends with an assertion as the layers are made",
         Fewer(ranks, {state.heads, heads}));
}

// The width of one expert, and of the dense layers; 0 where there are none.
struct Widths {
  int64_t dense = 0;
  int64_t expert = 0;
};

Widths WidthsOf(const State& state) {
  Widths out;
  const int64_t plain = state.text.Integer("intermediate_size").value_or(0);
  if (state.experts == 0) {
    out.dense = plain;
    return out;
  }
  out.expert = state.text.Integer("moe_intermediate_size").value_or(plain);
  // Leading dense layers of their own width.
  if (state.text.Integer("first_k_dense_replace").value_or(0) > 0) {
    out.dense = plain;
  }
  return out;
}

void Divide(const State& state, const Widths& widths, int64_t ranks) {
  if (widths.dense > 0 && widths.dense % ranks != 0) {
    Refuse(state,
           fmt::format("an MLP of {} does not divide by {} ranks", widths.dense,
                       ranks),
           "it ends with an assertion as the layers are made",
           Fewer(ranks, {state.heads, widths.dense}));
  }
  const bool checks = !state.Since(0, 30);
  if (checks && widths.expert > 0 && !state.settings().expert_parallel &&
      widths.expert % ranks != 0) {
    Refuse(state,
           fmt::format("experts of {} do not divide by {} ranks", widths.expert,
                       ranks),
           "it ends with an assertion as the experts are made",
           Fewer(ranks, {state.heads, widths.expert}));
  }
}

std::optional<int64_t> NumberIn(const ConfigValue& config,
                                std::string_view key) {
  const ConfigValue* value = config.Find(key);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

// GPTQ and AWQ: every rank holds whole groups of its inputs.
void Groups(const State& state, const Widths& widths, int64_t ranks) {
  const std::string& name = state.settings().quantization;
  const bool grouped = name.starts_with("gptq") || name.starts_with("awq");
  if (!grouped || state.Since(0, 22) || widths.dense <= 0) return;
  const auto group = NumberIn(*state.quantization_config, "group_size");
  if (!group || *group <= 0 || widths.dense % ranks != 0) return;
  const int64_t part = widths.dense / ranks;
  if (part % *group == 0) return;
  Refuse(state,
         fmt::format("{} of an MLP of {} on each of {} ranks are no whole "
                     "groups of {}",
                     part, widths.dense, ranks, *group),
         "it ends with \"The input size is not aligned with the quantized "
         "weight shape\"",
         Fewer(ranks, {state.heads, widths.dense / *group}));
}

// FP8 in blocks: every rank holds whole blocks.
void Blocks(const State& state, const Widths& widths, int64_t ranks) {
  if (state.settings().quantization != "fp8" || !state.Since(0, 6, 6)) return;
  const ConfigValue* block =
      state.quantization_config->Find("weight_block_size");
  if (block == nullptr || block->items().size() != 2) return;
  const int64_t across = block->items()[0].AsInteger().value_or(0);
  const int64_t along = block->items()[1].AsInteger().value_or(0);
  if (across <= 0 || along <= 0) return;
  const auto check = [&](int64_t width, const char* what) {
    if (width <= 0 || width % ranks != 0) return;
    const int64_t part = width / ranks;
    if (part % across == 0 && part % along == 0) return;
    Refuse(state,
           fmt::format("{} of {} {} on each of {} ranks are no whole blocks of "
                       "{} x {}",
                       part, what, width, ranks, across, along),
           "it ends with \"is not divisible by weight quantization block\"",
           Fewer(ranks, {state.heads, width / std::max(across, along)}));
  };
  check(widths.dense, "an MLP of");
  if (!state.settings().expert_parallel && !state.Since(0, 30)) {
    check(widths.expert, "experts of");
  }
}

// validate_api_server_args of vllm/entrypoints/openai, by the names that the
// release registers; a plugin may register more.
void Parser(const State& state, std::string_view flag, std::string_view list,
            std::string_view plugin) {
  const std::string name = state.Text(flag);
  const auto known = state.facts().lists.find(std::string(list));
  if (name.empty() || known == state.facts().lists.end() ||
      !state.Text(plugin).empty() ||
      std::ranges::find(known->second, name) != known->second.end()) {
    return;
  }
  const std::vector<std::string_view> names(known->second.begin(),
                                            known->second.end());
  const auto near = NearestNames(name, names, 1);
  std::string dashed(flag);
  std::ranges::replace(dashed, '_', '-');
  state.RefuseAtStart(
      "flags", std::string(flag),
      fmt::format(
          "vLLM {} has no {} named {}", state.facts().version.ToString(),
          flag == "reasoning_parser" ? "reasoning parser" : "tool call parser",
          name),
      "the server ends with \"invalid … parser\" as it starts",
      near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                   : fmt::format("--{} {}", dashed, near[0]));
}

}  // namespace

void MeetStart(State& state) {
  if (state.Truth("enable_auto_tool_choice")) {
    Parser(state, "tool_call_parser", "tool_parsers", "tool_parser_plugin");
  }
  Parser(state, "reasoning_parser", "reasoning_parsers",
         "reasoning_parser_plugin");
  const int64_t ranks = state.settings().tensor_parallel;
  if (ranks <= 1 || state.settings().is_attention_free) return;
  if (!state.settings().use_mla) KeyHeads(state, ranks);
  const Widths widths = WidthsOf(state);
  Divide(state, widths, ranks);
  if (!state.quantization_config) return;
  Groups(state, widths, ranks);
  Blocks(state, widths, ranks);
}

}  // namespace foretell::vllm
