#include "report/json_writer.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>

#include "report/safe_text.h"

namespace foretell {

struct JsonWriter::State {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{buffer};
};

JsonWriter::JsonWriter() : state_(std::make_unique<State>()) {
  state_->writer.SetIndent(' ', 2);
}

JsonWriter::~JsonWriter() = default;

void JsonWriter::BeginObject() { state_->writer.StartObject(); }
void JsonWriter::EndObject() { state_->writer.EndObject(); }
void JsonWriter::BeginArray() { state_->writer.StartArray(); }
void JsonWriter::EndArray() { state_->writer.EndArray(); }

void JsonWriter::Key(std::string_view key) {
  const std::string valid = ValidUtf8(key);
  state_->writer.Key(valid.data(),
                     static_cast<rapidjson::SizeType>(valid.size()));
}

void JsonWriter::Text(std::string_view text) {
  const std::string valid = ValidUtf8(text);
  state_->writer.String(valid.data(),
                        static_cast<rapidjson::SizeType>(valid.size()));
}

void JsonWriter::Integer(int64_t number) { state_->writer.Int64(number); }

void JsonWriter::Real(double number) {
  constexpr double kWhole = 9007199254740992;  // 2^53
  if (!std::isfinite(number)) {
    Null();
  } else if (std::floor(number) == number && std::abs(number) < kWhole) {
    Integer(static_cast<int64_t>(number));
  } else {
    state_->writer.Double(number);
  }
}

void JsonWriter::Flag(bool flag) { state_->writer.Bool(flag); }
void JsonWriter::Null() { state_->writer.Null(); }

void JsonWriter::TextAt(std::string_view key, std::string_view text) {
  Key(key);
  Text(text);
}

std::string JsonWriter::Take() {
  return std::string(state_->buffer.GetString(), state_->buffer.GetSize()) +
         "\n";
}

void WritePlace(const Place& place, JsonWriter& json) {
  json.BeginObject();
  json.TextAt("source", place.source);
  json.Key("line");
  json.Integer(place.line);
  json.Key("column");
  json.Integer(place.column);
  json.TextAt("key", place.key);
  json.EndObject();
}

}  // namespace foretell
