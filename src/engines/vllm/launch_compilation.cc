// Compilation, CUDA graphs and fusions: vllm/config/compilation.py and
// VllmConfig's levels of optimization.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

// DEFAULT_BREAKABLE_CUDAGRAPH_ARCHITECTURES of 0.33.0: classes whose graphs
// are cut without compiling.
constexpr std::array<std::string_view, 28> kBreakable = {
    "AliceAIForCausalLM",
    "BeamForCausalLM",
    "DeepseekV32MTPModel",
    "DeepseekV32ForCausalLM",
    "DeepseekV4ForCausalLM",
    "DeepseekV4ForConditionalGeneration",
    "DeepSeekV4MTPModel",
    "DeepseekV41ForCausalLM",
    "Dots3NoteForCausalLM",
    "Dots3NoteMTPModel",
    "Glm5NextForCausalLM",
    "Glm5NextForConditionalGeneration",
    "Glm5NextMTPModel",
    "GlmMoeDsaForCausalLM",
    "HYV4ForCausalLM",
    "HYV4MTPModel",
    "InklingForCausalLM",
    "InklingForConditionalGeneration",
    "KimiK3ForConditionalGeneration",
    "KimiK3MTPModel",
    "KimiLinearForCausalLM",
    "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration",
    "MuseSpark1xForCausalLM",
    "MuseSparkForConditionalGeneration",
    "Qwen4ExpForCausalLM",
    "Qwen4ExpForConditionalGeneration",
    "Step5ForCausalLM"};

bool HasPieces(std::string_view mode) {
  return mode == "PIECEWISE" || mode == "FULL_AND_PIECEWISE";
}

bool HasFull(std::string_view mode) {
  return mode == "FULL" || mode == "FULL_DECODE_ONLY" ||
         mode == "FULL_AND_PIECEWISE";
}

// Modes by name or by number, as CompilationConfig reads them.
std::string GraphMode(const ConfigValue& value) {
  std::string name(value.AsString().value_or(""));
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

int CompilationMode(const ConfigValue& value) {
  if (const auto number = value.AsInteger()) return static_cast<int>(*number);
  const std::string name = GraphMode(value);
  if (name == "NONE") return 0;
  if (name == "STOCK_TORCH_COMPILE") return 1;
  if (name == "DYNAMO_TRACE_ONCE") return 2;
  return 3;
}

void AddSteps(std::vector<int64_t>& sizes, int64_t limit) {
  for (int64_t n = 8; n < std::min<int64_t>(limit + 1, 256); n += 8) {
    sizes.push_back(n);
  }
  for (int64_t n = 256; n <= limit; n += 16) sizes.push_back(n);
}

// The batches of a decode in which every request brings `width` tokens.
std::vector<int64_t> UniformSizes(int64_t sequences, int64_t width,
                                  int64_t limit, int64_t most) {
  std::vector<int64_t> counts;
  const int64_t requests = std::min(sequences, most);
  for (const int64_t n : {1, 2, 4}) {
    if (n <= requests) counts.push_back(n);
  }
  AddSteps(counts, requests);
  counts.push_back(requests);
  std::vector<int64_t> out;
  for (const int64_t n : counts) {
    if (n * width <= limit) out.push_back(n * width);
  }
  return out;
}

void GraphSizes(State& state) {
  ServingSettings& out = state.settings();
  const int64_t tokens = out.max_num_batched_tokens;
  const int64_t width = 1 + (out.speculative ? out.speculative->tokens : 0);
  std::vector<int64_t> uniform;
  int64_t limit = 0;
  const auto asked = state.graph_limit;
  if (asked) {
    limit = *asked;
  } else {
    const bool wide =
        state.Since(0, 28) && state.in->card->capability / 10 == 10;
    const int64_t most = wide ? 1024 : 512;
    limit = std::min(out.max_num_seqs * width * 2, most);
    if (state.Since(0, 29)) {
      if (width > 1) {
        uniform = UniformSizes(out.max_num_seqs, width, limit, most);
      } else if (out.max_num_seqs <= limit) {
        uniform = {out.max_num_seqs};
      }
    }
  }
  limit = std::min(tokens, limit);
  std::set<int64_t> sizes;
  if (state.graph_sizes_given) {
    for (const int64_t size : out.cudagraph_sizes) {
      if (size <= tokens) sizes.insert(size);
    }
  } else {
    std::vector<int64_t> list;
    if (state.Text("performance_mode") == "interactivity") {
      for (int64_t n = 1; n <= std::min<int64_t>(limit, 32); ++n) {
        list.push_back(n);
      }
    } else {
      for (const int64_t n : {1, 2, 4}) {
        if (n <= limit) list.push_back(n);
      }
    }
    if (limit >= 8) AddSteps(list, limit);
    if (tokens <= limit && state.Since(0, 20)) list.push_back(tokens);
    sizes.insert(list.begin(), list.end());
    for (const int64_t n : uniform) {
      if (n <= tokens) sizes.insert(n);
    }
  }
  out.cudagraph_sizes.assign(sizes.begin(), sizes.end());
  const int64_t last = out.cudagraph_sizes.empty() ? 0 : *sizes.rbegin();
  if (asked && *asked != last && state.graph_sizes_given) {
    state.Refuse("other", "max_cudagraph_capture_size",
                 fmt::format("the largest graph is set to {}, and the sizes "
                             "end at {}",
                             *asked, last),
                 "both must agree",
                 fmt::format("--max-cudagraph-capture-size {}", last));
  }
  state.graph_limit = last;
}

void Operators(State& state) {
  const ServingSettings& out = state.settings();
  std::vector<std::string>& ops = state.custom_ops;
  if (const ConfigValue* config = state.Flag("compilation_config")) {
    if (const ConfigValue* given = config->Find("custom_ops")) {
      for (const ConfigValue& item : given->items()) {
        ops.emplace_back(item.AsString().value_or(""));
      }
    }
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::find(ops, name) != ops.end();
  };
  if (state.blocked_weights && !has("-quant_fp8")) {
    ops.emplace_back("+quant_fp8");
  }
  if (!has("all") && !has("none")) {
    ops.emplace_back(out.compilation_mode != 0 ? "none" : "all");
  }
  if (state.blocked_weights && !has("-quant_fp8")) {
    ops.emplace_back("+quant_fp8");
  }
}

}  // namespace

void ResolveCompilation(State& state) {
  ServingSettings& out = state.settings();
  if (!out.is_v1) return GraphsV0(state);
  const ConfigValue* config = state.Flag("compilation_config");
  const auto inner = [&](std::string_view key) -> const ConfigValue* {
    const ConfigValue* value = config == nullptr ? nullptr : config->Find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  out.optimization_level = 2;
  if (const ConfigValue* level = state.Flag("optimization_level")) {
    std::string text(level->AsString().value_or(level->spelling()));
    if (text.starts_with('O')) text = text.substr(1);
    if (text.size() != 1 || text[0] < '0' || text[0] > '3') {
      state.Refuse("other", "optimization_level",
                   fmt::format("no level of optimization {}", text),
                   "0, 1, 2 and 3 are", "-O2");
    } else {
      out.optimization_level = text[0] - '0';
    }
  }
  if (const ConfigValue* limit = state.Flag("max_cudagraph_capture_size")) {
    state.graph_limit = limit->AsInteger();
  } else if (const ConfigValue* size = inner("max_cudagraph_capture_size")) {
    state.graph_limit = size->AsInteger();
  }
  const ConfigValue* sizes = state.Flag("cudagraph_capture_sizes");
  if (sizes == nullptr) sizes = inner("cudagraph_capture_sizes");
  if (sizes != nullptr && sizes->is_array()) {
    state.graph_sizes_given = true;
    if (!state.Given("max_cudagraph_capture_size")) state.graph_limit.reset();
    for (const ConfigValue& item : sizes->items()) {
      out.cudagraph_sizes.push_back(item.AsInteger().value_or(0));
    }
  }
  std::optional<int> mode;
  if (const ConfigValue* value = inner("mode")) mode = CompilationMode(*value);
  std::string graphs;
  if (const ConfigValue* value = inner("cudagraph_mode")) {
    graphs = GraphMode(*value);
  }
  if (out.enforce_eager) {
    mode = 0;
    graphs = "NONE";
  }
  if (state.Since(0, 29)) {
    state.breakable_graphs =
        std::ranges::any_of(state.architectures, [](const std::string& arch) {
          return std::ranges::find(kBreakable, arch) != kBreakable.end();
        });
    if (state.breakable_graphs) mode = 0;
  }
  out.compilation_mode = mode.value_or(out.optimization_level > 0 ? 3 : 0);
  Operators(state);
  if (graphs.empty()) {
    graphs = out.optimization_level == 0   ? "NONE"
             : out.optimization_level == 1 ? "PIECEWISE"
                                           : "FULL_AND_PIECEWISE";
  }
  if (HasPieces(graphs) && out.compilation_mode != 3 &&
      !state.breakable_graphs) {
    if (state.Since(0, 30)) {
      graphs = graphs == "PIECEWISE" ? "NONE" : "FULL_DECODE_ONLY";
    } else {
      graphs = "NONE";
    }
  }
  if (HasFull(graphs) && out.is_pooling) {
    const bool cuts = out.compilation_mode == 3 || state.breakable_graphs;
    graphs = cuts ? "PIECEWISE" : "NONE";
  } else if (out.is_encoder_decoder && graphs != "NONE" &&
             graphs != "FULL_DECODE_ONLY") {
    graphs = "FULL_DECODE_ONLY";
  }
  if (out.enforce_eager) graphs = "NONE";
  out.cudagraph_mode = graphs;
  if (graphs == "NONE") {
    out.cudagraph_sizes.clear();
    state.graph_limit = 0;
  } else {
    GraphSizes(state);
  }
}

}  // namespace foretell::vllm
