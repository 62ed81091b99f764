// The versions of transformers whose operations are followed, and everything
// that differs between them.
//
// A version that is not among them takes the nearest one; ClaimsExact then says
// no (answers/claims). What a version does its own way is a member here and
// nowhere else; layers ask their builder for it.
// Source: the modeling files of transformers 4.57.6 and 5.23.0, and recordings
// of both.
//
//   const Library& library = LibraryFor("4.56.2");  // 4.57's
#ifndef FORETELL_BASE_LIBRARY_H_
#define FORETELL_BASE_LIBRARY_H_

#include <optional>
#include <span>
#include <string_view>

namespace foretell {

struct LibraryVersion {
  int major = 0;
  int minor = 0;
};
// "5.23", "4.57.6", "4.57.0.dev0"; nothing where it does not begin so.
std::optional<LibraryVersion> ParseLibraryVersion(std::string_view text);

struct Library {
  LibraryVersion version;
  std::string_view name;  // "5.23"
  // Angles of rotary positions are a matrix product, positions by frequencies
  // (counted as FLOPs), and not an element-wise one.
  bool rotary_is_product = false;
  // Positions are made in one operation, from those that a cache holds on.
  bool counts_positions_from_past = false;
  // The mask tells packed sequences apart whether or not there are any
  // (models/layers/packed_mask.h), and is there for sdpa as well.
  bool masks_packed_sequences = false;
  // Scaled embeddings (Gemma's) are multiplied by the model, by a number that
  // it makes a tensor of in each forward.
  bool scales_by_constant = false;
  // Gemma 2 gives sdpa its scores, without their cap, where it is asked to.
  bool caps_scores_in_eager_only = false;
  // BERT's and RoBERTa's token types are gathered by position.
  bool gathers_token_types = true;
  // GPT-2's attention holds a causal mask of all positions.
  bool gpt2_holds_its_mask = false;
  // T5 attends in its own source, whatever is asked for.
  bool has_t5_sdpa = true;
  // Rotary embeddings hold a second buffer of the frequencies that they began
  // with.
  bool rotary_copies_frequencies = true;
};

// The first one is the newest.
std::span<const Library> FollowedLibraries();
const Library& NewestLibrary();
// The followed version that is nearest to a stated one: by major number, then
// by minor; the newest where none is stated in a form that is known.
const Library& LibraryFor(std::string_view stated);
// Whether a stated version is one of those followed, whatever its patch.
bool IsFollowed(std::string_view stated);

}  // namespace foretell

#endif  // FORETELL_BASE_LIBRARY_H_
