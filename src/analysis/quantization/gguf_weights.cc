#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "analysis/quantization/quantized_weights.h"
#include "base/checked.h"

namespace foretell {
namespace {

// gguf's data section: each tensor starts at a multiple of this
// (GGUF_DEFAULT_ALIGNMENT, ggml/include/gguf.h of llama.cpp 0.5.0).
constexpr int64_t kAlignment = 32;
// Of a tensor's entry beside its name and dims: length 8, number of dims 4,
// type 4, offset 8 (ggml/src/gguf.cpp).
constexpr int64_t kEntryBytes = 24;
constexpr int64_t kDimBytes = 8;
// Bytes of tokenizer and settings for an entry of the vocabulary: tokens, their
// types, scores or merges. Llama 2 (SentencePiece, 32,000 entries) has 22,
// Gemma 3 24, Qwen2.5 39, Llama 3 (280,147 merges) 61.
constexpr double kTokenBytes = 38;
constexpr double kTokenBytesLeast = 20;
constexpr double kTokenBytesMost = 66;

struct Sums {
  std::optional<int64_t> bytes = 0;
  int64_t entries = 0;
  int64_t padding = 0;
  int64_t elements = 0;
  std::map<std::string, int64_t> types;
  std::set<std::string> kept;
};

// "blk.3.ffn_gate_inp.weight" -> "blk.#.ffn_gate_inp.weight".
std::string Folded(const GgufTensor& tensor) {
  if (tensor.block < 0) return tensor.name;
  const std::string block = fmt::format("blk.{}.", tensor.block);
  if (!tensor.name.starts_with(block)) return tensor.name;
  return "blk.#." + tensor.name.substr(block.size());
}

Sums SumOf(const GgufLayout& layout,
           const std::vector<const GgmlType*>& types) {
  Sums out;
  for (size_t i = 0; i < layout.tensors.size(); ++i) {
    const GgufTensor& tensor = layout.tensors[i];
    const auto bytes = BytesOf(*types[i], tensor.Elements());
    if (!bytes || !out.bytes) {
      out.bytes = std::nullopt;
      continue;
    }
    out.bytes = CheckedAdd(*out.bytes, *bytes);
    out.elements += tensor.Elements();
    out.types[std::string(types[i]->name)] += *bytes;
    out.padding += (kAlignment - *bytes % kAlignment) % kAlignment;
    out.entries += kEntryBytes + kDimBytes * tensor.dims +
                   static_cast<int64_t>(tensor.name.size());
    if (tensor.dims > 1 && types[i]->block == 1)
      out.kept.insert(Folded(tensor));
  }
  return out;
}

Bytes HeaderBytes(const Sums& sums, int64_t vocabulary) {
  const auto fixed = static_cast<double>(sums.entries + sums.padding);
  const auto tokens = static_cast<double>(vocabulary);
  return Bytes::Estimated(
      fixed + tokens * kTokenBytes, fixed + tokens * kTokenBytesLeast,
      fixed + tokens * kTokenBytesMost,
      "the tokenizer's own bytes, by the number of its entries");
}

bool HasOutput(const GgufLayout& layout) {
  return std::ranges::any_of(layout.tensors, [](const GgufTensor& tensor) {
    return tensor.name == "output.weight";
  });
}

}  // namespace

double BitsPerWeight(const QuantizedWeights& weights) {
  const auto bytes = weights.tensors.any().value();
  if (weights.tensors.is_unknown() || !bytes || weights.elements == 0) return 0;
  return *bytes * 8 / static_cast<double>(weights.elements);
}

std::vector<TypeBytes> SortedTypes(std::vector<TypeBytes> types) {
  std::map<std::string, Bytes> sums;
  for (const TypeBytes& one : types) {
    const auto [at, is_new] = sums.try_emplace(one.type, one.bytes);
    if (!is_new) at->second += one.bytes;
  }
  std::vector<TypeBytes> out;
  for (auto& [type, bytes] : sums) out.push_back({type, bytes});
  std::ranges::stable_sort(out, std::greater<>(), [](const TypeBytes& one) {
    return one.bytes.any().value().value_or(0);
  });
  return out;
}

QuantizedWeights QuantizeToGguf(const std::vector<TensorGroup>& tensors,
                                const GgufFacts& facts,
                                const GgufRecipe& recipe, int64_t vocabulary) {
  QuantizedWeights out;
  out.name = recipe.file_type->name;
  const GgufLayout layout = LayOutGguf(tensors, facts);
  out.assumed = layout.notes;
  if (!layout.unplaced.empty()) {
    const size_t shown = std::min<size_t>(layout.unplaced.size(), 3);
    const std::string missing =
        fmt::format("llama.cpp's place for {}",
                    fmt::join(std::span(layout.unplaced).first(shown), ", "));
    out.tensors = out.file = out.memory = Bytes::Unknown(missing);
    out.stored = Count::Unknown(missing);
    return out;
  }
  const Sums sums = SumOf(layout, GgufTypesOf(layout, facts, recipe));
  out.elements = sums.elements;
  out.stored = Count::Exact(sums.elements);
  out.tensors = Bytes::Exact(sums.bytes);
  out.file = out.tensors + HeaderBytes(sums, vocabulary);
  out.memory = out.tensors;
  for (const auto& [type, bytes] : sums.types) {
    out.types.push_back({type, Bytes::Exact(bytes)});
  }
  out.types = SortedTypes(std::move(out.types));
  out.kept.assign(sums.kept.begin(), sums.kept.end());
  out.assumed.push_back(fmt::format(
      "made by llama-quantize of llama.cpp 0.5.0 from {}, {} importance "
      "matrix, no overrides",
      recipe.base_type, recipe.has_imatrix ? "with an" : "without"));
  if (recipe.file_type->needs_imatrix && !recipe.has_imatrix) {
    out.assumed.emplace_back(
        "llama-quantize refuses this type without an importance matrix");
  }
  if (facts.experts_are_mxfp4) {
    out.assumed.emplace_back(
        "experts stay in MXFP4, as the checkpoint has them (without "
        "--allow-requantize)");
  }
  if (!layout.towers.empty()) {
    out.assumed.push_back(
        fmt::format("{} tensors of towers lie in a file of their own (mmproj)",
                    layout.towers.size()));
  }
  if (!HasOutput(layout)) {
    out.assumed.emplace_back(
        "the embedding serves as the output; a device gets a copy of its own");
  }
  return out;
}

}  // namespace foretell
