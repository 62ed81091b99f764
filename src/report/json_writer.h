// Writes JSON in a stable order and layout: what the JSON renderers share.
//
// Texts are always valid UTF-8 (invalid bytes become U+FFFD), whole numbers
// keep all digits, and a number that JSON cannot hold (NaN, infinity) is null.
#ifndef FORETELL_REPORT_JSON_WRITER_H_
#define FORETELL_REPORT_JSON_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/place.h"

namespace foretell {

class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void BeginObject();
  void EndObject();
  void BeginArray();
  void EndArray();
  void Key(std::string_view key);
  void Text(std::string_view text);
  void Integer(int64_t number);
  void Real(double number);  // a whole one below 2^53 is written as integer
  void Flag(bool flag);
  void Null();

  // "key": "text", for what objects mostly hold.
  void TextAt(std::string_view key, std::string_view text);

  // The whole text with a line break at its end.
  std::string Take();

 private:
  struct State;  // RapidJSON stays out of this header
  std::unique_ptr<State> state_;
};

// {"source": …, "line": …, "column": …, "key": …}
void WritePlace(const Place& place, JsonWriter& json);

}  // namespace foretell

#endif  // FORETELL_REPORT_JSON_WRITER_H_
