// Which files of a folder make a checkpoint, told by their names. Pure.
//
// Source: transformers 5.23, modeling_utils.py (_get_resolved_checkpoint_files)
// for the order; llama.cpp, src/llama-arch.cpp (llama_split_path) and
// save_pretrained for "NAME-00001-of-00003.gguf".
#ifndef FORETELL_INPUT_CHECKPOINT_SET_H_
#define FORETELL_INPUT_CHECKPOINT_SET_H_

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// The names of all files of the set that a name belongs to:
// "m-00002-of-00003.gguf" gives three; any other name itself.
std::vector<std::string> SetOf(const std::string& file);

// Whether a file of that name holds weights: by its ending, without the files
// of a trainer's state.
bool IsWeightsName(std::string_view name);

struct WeightsChoice {
  std::string file;  // to begin with; empty where there is none, or several
  std::string what;  // why
  std::string cure;
};

// `names` as NamesInFolder gives them.
WeightsChoice ChooseWeights(const std::vector<std::string>& names);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_SET_H_
