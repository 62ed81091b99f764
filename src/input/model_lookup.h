// From a model's name to its configuration: the hub's cache on this disk, the
// catalogue, and only then the hub.
//
// In: what someone typed (model_config_source.h says what may be typed), and
// how to look it up. Out: the configuration, with where it was read.
//
// A path is read and nothing else is looked at. An id is looked up in the
// cache, then in the catalogue. The hub is asked only for "owner/name" that
// neither knows, or for a revision that the cache does not have: the catalogue
// names no revisions. Where the hub may not be asked or cannot be reached, and
// the catalogue knows the id, its configuration is taken with a warning that
// says so; where the hub refuses, its refusal is the answer.
//
// What the cache has is not compared with the hub: a branch is what it was
// when it was last fetched, unless `refresh` is set. Throws InputErrors.
#ifndef FORETELL_INPUT_MODEL_LOOKUP_H_
#define FORETELL_INPUT_MODEL_LOOKUP_H_

#include <functional>
#include <string>

#include "spec/model_config.h"

namespace foretell {

struct ModelLookup {
  std::string revision;  // a branch, tag or commit; empty where none is named
  bool offline = false;  // the hub is not asked
  bool refresh = false;  // the hub is asked whatever is known already
  // Told while the hub takes long to answer.
  std::function<void(const std::string& text)> note;
};

ModelConfig LookUpModel(const std::string& target, const ModelLookup& how);

}  // namespace foretell

#endif  // FORETELL_INPUT_MODEL_LOOKUP_H_
