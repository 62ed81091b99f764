// Ranks, cards and how the model divides over them: vllm/config/parallel.py,
// ModelConfig.verify_with_parallel_config.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell::vllm {
namespace {

// The largest size that divides the heads and is no larger than wanted.
int64_t NearestDivisor(int64_t heads, int64_t wanted) {
  for (int64_t size = std::min(heads, wanted); size > 1; --size) {
    if (heads % size == 0) return size;
  }
  return 1;
}

bool CheckSizes(State& state) {
  for (const std::string_view name :
       {"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
        "prefill_context_parallel_size", "decode_context_parallel_size"}) {
    const auto size = state.Number(name);
    if (!size || *size >= 1) continue;
    // Before sizes were checked a size of 0 ended in a division by it.
    const bool checked = state.Since(0, 23);
    state.Refuse(checked ? "other" : "parallel-divisibility", std::string(name),
                 fmt::format("{} is {}", name, *size),
                 "a size of at least 1 is required", "1");
    return false;
  }
  return true;
}

// vllm/engine/ray_utils.py up to 0.1.2: ranks were laid over whole nodes.
void SharesOfNode(State& state) {
  const int64_t ranks = state.out->settings.tensor_parallel;
  const int64_t cards = state.in->cards;
  if (state.Since(0, 1, 3) || ranks <= 1 || cards <= ranks ||
      cards % ranks == 0) {
    return;
  }
  state.Refuse(
      "parallel-divisibility", "tensor_parallel_size",
      fmt::format("{} cards of a node do not divide by {} ranks", cards, ranks),
      "it ends with \"The number of GPUs per node is not divisible\"",
      "hide the cards that are left over: CUDA_VISIBLE_DEVICES=0,1");
}

void DataParallel(State& state) {
  ServingSettings& out = state.settings();
  const auto rank = state.Number("data_parallel_rank");
  const bool outside =
      state.Truth("data_parallel_external_lb") || rank.has_value();
  if (outside && out.data_parallel > 1 && !out.is_moe && state.Since(0, 21)) {
    state.Refuse("gpu-count", "data_parallel_rank",
                 "a model without experts is served as one rank of several",
                 "external data parallelism is for models with experts",
                 "independent servers without --data-parallel-…");
  }
  const auto local = state.Number("data_parallel_size_local");
  state.data_parallel_local = outside ? 1 : local.value_or(out.data_parallel);
  if (state.data_parallel_local > out.data_parallel) {
    state.Refuse("other", "data_parallel_size_local",
                 fmt::format("{} local data-parallel ranks of {}",
                             state.data_parallel_local, out.data_parallel),
                 "more than there are");
  }
  if (rank && (*rank < 0 || *rank >= out.data_parallel)) {
    state.Refuse("other", "data_parallel_rank",
                 fmt::format("rank {} of {}", *rank, out.data_parallel),
                 "it lies outside");
  }
}

void Balance(State& state) {
  const ServingSettings& out = state.settings();
  if (!state.Truth("enable_eplb")) return;
  if (!out.expert_parallel) {
    state.Refuse("parallel-unsupported", "enable_eplb",
                 "--enable-eplb without --enable-expert-parallel",
                 "experts can only be balanced where they are spread",
                 "--enable-expert-parallel");
  } else if (out.tensor_parallel * out.data_parallel <= 1) {
    state.Refuse("parallel-unsupported", "enable_eplb",
                 "--enable-eplb on one rank", "there is nothing to balance",
                 "--tensor-parallel-size 2");
  }
}

}  // namespace

std::vector<int64_t> PipelineLayers(int64_t layers, int64_t stages) {
  // vllm/distributed/utils.py, get_pp_indices: what is left over goes to the
  // stages before the last one, from the back.
  if (stages < 1) return {};
  std::vector<int64_t> out(static_cast<size_t>(stages), layers / stages);
  const int64_t rest = layers % stages;
  for (int64_t i = 2; i < rest + 2; ++i) {
    const int64_t at = ((stages - i) % stages + stages) % stages;
    ++out[static_cast<size_t>(at)];
  }
  return out;
}

void ResolveParallel(State& state) {
  ServingSettings& out = state.settings();
  const auto size = [&](std::string_view name) {
    return std::max<int64_t>(1, state.Number(name).value_or(1));
  };
  out.tensor_parallel = size("tensor_parallel_size");
  out.pipeline_parallel = size("pipeline_parallel_size");
  out.data_parallel = size("data_parallel_size");
  out.decode_context_parallel = size("decode_context_parallel_size");
  out.prefill_context_parallel = size("prefill_context_parallel_size");
  out.expert_parallel = state.Truth("enable_expert_parallel");
  state.world = out.tensor_parallel * out.pipeline_parallel *
                out.prefill_context_parallel;
  out.pipeline_layers = PipelineLayers(state.layers, out.pipeline_parallel);
  const std::string all2all = state.Text("all2all_backend");
  if (!all2all.empty()) state.all2all = all2all;
  if (state.all2all == "pplx" || state.all2all == "naive") {
    state.all2all = "allgather_reducescatter";
  }
  CheckSizes(state);
  if (out.pipeline_parallel > 1 && !state.Since(0, 5, 1)) {
    state.Refuse("parallel-unsupported", "pipeline_parallel_size",
                 "pipeline parallelism before vLLM 0.5.1",
                 "it ends with \"Pipeline parallelism is not supported yet\"",
                 "--tensor-parallel-size instead");
  }
  SharesOfNode(state);
  DataParallel(state);
  Balance(state);
  if (out.decode_context_parallel > 1 && out.prefill_context_parallel == 1 &&
      out.tensor_parallel % out.decode_context_parallel != 0) {
    state.Refuse("parallel-divisibility", "decode_context_parallel_size",
                 fmt::format("{} decode-context ranks do not divide {} tensor "
                             "ranks",
                             out.decode_context_parallel, out.tensor_parallel),
                 "they share the tensor ranks",
                 fmt::format("--decode-context-parallel-size {}",
                             NearestDivisor(out.tensor_parallel,
                                            out.decode_context_parallel)));
  }
  state.executor = state.Text("distributed_executor_backend");
  if (state.executor.empty()) {
    if (state.world * out.data_parallel > 1) {
      state.executor = "mp";
      if (state.in->cards < state.world) {
        state.Refuse(
            "gpu-count", "tensor_parallel_size",
            fmt::format("{} ranks and {} {}", state.world, state.in->cards,
                        state.in->cards == 1 ? "card" : "cards"),
            "it ends with \"larger than the number of available GPUs\"",
            fmt::format(
                "--tensor-parallel-size {}",
                std::max<int64_t>(1, state.in->cards / out.pipeline_parallel)));
      }
    } else {
      state.executor = "uni";
    }
  } else if (state.in->cards < state.world && state.executor == "mp") {
    state.Warn(
        "gpu-count", "tensor_parallel_size",
        fmt::format("{} ranks and {} cards", state.world, state.in->cards),
        "the workers end as they start", "");
  }
}

void VerifyParallel(State& state) {
  ServingSettings& out = state.settings();
  if (state.heads % out.tensor_parallel != 0) {
    state.Refuse("parallel-divisibility", "tensor_parallel_size",
                 fmt::format("{} attention heads do not divide by {} ranks",
                             state.heads, out.tensor_parallel),
                 "it ends with \"must be divisible by tensor parallel size\"",
                 fmt::format("--tensor-parallel-size {}",
                             NearestDivisor(state.heads, out.tensor_parallel)));
  }
  if (out.expert_parallel && state.experts == 0) {
    state.Refuse("parallel-divisibility", "enable_expert_parallel",
                 "--enable-expert-parallel for a model without experts",
                 "it ends with \"Number of experts … must be greater than 0\"",
                 "leave it out");
  }
  if (out.pipeline_parallel > 1 && state.arch != nullptr &&
      !state.arch->Is("pp")) {
    state.Refuse("parallel-unsupported", "pipeline_parallel_size",
                 fmt::format("{} has no pipeline parallelism", state.arch_name),
                 "its class does not implement SupportsPP",
                 fmt::format("--tensor-parallel-size {}",
                             out.pipeline_parallel * out.tensor_parallel));
  }
  const int64_t dcp = out.decode_context_parallel;
  if (dcp > 1 && !out.use_mla && state.kv_heads > 0) {
    const int64_t most = out.tensor_parallel / state.kv_heads;
    if (out.tensor_parallel <= state.kv_heads) {
      state.Refuse("parallel-unsupported", "decode_context_parallel_size",
                   fmt::format("{} tensor ranks for {} key and value heads",
                               out.tensor_parallel, state.kv_heads),
                   "context parallelism of decode shares out heads that are "
                   "held more than once",
                   "--decode-context-parallel-size 1");
    } else if (dcp > most) {
      state.Refuse(
          "parallel-unsupported", "decode_context_parallel_size",
          fmt::format("{} decode-context ranks, and {} at most", dcp, most),
          "each head is held so often",
          fmt::format("--decode-context-parallel-size {}", most));
    } else if ((state.heads / state.kv_heads) % dcp != 0) {
      state.Refuse("parallel-unsupported", "decode_context_parallel_size",
                   fmt::format("{} query heads to a key head do not divide by "
                               "{}",
                               state.heads / state.kv_heads, dcp),
                   "they are shared out", "");
    }
  }
}

}  // namespace foretell::vllm
