#include "input/byte_window.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/figure.h"
#include "base/input_error.h"

namespace foretell {

void ByteWindow::Fail(int64_t offset, std::string what,
                      std::string cure) const {
  FailAt("byte " + WithSeparators(offset), std::move(what), std::move(cure));
}

void ByteWindow::FailAt(std::string key, std::string what,
                        std::string cure) const {
  Place place;
  place.source = name();
  place.key = std::move(key);
  throw InputErrors({std::move(place), std::move(what), std::move(cure)});
}

void ByteWindow::CheckRange(int64_t offset, int64_t count,
                            std::string_view what) const {
  if (offset >= 0 && count >= 0 && offset <= size() &&
      count <= size() - offset) {
    return;
  }
  Fail(std::clamp<int64_t>(offset, 0, size()),
       std::string(what) + " would end behind the file's " +
           WithSeparators(size()) + " bytes",
       "the file is cut short or damaged: compare its size with the "
       "original's, and copy it again");
}

void ByteWindow::ThrowIfFailed() const {
  if (error_) throw InputErrors(*error_);
}

std::string_view ByteWindow::At(int64_t offset, int64_t count,
                                std::string_view what) {
  CheckRange(offset, count, what);
  const auto bytes = TryAt(offset, count);
  ThrowIfFailed();
  return *bytes;
}

std::optional<std::string_view> ByteWindow::TryAt(int64_t offset,
                                                  int64_t count) {
  FORETELL_CHECK(count <= kMostWindow, "a range wider than the window");
  const auto held = static_cast<int64_t>(bytes_.size());
  if (offset < start_ || offset + count > start_ + held) Fill(offset, count);
  if (error_) return std::nullopt;
  const std::string_view window = bytes_;
  return window.substr(static_cast<size_t>(offset - start_),
                       static_cast<size_t>(count));
}

void ByteWindow::Fill(int64_t offset, int64_t count) {
  const bool follows = offset >= start_ &&
                       offset <= start_ + static_cast<int64_t>(bytes_.size());
  if (follows && !bytes_.empty()) ahead_ = std::min(ahead_ * 4, kMostWindow);
  const int64_t wanted = std::min(std::max(count, ahead_), size() - offset);
  bytes_.resize(static_cast<size_t>(wanted));
  start_ = offset;
  error_ = source_.Read(offset, bytes_);
  if (error_) bytes_.clear();
}

std::string ByteWindow::Copy(int64_t offset, int64_t count, int64_t most,
                             std::string_view what) {
  CheckRange(offset, count, what);
  if (count > most) {
    Fail(offset,
         std::string(what) + " has " + WithSeparators(count) +
             " bytes; at most " + WithSeparators(most) + " are read",
         "check what wrote the file: no checkpoint that is known is near "
         "this");
  }
  if (count <= kMostWindow) return std::string(At(offset, count, what));
  std::string out(static_cast<size_t>(count), '\0');
  error_ = source_.Read(offset, out);
  ThrowIfFailed();
  return out;
}

std::string ShownName(std::string_view name) {
  // Past any parameter's name that is known.
  constexpr size_t kMost = 160;
  if (name.size() <= kMost) return std::string(name);
  return std::string(name.substr(0, kMost)) + "…";
}

}  // namespace foretell
