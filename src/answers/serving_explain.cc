#include "answers/serving_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace foretell {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

std::string Gib(const Bytes& bytes) {
  const AnyFigure& any = bytes.any();
  if (any.is_unknown() || !any.value()) return any.ToString();
  if (any.is_exact() || !any.low() || !any.high()) {
    return fmt::format("{:.3f} GiB", *any.value() / kGib);
  }
  return fmt::format("~{:.3f} GiB ({:.3f} to {:.3f})", *any.value() / kGib,
                     *any.low() / kGib, *any.high() / kGib);
}

// The best value alone: the table of memory has the intervals.
std::string Short(const Bytes& bytes) {
  const auto value = bytes.any().value();
  if (bytes.any().is_unknown() || !value) return "unknown";
  return fmt::format("{:.3f}", *value / kGib);
}

std::string BytesText(int64_t bytes) {
  return WithSeparators(bytes) + " bytes";
}

std::string StatesText(const vllm::KvSpec& spec) {
  std::string out;
  for (const vllm::StateTensor& state : spec.states) {
    if (!out.empty()) out += " + ";
    for (const int64_t size : state.shape) out += fmt::format("{} x ", size);
    out += fmt::format("{} bytes", BytesOf(state.dtype));
  }
  return out;
}

std::string PageFormula(const vllm::KvSpec& spec) {
  std::string out;
  if (spec.kind == vllm::KvKind::kState) {
    out = StatesText(spec);
  } else {
    const int64_t slots = spec.head_slots > 0 ? spec.head_slots : spec.heads;
    const std::string row =
        spec.row_bytes > 0 ? fmt::format("{} bytes a row", spec.row_bytes)
                           : fmt::format("({} + {}) x {} bytes", spec.key_dim,
                                         spec.value_dim, spec.element_bytes);
    out = fmt::format("{} tokens", spec.block_size);
    if (spec.tokens_per_state > 1) {
      out += fmt::format(" / {} a stored row", spec.tokens_per_state);
    }
    out +=
        fmt::format(" x {} {} x {}", slots, slots == 1 ? "head" : "heads", row);
  }
  if (vllm::PageBytes(spec) != vllm::UnpaddedPageBytes(spec)) {
    out += fmt::format(", padded from {}",
                       WithSeparators(vllm::UnpaddedPageBytes(spec)));
  }
  return out;
}

// What of a request stays in such layers.
std::string HeldText(const vllm::KvSpec& spec, const vllm::KvRequestSize& at) {
  switch (spec.kind) {
    case vllm::KvKind::kSliding:
    case vllm::KvKind::kSlidingLatent:
      return fmt::format(
          "a window of {} tokens and {} in flight, at most the length",
          WithSeparators(spec.window), WithSeparators(at.in_flight_tokens));
    case vllm::KvKind::kChunked:
      return fmt::format(
          "a chunk of {} tokens and {} in flight, at most the length",
          WithSeparators(spec.chunk), WithSeparators(at.in_flight_tokens));
    case vllm::KvKind::kState:
      return "a state, whatever the length";
    case vllm::KvKind::kCross:
      return fmt::format("{} tokens of the encoder",
                         WithSeparators(at.encoder_tokens));
    default:
      return fmt::format("{} tokens in blocks of {}", WithSeparators(at.length),
                         spec.block_size);
  }
}

std::string Range(int64_t low, int64_t likely, int64_t high) {
  if (low == high) return WithSeparators(likely);
  return fmt::format("~{} ({} to {})", WithSeparators(likely),
                     WithSeparators(low), WithSeparators(high));
}

void ExplainGroups(const ServingFit& fit, std::vector<ServingTerm>& out) {
  const vllm::KvPlanInput& in = fit.cache.input;
  int64_t number = 0;
  for (const vllm::KvGroup& group : in.grouping.groups) {
    ++number;
    out.push_back({fmt::format("page of group {}, one layer", number),
                   BytesText(vllm::PageBytes(group.spec)),
                   PageFormula(group.spec)});
    out.push_back({fmt::format("blocks of one request in group {}", number),
                   WithSeparators(vllm::RequestBlocks(group.spec, in.request)),
                   fmt::format("{} {}: {}", group.layers.size(),
                               group.layers.size() == 1 ? "layer" : "layers",
                               HeldText(group.spec, in.request))});
  }
}

void ExplainPlan(const ServingFit& fit, std::vector<ServingTerm>& out) {
  const vllm::KvPlan& low = fit.plans.front();
  const vllm::KvPlan& likely = fit.plans[1];
  const vllm::KvPlan& high = fit.plans.back();
  const vllm::KvPlanInput& in = fit.cache.input;
  out.push_back({"one block of the pool", BytesText(likely.block_bytes),
                 in.is_block_outermost
                     ? "the layers of a group packed inside a block"
                     : "the pages of the largest group's layers"});
  out.push_back({"blocks", Range(low.blocks, likely.blocks, high.blocks),
                 in.blocks_override
                     ? "--num-gpu-blocks-override"
                     : "what is left / one block, rounded down; the least of "
                       "the stages"});
  out.push_back({"blocks of one full request",
                 WithSeparators(likely.request_blocks),
                 fmt::format("{} tokens, over all groups",
                             WithSeparators(likely.length))});
  out.push_back(
      {"concurrency",
       low.concurrency == high.concurrency
           ? fmt::format("{:.2f}x", likely.concurrency)
           : fmt::format("~{:.2f}x ({:.2f}x to {:.2f}x)", likely.concurrency,
                         low.concurrency, high.concurrency),
       "blocks / blocks of one full request"});
  out.push_back(
      {"printed tokens",
       Range(low.printed_tokens, likely.printed_tokens, high.printed_tokens),
       fit.cache.rules.does_print_by_request
           ? fmt::format("concurrency x {} tokens",
                         WithSeparators(likely.length))
           : fmt::format("blocks / {} groups x {} tokens x {} ranks of context",
                         likely.groups.size(), likely.least_block,
                         in.request.context_ranks)});
}

}  // namespace

std::vector<ServingTerm> ExplainCache(const ServingFit& fit,
                                      const ServingSettings& settings) {
  std::vector<ServingTerm> out;
  out.push_back(
      {"left for the KV cache", Gib(fit.memory.cache),
       settings.kv_cache_memory_bytes
           ? std::string("--kv-cache-memory-bytes")
           : fmt::format("{} share - {} weights - {} activations - {} outside "
                         "PyTorch - {} for graphs",
                         Short(fit.memory.requested), Short(fit.memory.weights),
                         Short(fit.memory.activation),
                         Short(fit.memory.non_torch),
                         Short(fit.memory.graph_estimate))});
  if (!fit.cache.fault.empty()) {
    out.push_back({"layers", "unknown", fit.cache.fault});
    return out;
  }
  if (fit.cache.input.grouping.groups.empty()) {
    out.push_back({"groups", "0", "nothing is kept from step to step"});
    return out;
  }
  ExplainGroups(fit, out);
  if (fit.plans.empty()) {
    out.push_back({"blocks", "unknown", fit.fit.missing + fit.fit.reason});
    return out;
  }
  const bool is_planned =
      std::ranges::all_of(fit.plans, [](const vllm::KvPlan& plan) {
        return plan.verdict == vllm::KvVerdict::kAccepted;
      });
  if (is_planned) {
    ExplainPlan(fit, out);
    return out;
  }
  out.push_back({"needed by one full request",
                 fmt::format("{:.3f} GiB",
                             static_cast<double>(fit.fit.needed_bytes) / kGib),
                 "its blocks x one block; more than may be left"});
  if (fit.fit.estimated_length > 0) {
    out.push_back({"longest length that fits",
                   WithSeparators(fit.fit.estimated_length) + " tokens",
                   "in the likely amount"});
  }
  return out;
}

}  // namespace foretell
