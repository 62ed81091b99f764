// A window that slides over a ByteSource: what a reader of headers looks
// through, so that many small reads are few large ones.
//
// In: offsets and lengths of anyone's making. Out: the bytes, valid until the
// next call. The window begins small (a header may be) and grows while reads
// follow one another; it never holds more than kMostWindow bytes.
//
// Throws InputErrors where a range passes the end: the file is cut short, or
// one of its lengths lies. The place names the byte.
#ifndef FORETELL_INPUT_BYTE_WINDOW_H_
#define FORETELL_INPUT_BYTE_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/input_error.h"
#include "input/byte_source.h"

namespace foretell {

class ByteWindow {
 public:
  // Also the longest range that may be asked for at once.
  static constexpr int64_t kMostWindow = int64_t{1} << 20;

  explicit ByteWindow(ByteSource& source) : source_(source) {}

  const std::string& name() const { return source_.name(); }
  int64_t size() const { return source_.size(); }

  // `what` says what is read, for the message: "the length of a name".
  std::string_view At(int64_t offset, int64_t count, std::string_view what);
  // The same without throwing, for a range inside the file; nothing where the
  // source failed, which `error` then tells.
  std::optional<std::string_view> TryAt(int64_t offset, int64_t count);
  const std::optional<InputError>& error() const { return error_; }
  // Of any length up to `most`, which bounds the memory that it takes.
  std::string Copy(int64_t offset, int64_t count, int64_t most,
                   std::string_view what);
  // Throws where the range passes the end.
  void CheckRange(int64_t offset, int64_t count, std::string_view what) const;

  // An unreadable input at a byte of this source.
  [[noreturn]] void Fail(int64_t offset, std::string what,
                         std::string cure) const;
  // The same, about a named thing ("tensor model.norm.weight").
  [[noreturn]] void FailAt(std::string key, std::string what,
                           std::string cure) const;

 private:
  void Fill(int64_t offset, int64_t count);
  void ThrowIfFailed() const;

  ByteSource& source_;
  std::string bytes_;
  int64_t start_ = 0;
  std::optional<InputError> error_;
  // What is read at once. The first reads are small, since a request for more
  // costs a connection's time; a header that goes on is read in larger ones.
  int64_t ahead_ = int64_t{16} << 10;
};

// A name from a file, short enough for a message.
std::string ShownName(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_INPUT_BYTE_WINDOW_H_
