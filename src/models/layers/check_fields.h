// The kinds of the fields that a configuration class declares but that no
// figure depends on: the library refuses a wrong one, so it must be told.
//
// transformers 5.23 declares each configuration as a strict dataclass: an
// `int` field takes no 32.0 and no null, a `float` field no 1, a `bool` field
// no 1 (huggingface_hub, dataclasses.py, _validate_simple_type). Fields that
// decide about shapes are read with ConfigView's typed forms instead.
//
//   CheckFields(config, {{"rms_norm_eps", FieldKind::kFloat}});
#ifndef FORETELL_MODELS_LAYERS_CHECK_FIELDS_H_
#define FORETELL_MODELS_LAYERS_CHECK_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "spec/config_view.h"

namespace foretell {

enum class FieldKind {
  kWhole,   // int
  kWholes,  // int or a list of them
  kFloat,   // float, which 1 is not
  kNumber,  // float or int
  kFlag,    // bool
  kText,    // str
};

struct Field {
  std::string_view key;
  FieldKind kind = FieldKind::kWhole;
  bool nullable = false;
};

// Marks the keys as read; a problem for each that is present and of another
// kind. Takes no default: an absent key means nothing here.
void CheckFields(const ConfigView& config, std::initializer_list<Field> fields);

// The fields that every configuration class inherits
// (configuration_utils.py, PreTrainedConfig), and settings of single layers,
// which no family here reads.
void CheckCommonFields(const ConfigView& config);

// `pad_token_id`, or what the class takes where it is absent, as a row of a
// table of `vocabulary`: a finding where torch.nn.Embedding refuses it as its
// padding row.
void CheckPadding(const ConfigView& config, int64_t vocabulary,
                  std::optional<int64_t> otherwise = std::nullopt);

// The row of a class's tables that stays zero, as written: pad_token_id, or
// `otherwise` where the key is absent. A finding for each table, told by the
// key of its size, that has no such row.
struct PaddedTable {
  std::string_view key;
  int64_t rows = 0;
};
std::optional<int64_t> ReadPadding(const ConfigView& config, int64_t otherwise,
                                   std::initializer_list<PaddedTable> tables);

// A size that may be 0 for all that the class checks: a warning then, since no
// forward runs.
int64_t SizeOrEmpty(const ConfigView& config,
                    std::initializer_list<std::string_view> keys,
                    int64_t otherwise);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CHECK_FIELDS_H_
