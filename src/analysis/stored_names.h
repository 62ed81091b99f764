// The names and shapes under which a library's tensor lies in a published
// checkpoint: what transformers changes as it loads one, read backwards.
//
// In: a family, a class, and a tensor of the class as its state_dict has it.
// Out: the tensors of the file that it is made of: itself, one under another
// name, the experts that were stacked ("mlp.experts.gate_up_proj" is
// "mlp.experts.0.gate_proj.weight", …), or a fused one of which it is a part.
// Saving writes these names again. A checkpoint may hold the library's own
// names instead; whoever compares tries both.
//
// Source: transformers 5.23, conversion_mapping.py
// (_build_checkpoint_conversion_mapping) and core_model_loading.py
// (WeightConverter.reverse_transform). Its prefixes (base_model_prefix) are
// told apart by whoever has all names.
#ifndef FORETELL_ANALYSIS_STORED_NAMES_H_
#define FORETELL_ANALYSIS_STORED_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

struct StoredPiece {
  std::string name;
  std::vector<int64_t> shape;

  friend bool operator==(const StoredPiece&, const StoredPiece&) = default;
};

// `family` is Family::name. One piece, equal to what was passed in, where the
// library loads the tensor as it is.
std::vector<StoredPiece> StoredAs(std::string_view family,
                                  std::string_view class_name,
                                  std::string_view name,
                                  const std::vector<int64_t>& shape);

// A name that old checkpoints have instead ("LayerNorm.gamma" for
// "LayerNorm.weight"); empty where there is none.
std::string LegacyName(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_STORED_NAMES_H_
