// How a family reads its configuration: typed keys, class defaults, and a log.
//
// A family asks for a key by its name, or by the names that its class's
// `attribute_map` makes equal, the one that decides first (the library applies
// an alias after the class's own name), and states the default of the
// transformers class. An explicit null is refused like any wrong kind, except
// by the Optional forms. The view notes what was read, which
// defaults were taken, and what has the wrong kind, so that
//   * every key that was not read can be listed,
//   * every assumption can be printed,
//   * all problems are told at once.
// A wrong kind gives the default and a problem; the caller must drop what was
// built when `log.problems` is not empty.
//
//   ConfigView c(config, log);
//   const int64_t hidden = c.Size({"hidden_size"}, 4096);
//   const int64_t heads = c.Size({"num_attention_heads"}, 32);
//   const int64_t kv_heads = c.OptionalSize({"num_key_value_heads"})
//                                .value_or(heads);
#ifndef FORETELL_SPEC_CONFIG_VIEW_H_
#define FORETELL_SPEC_CONFIG_VIEW_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "base/input_error.h"
#include "spec/model_config.h"

namespace foretell {

// The largest size that a single key may name: 2^31 - 1, past any published
// model's by four orders; larger is a slip of the pen or an attack.
inline constexpr int64_t kLargestSize = 2147483647;
// The largest number of layers; bounds the work that a configuration causes.
inline constexpr int64_t kLargestLayerCount = 4096;

struct ConfigLog {
  // Set before reading: no stack gets more layers than this.
  std::optional<int64_t> most_layers;
  struct Default {
    std::string key;
    std::string value;  // as it would be written in JSON
  };
  std::set<std::string, std::less<>> read;  // dotted paths
  std::vector<Default> defaults;            // in reading order, no repeats
  // What the class works out from other keys as it loads: head_dim, 128.
  std::vector<std::pair<std::string, ConfigValue>> derived;
  std::vector<InputError> problems;
  std::vector<Finding> findings;
};

class ConfigView {
 public:
  using Keys = std::initializer_list<std::string_view>;

  ConfigView(const ModelConfig& config, ConfigLog& log);

  // The view of a nested configuration ("text_config"); reads of a missing one
  // give the defaults. A value that is no object is a problem.
  ConfigView Nested(std::string_view key) const;
  // As Nested, of `otherwise` where the key is absent or null; null is nothing.
  ConfigView NestedOr(std::string_view key, const ConfigValue* otherwise) const;

  // Present and not null.
  bool Has(std::string_view key) const;

  // A whole number of at least 1 and at most kLargestSize.
  int64_t Size(Keys keys, int64_t otherwise) const;
  // As Size, but for a number of layers: at most kLargestLayerCount; below one
  // there are none, as the library builds it, and a finding says so.
  int64_t Layers(Keys keys, int64_t otherwise) const;
  // A whole number of at least 0 (a number of experts, a window's length).
  int64_t SizeOrZero(Keys keys, int64_t otherwise) const;
  // Any whole number: a negative one means something, or what zero means.
  int64_t Whole(Keys keys, int64_t otherwise) const;
  // Absent and null give nothing, without noting a default: null means
  // something of its own, which the family states.
  std::optional<int64_t> OptionalSize(Keys keys) const;
  // Any whole number (a token id may be -1), or null.
  std::optional<int64_t> OptionalInteger(Keys keys) const;
  double Real(Keys keys, double otherwise) const;
  std::optional<double> OptionalReal(Keys keys) const;
  bool Flag(Keys keys, bool otherwise) const;
  std::string Text(Keys keys, std::string_view otherwise) const;
  std::optional<std::string> OptionalText(Keys keys) const;
  // Null or absent gives nothing. Items of another kind are problems.
  std::optional<std::vector<std::string>> TextList(Keys keys) const;
  std::optional<std::vector<int64_t>> IntegerList(Keys keys) const;

  // The value as written, marked as read; null where absent.
  const ConfigValue* Raw(std::string_view key) const;

  // Marks a key as read although nothing depends on it, or as one whose
  // absence means nothing (a note in the family says why).
  void Ignore(Keys keys) const;

  // Notes that the class works out `key` as it loads. A
  // recording whose overrides were set on the loaded configuration keeps such
  // values (tools/pytorch).
  void Derive(std::string_view key, ConfigValue value) const;

  // Problems and findings about a key of this view.
  void Problem(std::string_view key, std::string what, std::string cure) const;
  void Find(std::string_view rule, Severity severity, std::string_view key,
            std::string what, std::string why, std::string fix) const;

  Place PlaceOf(std::string_view key) const;
  const ModelConfig& config() const { return *config_; }
  ConfigLog& log() const { return *log_; }
  // This view's object; null where a nested one is missing.
  const ConfigValue* object() const { return object_; }
  // "text_config.hidden_size"
  std::string PathOf(std::string_view key) const;

 private:
  struct Found {
    std::string_view key;
    const ConfigValue* value = nullptr;  // null where absent or JSON null
  };
  Found Get(Keys keys) const;
  // A problem where one of the keys is an explicit null; whether there was one.
  bool RefuseNull(Keys keys, std::string_view wanted) const;
  int64_t Bounded(Keys keys, int64_t otherwise, int64_t least, int64_t most,
                  std::string_view kind) const;
  void NoteDefault(Keys keys, std::string value) const;
  void WrongKind(const Found& found, std::string_view wanted) const;

  const ModelConfig* config_;
  ConfigLog* log_;
  const ConfigValue* object_;
  std::string prefix_;  // "text_config." or empty
};

// The dotted paths of all keys of `config` that no read and no entry of
// `ignorable` covers, in file order. A nested object that nothing read is one
// entry, not one per member.
std::vector<std::string> UnreadKeys(const ModelConfig& config,
                                    const ConfigLog& log);

}  // namespace foretell

#endif  // FORETELL_SPEC_CONFIG_VIEW_H_
