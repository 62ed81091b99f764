// `foretell model`: what a configuration is as a model: class, parameters,
// layers, bytes, what generation keeps, context, and what was assumed.
//
// In: a configuration and what was asked for. Out: exact figures, or unknown
// with the reason; findings; every default that was taken. A refusal where the
// class is unknown or a key has a wrong kind.
#ifndef FORETELL_ANSWERS_MODEL_H_
#define FORETELL_ANSWERS_MODEL_H_

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/cache.h"
#include "analysis/checkpoint_surplus.h"
#include "analysis/parameters.h"
#include "analysis/quantization/quantized_weights.h"
#include "answers/model_checkpoint.h"
#include "answers/refusal.h"
#include "base/dtype.h"
#include "base/figure.h"
#include "base/finding.h"
#include "models/build.h"
#include "spec/checkpoint.h"
#include "spec/layer_state.h"
#include "spec/model_config.h"

namespace foretell {

struct ModelRequest {
  ModelConfig config;
  BuildOptions build;
  // Headers of a checkpoint that lies beside the configuration, or that it is
  // to be compared with.
  std::optional<Checkpoint> checkpoint = {};
  bool against = false;  // the comparison was asked for
  // Quantizations to be told of, by names that answers/quantized_model.h
  // knows.
  std::vector<std::string> quantizations = {};
  // Why headers beside the configuration could not be read.
  std::string no_checkpoint = {};
};

struct ModelAnswer {
  std::string name;    // the id, or the file
  std::string origin;  // where the configuration comes from, with its date
  std::string library;
  std::string class_name;
  std::string class_source;
  std::string family;
  std::string family_doc;
  std::string part;  // "text_config" where only that was read; else empty
  DType dtype = DType::kFloat32;
  std::string dtype_source;

  ParameterAnalysis parameters;
  std::string proof;        // what shows that the total is the model's own
  std::string active_rule;  // how `parameters.active` is counted
  std::optional<PublishedTotal> published;
  std::string equation;              // the total as a sum
  std::vector<SurplusItem> besides;  // what a checkpoint may hold more

  std::vector<LayerStack> stacks;
  ContextLength context;

  std::optional<ModelCheckpoint> checkpoint;

  // Bytes as stored, where headers were read; else in the stated dtype, or
  // unknown where the file is quantized.
  Bytes stored;
  std::vector<std::pair<DType, Bytes>> weights;  // in each usual dtype
  // As the configuration's own quantization_config says, then as was asked.
  std::vector<QuantizedWeights> quantized;

  std::vector<LayerState> states;
  CacheAnalysis cache;  // in `cache_dtype`
  DType cache_dtype = DType::kBFloat16;

  std::vector<ConfigLog::Default> defaults;
  std::vector<std::string> unread;
  std::vector<Finding> findings;
  std::vector<std::string> rules_ran;
  std::vector<std::pair<std::string, std::string>> rules_not_run;
};

std::variant<ModelAnswer, Refusal> AnswerModel(const ModelRequest& request);

// The same of a checkpoint that has no configuration, or none that a family
// builds: what its headers say, and nothing of the model; `why` says why.
ModelAnswer AnswerHeaders(const Checkpoint& checkpoint, std::string why);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_MODEL_H_
