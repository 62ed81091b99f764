#include "passes/older_loss.h"

#include <algorithm>
#include <array>

#include "base/dtype.h"
#include "graph/operation_row.h"

namespace foretell {
namespace {

constexpr std::string_view kLogSoftmax = "aten._log_softmax.default";
constexpr int64_t kWide = 4;  // bytes of a float32

}  // namespace

bool LossIsInOwnDtype(std::string_view model_type) {
  constexpr std::array<std::string_view, 24> kTypes = {
      "bart",          "big_bird", "bloom",        "camembert", "dbrx",
      "electra",       "falcon",   "falcon_mamba", "gpt2",      "gpt_bigcode",
      "gpt_neox",      "mamba",    "mamba2",       "marian",    "mbart",
      "megatron-bert", "mpt",      "opt",          "pegasus",   "persimmon",
      "qwen",          "roberta",  "rwkv",         "stablelm"};
  return std::ranges::find(kTypes, model_type) != kTypes.end();
}

std::vector<int64_t> AgeLoss(Graph& graph, const Logits& logits,
                             LibraryVersion version, bool in_own_dtype,
                             bool autocast) {
  std::vector<int64_t> beside(graph.operations.size());
  if (version.major > 4 || (version.major == 4 && version.minor > 48)) {
    return beside;
  }
  const int64_t size = BytesOf(logits.storages.front().dtype);
  // Autocast computes a loss in float32 whatever it is given: the shifted copy
  // has the logits' dtype.
  if (in_own_dtype && autocast) {
    for (const LogitsStorage& one : logits.storages) {
      const Operation& operation = graph.operations[one.operation];
      if (operation.row->name == kLogSoftmax) {
        beside[one.operation] = logits.count() * size;
      }
    }
    return beside;
  }
  if (in_own_dtype) {
    for (const LogitsStorage& one : logits.storages) {
      int64_t& bytes = graph.storages[one.storage.index].bytes;
      if (BytesOf(one.dtype) == kWide) bytes = bytes / kWide * size;
    }
    return beside;
  }
  const bool replaced = version.major < 4 || version.minor <= 45;
  for (const LogitsStorage& one : logits.storages) {
    const Operation& operation = graph.operations[one.operation];
    if (operation.row->name != kLogSoftmax) continue;
    beside[one.operation] =
        logits.count() * (replaced && size < kWide ? kWide - size : kWide);
  }
  return beside;
}

}  // namespace foretell
