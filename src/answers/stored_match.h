// Finds each derived tensor among a checkpoint's names.
//
// In: the tensors of a class and a checkpoint. Out: for each of them, which
// stored names stand for it and with which shapes, whether they are there or
// not: under the library's names or a publisher's, with or without the prefix
// of a class ("model.", "language_model.model."), or under llama.cpp's.
// Source of the prefixes: transformers 5.23, core_model_loading.py
// (rename_source_key), which adds or takes away base_model_prefix.
#ifndef FORETELL_ANSWERS_STORED_MATCH_H_
#define FORETELL_ANSWERS_STORED_MATCH_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/gguf_names.h"
#include "analysis/stored_names.h"
#include "answers/derived_tensors.h"
#include "spec/checkpoint.h"

namespace foretell {

class StoredMatch {
 public:
  StoredMatch(const Checkpoint& checkpoint, std::string family,
              std::string class_name, const GgufShapes& shapes);

  // Finds out which prefix the checkpoint's names have.
  void LearnPrefix(const std::vector<DerivedTensor>& tensors);
  // "as stored", "with language_model. before model."
  std::string PrefixNote() const;

  // The pieces that stand for the tensor: those of the spelling of which most
  // are there. Empty where llama.cpp's names do not have it.
  std::vector<StoredPiece> PiecesOf(const DerivedTensor& tensor) const;
  // How many of them are there, packed ones too.
  int64_t Hits(const std::vector<StoredPiece>& pieces) const;

  // Null where there is no such name.
  const StoredTensor* FindTensor(const std::string& name) const;
  // What holds a weight in its place ("q_proj.qweight" for "q_proj.weight");
  // null where none does.
  const StoredTensor* FindPacked(const std::string& name) const;

 private:
  struct Prefix {
    std::string taken;  // from the derived name
    std::string added;
  };
  // Nothing where the name lacks what is to be taken from it.
  static std::string Apply(const Prefix& prefix, const std::string& name);
  std::vector<std::vector<StoredPiece>> Spellings(
      const DerivedTensor& tensor) const;

  const Checkpoint& checkpoint_;
  std::string family_;
  std::string class_name_;
  GgufShapes shapes_;
  std::unordered_map<std::string_view, const StoredTensor*> by_name_;
  std::vector<Prefix> prefixes_;  // the likeliest first
};

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STORED_MATCH_H_
