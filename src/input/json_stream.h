// RapidJSON's reader and the stream that it takes its bytes from; included by
// the readers that use it, and by nobody else.
//
// The stream has a length; "\0" is its end.
#ifndef FORETELL_INPUT_JSON_STREAM_H_
#define FORETELL_INPUT_JSON_STREAM_H_

// RapidJSON 1.1 adds to its stack's null pointer before the first push
// (internal/stack.h, Reserve), which is harmless and which
// UndefinedBehaviorSanitizer stops at.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), \
                                 apply_to = function)
#endif
#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <cstddef>
#include <string_view>

namespace foretell {

// RapidJSON's input stream over bytes with a length; "\0" is the end.
class JsonStream {
 public:
  using Ch = char;  // the name that RapidJSON asks for

  JsonStream(std::string_view text, size_t at) : text_(text), at_(at) {}

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char Take() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  size_t Tell() const { return at_; }

  // Never called: they are for parsing in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  size_t PutEnd(char*) { return 0; }

 private:
  std::string_view text_;
  size_t at_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_JSON_STREAM_H_
