// How a served model's weights and cache are stored, by the words that runs
// and launches use, else by the checkpoint's own configuration.
//
// In: "fp8", "int4 AWQ g128", "nvfp4", "GPTQ-Int8", "EXL2 4.0bpw", …; the
// configuration; the family of cards, since Ampere multiplies fp8 weights in
// 16 bits. Out: bytes an element and the arithmetic, by part: mixers and dense
// layers, experts.
#ifndef FORETELL_ANSWERS_SERVED_FORMAT_H_
#define FORETELL_ANSWERS_SERVED_FORMAT_H_

#include <string>
#include <string_view>

#include "analysis/timing/serving_phases.h"
#include "spec/model_config.h"

namespace foretell {

struct StoredPart {
  std::string_view dtype = "bf16";  // that multiplies it
  double bytes = 2;                 // an element
};

struct StoredAs {
  WeightKind kind = WeightKind::kPlain;
  StoredPart attention;
  StoredPart mlp;
  StoredPart experts;
  std::string text;  // "fp8, as the checkpoint says"
};

struct StoredQuestion {
  std::string precision;  // empty: as the checkpoint says
  const ModelConfig* config = nullptr;
  std::string_view cards;  // family, of serving_constants.h
  std::string_view engine;
  bool has_experts = false;
};

StoredAs StoredAsOf(const StoredQuestion& in);

// Of one number of the cache. Where nothing is said: a byte where the engine
// is usually served so with such weights, else two.
double CacheBytesOf(std::string_view cache, std::string_view engine,
                    WeightKind kind);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVED_FORMAT_H_
