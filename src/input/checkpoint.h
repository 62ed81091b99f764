// A checkpoint's contents from its headers: the one door to every format.
//
// In: a folder of files, and one of its files where that is meant. Out: what
// its headers say (spec/checkpoint.h).
//
// Which files of a folder are meant, in this order, as transformers 5.23 looks
// for them (utils/hub.py, modeling_utils.py): model.safetensors,
// model.safetensors.index.json, pytorch_model.bin,
// pytorch_model.bin.index.json; then whatever other files of weights there are:
// those of one set
// ("…-00001-of-00003…"), or the only one. A folder with several others is
// refused: one of them is to be named.
//
// A file of a set ("…-00001-of-00003.gguf") means all of the set, an index the
// files it names. The format is told by the first bytes, not by the ending.
//
// Throws InputErrors; an index whose files are not there is read for its names
// (Checkpoint::names_only) where none of them is there, and refused where some
// are.
#ifndef FORETELL_INPUT_CHECKPOINT_H_
#define FORETELL_INPUT_CHECKPOINT_H_

#include <string>
#include <vector>

#include "input/byte_source.h"
#include "spec/checkpoint.h"

namespace foretell {

// Of the whole folder.
Checkpoint ReadCheckpoint(ByteFolder& folder);
// Of a file in it (without a slash), and of the set that it belongs to.
Checkpoint ReadCheckpoint(ByteFolder& folder, const std::string& file);

// Of a path on the disk: a folder, or a file.
Checkpoint ReadCheckpointAt(const std::string& path);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_H_
