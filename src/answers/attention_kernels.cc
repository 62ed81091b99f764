#include "answers/attention_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "graph/phase_walk.h"
#include "models/layers/sdpa_choice.h"

namespace foretell {
namespace {

constexpr std::string_view kCudnn =
    "aten._scaled_dot_product_cudnn_attention.default";
constexpr std::string_view kFlash =
    "aten._scaled_dot_product_flash_attention.default";
constexpr std::string_view kEfficient =
    "aten._scaled_dot_product_efficient_attention.default";
// What the math kernel alone runs.
constexpr std::string_view kMathSoftmax = "aten._safe_softmax.default";
constexpr std::string_view kPad = "aten.constant_pad_nd.default";

class Reader {
 public:
  Reader(const Graph& graph, const StepCase& step)
      : graph_(graph), step_(step) {}

  std::vector<AttentionKernel> Read() {
    ForEachOperation(graph_, [&](const Operation& operation, Phase phase) {
      if (phase == Phase::kForward) Visit(operation);
    });
    return std::move(out_);
  }

 private:
  void Visit(const Operation& operation) {
    const std::string_view name = operation.row->name;
    if (name == kPad) {
      padded_ = graph_.OutputsOf(operation)[0];
      width_before_ = graph_[graph_.InputsOf(operation)[0]].shape[-1];
    } else if (name == kCudnn) {
      Add("cuDNN", SdpaKernelKind::kCudnn, CallOf(operation, 2));
    } else if (name == kEfficient) {
      Add("memory-efficient", SdpaKernelKind::kEfficient, CallOf(operation, 2));
    } else if (name == kFlash) {
      // PyTorch's own flash kernel stands for flash-attention's.
      if (IsFlash(step_)) {
        Count(step_.attention,
              "asked for; PyTorch's flash kernel stands for it");
      } else {
        Add("flash", SdpaKernelKind::kFlash, CallOf(operation, 1));
      }
    } else if (name == kMathSoftmax && step_.attention == "sdpa") {
      Count("math", MathReason(operation));
    }
  }

  // `causal` is the place of that attribute; the dropout lies before it.
  SdpaCall CallOf(const Operation& operation, size_t causal) const {
    const auto inputs = graph_.InputsOf(operation);
    const auto attributes = graph_.AttributesOf(operation);
    const Value& query = graph_[inputs[0]];
    SdpaCall call;
    call.dtype = query.dtype;
    call.capability = step_.capability;
    call.head_dim = query.shape[-1];
    call.value_dim = graph_[inputs[2]].shape[-1];
    // A flash call may be padded in front of its kernel: queries, keys, values.
    if (inputs[2] == padded_) {
      call.head_dim = width_before_;
      call.value_dim = width_before_;
    }
    call.queries = query.shape[-2];
    call.keys = graph_[inputs[1]].shape[-2];
    call.has_mask = inputs.size() > 3;
    call.learns_mask = call.has_mask && graph_[inputs[3]].requires_grad;
    call.keeps = std::ranges::any_of(
        inputs, [&](ValueId id) { return graph_[id].requires_grad; });
    if (const auto* dropout = std::get_if<double>(&attributes[causal - 1])) {
      call.dropout = *dropout;
    }
    if (const auto* flag = std::get_if<bool>(&attributes[causal])) {
      call.causal = *flag;
    }
    return call;
  }

  // The scores alone are left of the call: what its dtype refuses on its card
  // is told, and the rest is not guessed.
  std::string MathReason(const Operation& operation) const {
    SdpaCall call;
    call.dtype = step_.autocast.value_or(step_.dtype);
    call.capability = step_.capability;
    const Shape& scores = graph_[graph_.InputsOf(operation)[0]].shape;
    const std::string why = WhyOnlyMath(call);
    return why.empty() ? fmt::format(
                             "no fused kernel takes these heads, over "
                             "{} queries and {} keys",
                             scores[-2], scores[-1])
                       : why;
  }

  void Add(std::string_view kernel, SdpaKernelKind kind, const SdpaCall& call) {
    Count(kernel, WhySdpaKernel(kind, call));
  }

  void Count(std::string_view kernel, std::string why) {
    for (AttentionKernel& one : out_) {
      if (one.kernel != kernel || one.why != why) continue;
      ++one.calls;
      return;
    }
    out_.push_back({std::string(kernel), 1, std::move(why)});
  }

  const Graph& graph_;
  const StepCase& step_;
  ValueId padded_;
  int64_t width_before_ = 0;
  std::vector<AttentionKernel> out_;
};

}  // namespace

std::vector<AttentionKernel> AttentionKernels(const Graph& graph,
                                              const StepCase& step) {
  return Reader(graph, step).Read();
}

}  // namespace foretell
