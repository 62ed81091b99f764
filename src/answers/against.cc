#include "answers/against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analysis/checkpoint_surplus.h"
#include "analysis/parameters.h"
#include "analysis/quantization/packed_linear.h"
#include "answers/derived_tensors.h"
#include "answers/packed_names.h"
#include "answers/packed_plan.h"
#include "answers/stored_match.h"
#include "base/checked.h"

namespace foretell {
namespace {

int64_t ElementsOf(const std::vector<int64_t>& shape) {
  int64_t out = 1;
  for (const int64_t extent : shape) {
    out = CheckedMul(out, extent).value_or(INT64_MAX);
  }
  return out;
}

std::string Shown(const std::vector<int64_t>& shape, std::string_view dtype) {
  return fmt::format("[{}]{}{}", fmt::join(shape, ", "),
                     dtype.empty() ? "" : " ", dtype);
}

int64_t NumberOf(const ModelConfig& config, std::string_view key) {
  const ConfigValue* value = config.root.Find(key);
  return value == nullptr ? 0 : value->AsInteger().value_or(0);
}

class Comparison {
 public:
  Comparison(const ModelConfig& config, const ReadModel& model,
             const Checkpoint& checkpoint)
      : config_(config),
        model_(model),
        checkpoint_(checkpoint),
        packed_plan_(config, model),
        match_(checkpoint, std::string(model.built.family->name),
               model.built.class_name,
               {.heads = NumberOf(config, "num_attention_heads"),
                .qk_nope_head_dim = NumberOf(config, "qk_nope_head_dim"),
                .v_head_dim = NumberOf(config, "v_head_dim")}) {}

  AgainstAnswer Run() {
    out_.stored = static_cast<int64_t>(checkpoint_.tensors.size());
    if (is_gguf() && !KnowsGguf(model_.built.family->name)) {
      out_.cannot_tell =
          fmt::format("llama.cpp's names for {} are not followed",
                      model_.built.family->title);
      return std::move(out_);
    }
    std::vector<DerivedTensor> tensors = DerivedTensors(*model_.built.graph);
    match_.LearnPrefix(tensors);
    std::map<uint32_t, std::vector<const DerivedTensor*>> storages;
    std::vector<uint32_t> order;
    for (const DerivedTensor& tensor : tensors) {
      auto& names = storages[tensor.storage];
      if (names.empty()) order.push_back(tensor.storage);
      names.push_back(&tensor);
    }
    out_.derived = static_cast<int64_t>(order.size());
    for (const uint32_t storage : order) CompareTies(storages[storage]);
    CompareSurplus();
    Fold();
    DescribeNames();
    return std::move(out_);
  }

 private:
  using Key = std::tuple<DifferenceKind, std::string, std::string, std::string>;

  bool is_gguf() const { return checkpoint_.format == CheckpointFormat::kGguf; }

  void DescribeNames() {
    out_.names = is_gguf() ? "llama.cpp's names of this family"
                           : "names as transformers renames them as it loads";
    if (const std::string note = match_.PrefixNote(); !note.empty()) {
      out_.names += ", " + note;
    }
    if (checkpoint_.names_only) {
      out_.names += "; names alone: only the index is there";
    }
    if (packed_plan_.is_known() && !is_gguf()) {
      out_.names +=
          "; packed weights tensor by tensor, as quantization_config says";
    } else if (out_.packed > 0) {
      out_.names += "; packed weights by their bits alone";
      const std::string& missing = packed_plan_.missing();
      if (!missing.empty()) out_.names += ": it is not known " + missing;
    }
  }

  void Add(DifferenceKind kind, const std::string& name, std::string derived,
           std::string stored) {
    IndexedName folded = WithoutIndices(name);
    const Key key{kind, std::move(folded.name), std::move(derived),
                  std::move(stored)};
    auto [at, is_new] = tuples_.try_emplace(key);
    if (is_new) keys_.push_back(key);
    at->second.push_back(std::move(folded.indices));
  }

  void Fold() {
    std::ranges::stable_sort(keys_, {},
                             [](const Key& key) { return std::get<0>(key); });
    for (const Key& key : keys_) {
      auto& tuples = tuples_[key];
      std::ranges::sort(tuples);
      TensorDifference next;
      next.kind = std::get<0>(key);
      next.name = std::get<1>(key);
      next.derived = std::get<2>(key);
      next.stored = std::get<3>(key);
      next.count = static_cast<int64_t>(tuples.size());
      // Indices that make no product would be a list of thousands.
      constexpr size_t kMostListed = 12;
      std::string indices = FoldIndices(tuples);
      if (indices.starts_with("[[") && tuples.size() > kMostListed) {
        indices = FoldIndices({tuples.front()}) + " and others";
      }
      next.indices = std::move(indices);
      out_.differences.push_back(std::move(next));
    }
  }

  // One of the names of a tied tensor has to be there; every name that is
  // there has to be right.
  void CompareTies(const std::vector<const DerivedTensor*>& names) {
    std::vector<std::vector<StoredPiece>> pieces;
    bool any = false;
    for (const DerivedTensor* tensor : names) {
      pieces.push_back(match_.PiecesOf(*tensor));
      any = any || match_.Hits(pieces.back()) > 0;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_there = match_.Hits(pieces[i]) > 0;
      // Where none is there, the first that has a name is what is missing.
      if (!is_there && (any || pieces[i].empty())) continue;
      ComparePieces(*names[i], pieces[i]);
      if (!any) return;
    }
    if (!any) {
      Add(DifferenceKind::kMissing, names.front()->name + " (no GGUF name)",
          Shown(names.front()->shape, ""), "");
    }
  }

  void ComparePieces(const DerivedTensor& tensor,
                     const std::vector<StoredPiece>& pieces) {
    const std::string_view dtype = is_gguf() || tensor.is_buffer
                                       ? std::string_view()
                                       : DTypeName(tensor.dtype);
    for (const StoredPiece& piece : pieces) {
      PackedExpectation expected;
      if (!is_gguf()) expected = packed_plan_.Of(tensor, piece);
      if (!expected.tensors.empty()) {
        ComparePlanned(piece, expected.tensors);
        continue;
      }
      const StoredTensor* stored = match_.FindTensor(piece.name);
      const bool is_plain = stored != nullptr;
      if (!is_plain) stored = match_.FindPacked(piece.name);
      const std::string derived = Shown(piece.shape, dtype);
      if (stored == nullptr) {
        Add(DifferenceKind::kMissing, piece.name, derived, "");
        continue;
      }
      if (!used_.insert(stored->name).second) continue;
      if (expected.is_skipped && (!is_plain || HasCompanion(stored->name))) {
        Add(DifferenceKind::kDtype, stored->name, derived + ", not converted",
            Shown(stored->shape, stored->dtype));
      } else if (checkpoint_.names_only) {
        ++out_.equal;
      } else if (is_plain && SameShape(stored->shape, piece.shape)) {
        CompareTypes(*stored, derived, dtype);
      } else {
        ComparePacked(*stored, piece, derived, is_plain);
      }
    }
  }

  // What takes a weight's place, the holder of its elements first. Notes that
  // a library writes for itself may be absent.
  void ComparePlanned(const StoredPiece& piece,
                      const std::vector<ExpectedTensor>& expected) {
    const ExpectedTensor& holder = expected.front();
    const std::string shown = Shown(holder.shape, holder.dtype);
    const StoredTensor* held = match_.FindTensor(holder.name);
    if (held == nullptr) {
      const StoredTensor* plain = match_.FindTensor(piece.name);
      if (plain == nullptr) {
        Add(DifferenceKind::kMissing, holder.name, shown, "");
      } else if (used_.insert(plain->name).second) {
        Add(DifferenceKind::kDtype, plain->name, shown + ", packed",
            Shown(plain->shape, plain->dtype));
      }
      return;
    }
    if (!used_.insert(held->name).second) return;
    bool is_equal = true;
    for (const ExpectedTensor& tensor : expected) {
      is_equal = CompareExpected(tensor) && is_equal;
    }
    if (is_equal) ++out_.packed;
  }

  bool CompareExpected(const ExpectedTensor& expected) {
    const StoredTensor* stored = match_.FindTensor(expected.name);
    if (stored == nullptr) stored = match_.FindTensor(expected.other_name);
    const std::string shown = Shown(expected.shape, expected.dtype);
    if (stored == nullptr) {
      if (!expected.is_required) return true;
      Add(DifferenceKind::kMissing, expected.name, shown, "");
      return false;
    }
    planned_.insert(stored->name);
    if (checkpoint_.names_only) return true;
    if (!HasExpectedShape(expected, *stored)) {
      Add(DifferenceKind::kShape, expected.name, shown,
          Shown(stored->shape, stored->dtype));
      return false;
    }
    // torch and ONNX spell element types their own way.
    if (checkpoint_.format != CheckpointFormat::kSafetensors) return true;
    if (HasExpectedType(expected, *stored)) return true;
    Add(DifferenceKind::kDtype, expected.name, shown,
        Shown(stored->shape, stored->dtype));
    return false;
  }

  // ggml's tensors have four dims, 1 where the model has none.
  bool SameShape(std::vector<int64_t> a, std::vector<int64_t> b) const {
    if (is_gguf()) {
      std::erase(a, 1);
      std::erase(b, 1);
    }
    return a == b;
  }

  std::string_view DTypeName(DType dtype) const {
    if (checkpoint_.format == CheckpointFormat::kPyTorch) return NameOf(dtype);
    return SafetensorsName(dtype);
  }

  void CompareTypes(const StoredTensor& stored, const std::string& derived,
                    std::string_view dtype) {
    // ONNX spells them its own way, and exporters choose them.
    if (dtype.empty() || checkpoint_.format == CheckpointFormat::kOnnx ||
        stored.dtype == dtype) {
      ++out_.equal;
      return;
    }
    // float8, int8 and the like with scales beside them.
    if (HasCompanion(stored.name)) {
      ++out_.packed;
      return;
    }
    Add(DifferenceKind::kDtype, stored.name, derived,
        Shown(stored.shape, stored.dtype));
  }

  void ComparePacked(const StoredTensor& stored, const StoredPiece& piece,
                     const std::string& derived, bool is_plain) {
    const auto bits = PackedBits(ElementsOf(piece.shape), stored.bytes);
    if (bits && (!is_plain || HasCompanion(stored.name))) {
      ++out_.packed;
      return;
    }
    Add(DifferenceKind::kShape, stored.name, derived,
        Shown(stored.shape, stored.dtype));
  }

  bool HasCompanion(const std::string& name) {
    if (companions_.empty()) {
      for (const StoredTensor& tensor : checkpoint_.tensors) {
        if (auto module = ModuleOfCompanion(tensor.name)) {
          companions_.insert(std::move(*module));
        }
      }
      companions_.insert("");  // so that it is looked for once
    }
    constexpr std::string_view kWeight = ".weight";
    return companions_.contains(
        name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size())
                                : name);
  }

  // Names that a checkpoint may hold beyond its class, folded, with why.
  std::map<std::string, std::string> KnownSurplus() const {
    std::map<std::string, std::string> out;
    for (const SurplusItem& item : CheckpointSurplus(
             config_, model_.built.class_name, model_.parameters)) {
      for (const TensorGroup& group : item.tensors) {
        std::string name = group.name;
        for (size_t at = name.find('#'); at != std::string::npos;
             at = name.find('#', at)) {
          name[at] = '0';
        }
        const std::vector<int64_t> shape(group.shape.dims().begin(),
                                         group.shape.dims().end());
        for (const StoredPiece& piece :
             StoredAs(model_.built.family->name, model_.built.class_name, name,
                      shape)) {
          out.emplace(WithoutIndices(piece.name).name, item.what);
        }
        out.emplace(WithoutIndices(name).name, item.what);
      }
    }
    return out;
  }

  // Layers behind the last one have the names of the class's own: only their
  // index tells them apart, which a folded name lacks.
  void CompareSurplus() {
    const std::map<std::string, std::string> known = KnownSurplus();
    std::map<std::string, ExplainedTensors> explained;
    for (const StoredTensor& stored : checkpoint_.tensors) {
      if (used_.contains(stored.name)) continue;
      std::string why;
      const auto module = ModuleOfCompanion(stored.name);
      const auto item = known.find(WithoutIndices(stored.name).name);
      const bool is_planned = planned_.contains(stored.name);
      if (is_planned || (module && IsOfPacked(*module))) {
        why = "scales, zero points and maps of packed weights";
      } else if (item != known.end()) {
        why = item->second;
      } else if (module &&
                 known.contains(WithoutIndices(*module + ".weight").name)) {
        why = known.at(WithoutIndices(*module + ".weight").name);
      } else if (is_gguf() && IsGgufExtra(stored.name)) {
        why = "factors of scaled rotary positions, which llama.cpp keeps";
      }
      if (why.empty()) {
        Add(DifferenceKind::kSurplus, stored.name, "",
            checkpoint_.names_only ? "?" : Shown(stored.shape, stored.dtype));
        continue;
      }
      ExplainedTensors& sum = explained[why];
      sum.what = why;
      ++sum.count;
      sum.bytes = CheckedAdd(sum.bytes, stored.bytes).value_or(INT64_MAX);
    }
    for (auto& [why, sum] : explained) out_.explained.push_back(sum);
  }

  bool IsOfPacked(const std::string& module) const {
    if (used_.contains(module + ".weight") || used_.contains(module)) {
      return true;
    }
    return std::ranges::any_of(
        PackedWeightNames(), [&](std::string_view ending) {
          return used_.contains(module + std::string(ending));
        });
  }

  const ModelConfig& config_;
  const ReadModel& model_;
  const Checkpoint& checkpoint_;
  PackedPlan packed_plan_;
  StoredMatch match_;
  AgainstAnswer out_;
  std::unordered_set<std::string> used_;
  std::unordered_set<std::string> companions_;
  std::unordered_set<std::string>
      planned_;  // found as packed weights have them
  std::map<Key, std::vector<std::vector<int64_t>>> tuples_;
  std::vector<Key> keys_;  // in the order of their first member
};

}  // namespace

std::string_view NameOf(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kMissing:
      return "missing";
    case DifferenceKind::kSurplus:
      return "surplus";
    case DifferenceKind::kShape:
      return "shape";
    case DifferenceKind::kDtype:
      return "dtype";
  }
  return "";
}

int64_t AgainstAnswer::CountOf(DifferenceKind kind) const {
  int64_t out = 0;
  for (const TensorDifference& difference : differences) {
    if (difference.kind == kind) out += difference.count;
  }
  return out;
}

AgainstAnswer CompareWithCheckpoint(const ModelConfig& config,
                                    const ReadModel& model,
                                    const Checkpoint& checkpoint) {
  return Comparison(config, model, checkpoint).Run();
}

}  // namespace foretell
