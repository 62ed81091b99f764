#include "base/library.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace foretell {
namespace {

constexpr std::array kLibraries = {
    Library{.version = {5, 23}, .name = "5.23"},
    Library{.version = {4, 57},
            .name = "4.57",
            .rotary_is_product = true,
            .counts_positions_from_past = true,
            .masks_packed_sequences = true,
            .scales_by_constant = true,
            .caps_scores_in_eager_only = true,
            .gathers_token_types = false,
            .gpt2_holds_its_mask = true,
            .has_t5_sdpa = false,
            .rotary_copies_frequencies = false},
};

// A major number counts more than any minor one.
int64_t Distance(const LibraryVersion& a, const LibraryVersion& b) {
  constexpr int64_t kMajor = int64_t{1} << 32;
  return std::abs(int64_t{a.major} - b.major) * kMajor +
         std::abs(int64_t{a.minor} - b.minor);
}

}  // namespace

std::optional<LibraryVersion> ParseLibraryVersion(std::string_view text) {
  const char* const end = text.data() + text.size();
  LibraryVersion out;
  const auto major = std::from_chars(text.data(), end, out.major);
  if (major.ec != std::errc() || out.major < 0) return std::nullopt;
  if (major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, out.minor);
  if (minor.ec != std::errc() || out.minor < 0) return std::nullopt;
  if (minor.ptr != end && *minor.ptr != '.') return std::nullopt;
  return out;
}

std::span<const Library> FollowedLibraries() { return kLibraries; }

const Library& NewestLibrary() { return kLibraries.front(); }

const Library& LibraryFor(std::string_view stated) {
  const auto version = ParseLibraryVersion(stated);
  if (!version) return NewestLibrary();
  const Library* nearest = &NewestLibrary();
  for (const Library& one : kLibraries) {
    if (Distance(one.version, *version) <
        Distance(nearest->version, *version)) {
      nearest = &one;
    }
  }
  return *nearest;
}

bool IsFollowed(std::string_view stated) {
  const auto version = ParseLibraryVersion(stated);
  return version && Distance(LibraryFor(stated).version, *version) == 0;
}

}  // namespace foretell
