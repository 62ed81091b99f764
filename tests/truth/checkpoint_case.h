// One row of tests/truth/checkpoints.jsonl: a file that a format's own library
// wrote, and what that library reads back from it.
//
// Written by tools/checkpoints/make.py, which says what the fields are. A test
// writes `bytes` to a file of that name and reads it.
#ifndef FORETELL_TESTS_TRUTH_CHECKPOINT_CASE_H_
#define FORETELL_TESTS_TRUTH_CHECKPOINT_CASE_H_

#include <string>
#include <vector>

#include "spec/config_value.h"

namespace foretell {

struct CheckpointCase {
  std::string name;    // "LlamaForCausalLM, converted"
  std::string format;  // "GGUF"
  std::string file;    // the file's name
  std::string bytes;
  ConfigValue config;   // null where the file is no model's
  ConfigValue tensors;  // [[name, dtype, shape, bytes], …]
};

std::vector<CheckpointCase> CheckpointCases();

}  // namespace foretell

#endif  // FORETELL_TESTS_TRUTH_CHECKPOINT_CASE_H_
