#include "analysis/quantization/gguf_layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/quantization/gguf_names.h"
#include "base/lower_case.h"

namespace foretell {
namespace {

// Classes whose fused experts are stored as [experts, in, out]
// (transformers 5.23, models/gpt_oss, models/llama4).
bool ExpertsAreTransposed(std::string_view class_name) {
  return class_name.starts_with("GptOss") || class_name.starts_with("Llama4");
}

// Classes whose projections are Conv1D: [in, out].
bool ProjectionsAreConv1D(std::string_view class_name) {
  return class_name.starts_with("GPT2") || class_name.starts_with("OpenAIGPT");
}

// llama.cpp's deepseek2 and its kin split kv_b_proj by head
// (conversion/deepseek.py, modify_tensors); minicpm3 and plm keep it.
bool SplitsLatent(std::string_view class_name) {
  return !class_name.starts_with("MiniCPM") && !class_name.starts_with("PLM");
}

// What is stored in float32 whatever the file's type: conversion/base.py,
// prepare_tensors.
bool StaysFloat32(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kParts = {
      "ffn_gate_inp", "position_embd",      "token_types",
      "ssm_conv1d",   "shortconv.conv",     "ssm_a.weight",
      "indexer.proj", "altup_correct_coef", "altup_predict_coef",
      "_norm.weight"};
  return std::ranges::any_of(kParts, [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// The order of llama-model-loader.h, weight_name_comparer.
bool Before(const GgufTensor& a, const GgufTensor& b) {
  if (a.block != b.block) return a.block < b.block;
  return a.name < b.name;
}

class Converter {
 public:
  explicit Converter(const GgufFacts& facts) : facts_(facts) {}

  void Add(const TensorGroup& group) {
    if (IsTowerName(Lower(group.name))) {
      out_.towers.push_back(group.name);
      return;
    }
    const auto blocks = FirstIndices(group.indices, group.count);
    if (blocks.empty()) {
      out_.unplaced.push_back(group.name);
      return;
    }
    for (const auto& [block, copies] : blocks) {
      const int64_t at = group.indices.empty() ? -1 : block;
      if (!AddOne(group, at, copies)) {
        out_.unplaced.push_back(group.name);
        return;
      }
    }
  }

  GgufLayout Take() && {
    size_t number = 0;
    for (const int64_t elements : facts_.rope_tables) {
      const std::string name = facts_.rope_tables.size() == 1
                                   ? "rope_freqs.weight"
                               : number == 0 ? "rope_factors_long.weight"
                                             : "rope_factors_short.weight";
      ++number;
      Push(name, -1, elements, 1, 1, 1);
    }
    std::ranges::stable_sort(out_.tensors, Before);
    return std::move(out_);
  }

 private:
  void Push(std::string name, int64_t block, int64_t columns, int64_t rows,
            int64_t depth, int64_t dims) {
    GgufTensor tensor;
    tensor.stays_float32 = dims <= 1 || StaysFloat32(name);
    tensor.stays_mxfp4 = facts_.experts_are_mxfp4 && dims == 3 &&
                         name.find("_exps.weight") != std::string::npos;
    tensor.name = std::move(name);
    tensor.block = block;
    tensor.columns = columns;
    tensor.rows = rows;
    tensor.depth = depth;
    tensor.dims = dims;
    out_.tensors.push_back(std::move(tensor));
  }

  // "blk.#.x" of block 3 -> "blk.3.x".
  static std::string Named(const std::string& name, int64_t block) {
    const size_t at = name.find('#');
    if (at == std::string::npos || block < 0) return name;
    return name.substr(0, at) + std::to_string(block) + name.substr(at + 1);
  }

  // One tensor of a block, or the `copies` experts of it.
  bool AddOne(const TensorGroup& group, int64_t block, int64_t copies) {
    const auto& dims = group.shape.dims();
    if (dims.size() <= 1) {
      // A bias, a norm, a sink: experts' biases are merged, which changes no
      // bytes.
      const int64_t size = dims.empty() ? 1 : dims[0];
      Push(Named("blk.#." + group.name, block), block, size, copies, 1, 1);
      return true;
    }
    std::string name = GgufNameOf(group.name);
    if (name.empty() && IsExpertsBias(group)) {
      Push(Named("blk.#." + group.name, block), block, dims[1],
           dims[0] * copies, 1, 1);
      return true;
    }
    if (name.empty()) return false;
    AddMatrix(group, Named(name, block), block, copies);
    return true;
  }

  // GPT-OSS: "mlp.experts.down_proj_bias" [experts, out].
  static bool IsExpertsBias(const TensorGroup& group) {
    return group.name.ends_with("_bias") &&
           group.name.find("experts") != std::string::npos;
  }

  void AddMatrix(const TensorGroup& group, const std::string& name,
                 int64_t block, int64_t copies) {
    const auto& dims = group.shape.dims();
    int64_t depth = copies;
    int64_t rows = dims[0];
    int64_t columns = dims.back();
    if (dims.size() == 3 && name.find("_exps") != std::string::npos) {
      depth = dims[0];
      rows = dims[1];
      if (ExpertsAreTransposed(facts_.class_name)) std::swap(rows, columns);
    } else if (dims.size() >= 3) {
      // A convolution: [channels, 1, width] is squeezed.
      for (size_t i = 1; i + 1 < dims.size(); ++i) rows *= dims[i];
    } else if (ProjectionsAreConv1D(facts_.class_name) &&
               name.starts_with("blk.")) {
      std::swap(rows, columns);
    }
    if (name.ends_with(".ffn_gate_up_exps.weight")) {
      PushHalves(name, "ffn_gate_up_exps", "ffn_gate_exps", "ffn_up_exps",
                 block, columns, rows, depth);
      return;
    }
    if (name.ends_with(".ffn_gate_up_shexp.weight")) {
      PushHalves(name, "ffn_gate_up_shexp", "ffn_gate_shexp", "ffn_up_shexp",
                 block, columns, rows, depth);
      return;
    }
    if (name.ends_with(".attn_kv_b.weight") &&
        SplitsLatent(facts_.class_name) && SplitLatent(name, block, columns)) {
      return;
    }
    if (name.ends_with(".attn_qkvz.weight")) {
      SplitGate(name, block, columns, rows);
      return;
    }
    Push(name, block, columns, rows * depth, depth, depth > 1 ? 3 : 2);
  }

  static std::string Replaced(std::string name, std::string_view what,
                              std::string_view by) {
    return name.replace(name.find(what), what.size(), by);
  }

  void PushHalves(const std::string& name, std::string_view whole,
                  std::string_view first, std::string_view second,
                  int64_t block, int64_t columns, int64_t rows, int64_t depth) {
    for (const std::string_view half : {first, second}) {
      Push(Replaced(name, whole, half), block, columns, rows / 2 * depth, depth,
           depth > 1 ? 3 : 2);
    }
  }

  // [heads x (nope + value), rank] -> k_b [heads, rank, nope] and
  // v_b [heads, value, rank].
  bool SplitLatent(const std::string& name, int64_t block, int64_t rank) {
    const int64_t heads = facts_.heads;
    if (heads <= 0 || facts_.nope_dims <= 0 || facts_.value_dims <= 0) {
      return false;
    }
    Push(Replaced(name, "attn_kv_b", "attn_k_b"), block, facts_.nope_dims,
         rank * heads, heads, 3);
    Push(Replaced(name, "attn_kv_b", "attn_v_b"), block, rank,
         facts_.value_dims * heads, heads, 3);
    return true;
  }

  // Qwen3-Next fuses queries, keys, values and the gate; the values and the
  // gate are as wide as one another. Queries and
  // keys are what is left. conversion/qwen.py splits them.
  void SplitGate(const std::string& name, int64_t block, int64_t columns,
                 int64_t rows) {
    const int64_t gate = facts_.gate_rows;
    if (gate <= 0 || gate >= rows) {
      Push(Replaced(name, "attn_qkvz", "ssm_in"), block, columns, rows, 1, 2);
      return;
    }
    Push(Replaced(name, "attn_qkvz", "attn_qkv"), block, columns, rows - gate,
         1, 2);
    Push(Replaced(name, "attn_qkvz", "attn_gate"), block, columns, gate, 1, 2);
  }

  const GgufFacts& facts_;
  GgufLayout out_;
};

// "0-3,7" -> 0 1 2 3 7; empty where it is something else.
std::vector<int64_t> RunsOf(std::string_view text) {
  std::vector<int64_t> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view run = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    int64_t first = 0;
    auto [end, error] =
        std::from_chars(run.data(), run.data() + run.size(), first);
    if (error != std::errc()) return {};
    int64_t last = first;
    if (end != run.data() + run.size()) {
      if (*end != '-') return {};
      const auto [stop, problem] =
          std::from_chars(end + 1, run.data() + run.size(), last);
      if (problem != std::errc() || stop != run.data() + run.size()) return {};
    }
    // Far past any model's layers: a list of indices is never that long.
    constexpr int64_t kMostIndices = 1'000'000;
    if (last < first || last - first > kMostIndices) return {};
    for (int64_t i = first; i <= last; ++i) out.push_back(i);
  }
  return out;
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> FirstIndices(
    const std::string& indices, int64_t count) {
  if (indices.empty()) return {{0, count}};
  std::map<int64_t, int64_t> copies;
  if (indices.starts_with("[[")) {
    // Tuples that form no product: "[[0, 1], [2, 0]]".
    size_t at = 0;
    while ((at = indices.find('[', at + 1)) != std::string::npos) {
      int64_t first = 0;
      std::from_chars(indices.data() + at + 1, indices.data() + indices.size(),
                      first);
      ++copies[first];
    }
  } else {
    const std::string_view all = indices;
    const auto blocks = RunsOf(all.substr(0, all.find(" x ")));
    if (blocks.empty()) return {};
    const auto each = count / static_cast<int64_t>(blocks.size());
    for (const int64_t block : blocks) copies[block] = each;
  }
  return {copies.begin(), copies.end()};
}

GgufLayout LayOutGguf(const std::vector<TensorGroup>& tensors,
                      const GgufFacts& facts) {
  Converter converter(facts);
  for (const TensorGroup& group : tensors) converter.Add(group);
  return std::move(converter).Take();
}

}  // namespace foretell
