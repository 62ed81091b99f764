// One model's configuration and where it came from; what a family reads.
//
// Made by input/model_config_source or the catalogue; read through ConfigView.
// Offsets of its values point into `text`, so that a message can show the line.
#ifndef FORETELL_SPEC_MODEL_CONFIG_H_
#define FORETELL_SPEC_MODEL_CONFIG_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/place.h"
#include "spec/config_value.h"

namespace foretell {

// A published total and who published it; from the catalogue.
struct PublishedTotal {
  int64_t parameters = 0;
  std::string where;
};

// What the catalogue knows of a configuration beside its values.
struct CatalogueOrigin {
  std::string id;          // "Qwen/Qwen3-8B"
  std::string asked;       // the alias that was asked for, where it was one
  std::string alias_note;  // why the alias has the same architecture
  std::string kind;        // "config.json copy", "reconstructed", …
  std::string source;      // repository, path and commit
  std::string date;        // of that commit, "2026-08-22"
  std::string note;        // what the record says about its own limits
  std::optional<PublishedTotal> published;
};

// Which file of a hub's repository a configuration is.
struct HubOrigin {
  std::string id;        // "Qwen/Qwen3-8B"
  std::string revision;  // as asked for; "main" where nothing was
  std::string commit;    // 40 hexadecimal digits
  std::string endpoint;  // asked just now; empty where the cache answered
  std::string path;      // in the cache; empty where it could not be kept
};

struct ModelConfig {
  ConfigValue root;  // always an object
  // The name shown in places: a path, or "catalogue:Qwen/Qwen3-8B".
  std::string source;
  // The folder or file name, or the id: transformers tells a configuration
  // without `model_type` by it.
  std::string name;
  // The bytes that `root`'s offsets point into; empty for values made in code.
  std::shared_ptr<const std::string> text;
  std::optional<CatalogueOrigin> catalogue;
  std::optional<HubOrigin> hub;
  // Set where the values are those of a configuration that its class has
  // already loaded, derived ones included, and changed since: what a class does
  // only as it loads is done.
  bool is_loaded = false;
  // What the reader noticed on its way: duplicate keys, a byte-order mark.
  std::vector<Finding> notes;

  // "Qwen/Qwen3-8B" of the catalogue, "Qwen/Qwen3-8B@COMMIT" of the hub (as
  // its own addresses hf://ID@REVISION spell it), else the file.
  std::string ShownName() const;

  // The place of `value` (one of root's), named `key`, with its excerpt.
  Place PlaceOf(const ConfigValue& value, std::string key) const;
};

// Line, column and excerpt of a byte offset of `text`; for any reader.
Place PlaceAt(const std::string& text, int64_t offset, std::string source,
              std::string key);

}  // namespace foretell

#endif  // FORETELL_SPEC_MODEL_CONFIG_H_
