#include "report/json_schema.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <functional>
#include <string>

#include "base/input_error.h"
#include "report/example_document.h"
#include "report/render_errors.h"
#include "report/render_json.h"

namespace foretell {
namespace {

rapidjson::Document Parse(const std::string& json) {
  rapidjson::Document parsed;
  parsed.Parse(json.c_str());
  EXPECT_FALSE(parsed.HasParseError());
  return parsed;
}

// RapidJSON knows an older draft, in which every keyword that JsonSchema uses
// means the same; its pointers do not take the "$" of "$defs".
bool IsValid(const rapidjson::Document& value, std::string schema) {
  for (size_t at = schema.find("$defs"); at != std::string::npos;
       at = schema.find("$defs", at)) {
    schema.replace(at, 5, "definitions");
  }
  const rapidjson::Document parsed = Parse(schema);
  const rapidjson::SchemaDocument document(parsed);
  rapidjson::SchemaValidator validator(document);
  return value.Accept(validator);
}

TEST(JsonSchema, AdmitsWhatTheRendererWrites) {
  const std::string schema = JsonSchema(ExampleShape());
  EXPECT_TRUE(IsValid(Parse(RenderJson(ExampleDocument())), schema));
  Document full = ExampleDocument("\xff\x1b");
  full.Set("note", "a note");
  full.Set("equation", "a\nb");
  EXPECT_TRUE(IsValid(Parse(RenderJson(full)), schema));
}

TEST(JsonSchema, RefusesAnythingElse) {
  using Value = rapidjson::Value;
  const std::string schema = JsonSchema(ExampleShape());
  const std::function<void(rapidjson::Document&)> faults[] = {
      [](auto& d) { d.RemoveMember("class"); },
      [](auto& d) { d["class"] = 1; },
      [](auto& d) { d["layers"] = 0.5; },
      [](auto& d) { d["tied"] = "yes"; },
      [](auto& d) { d["names"] = "one"; },
      [](auto& d) { d.AddMember("more", 1, d.GetAllocator()); },
      [](auto& d) { d["parameters"].RemoveMember("unit"); },
      [](auto& d) { d["parameters"]["unit"] = "gigabytes"; },
      [](auto& d) { d["parameters"]["provenance"] = "guessed"; },
      [](auto& d) { d["parameters"] = Value(); },
      [](auto& d) { d["memory"].RemoveMember("parts"); },
      [](auto& d) { d["memory"]["left_out"]["no configuration"] = "4"; },
      [](auto& d) { d["fields"]["parameters"].RemoveMember("n"); },
      [](auto& d) { d["by_class"]["A"]["tensors"]["n"] = "2"; },
      [](auto& d) { d["tensors"][0].RemoveMember("of"); },
      [](auto& d) { d["findings"][0]["severity"] = "fatal"; },
      [](auto& d) { d["findings"][0]["place"].RemoveMember("line"); },
  };
  for (const auto& fault : faults) {
    rapidjson::Document value = Parse(RenderJson(ExampleDocument()));
    fault(value);
    EXPECT_FALSE(IsValid(value, schema)) << &fault - faults;
  }
}

TEST(JsonSchema, ASectionOfOptionalRowsIsOptional) {
  const DocumentShape shape = {
      .name = "x",
      .title = "X",
      .doc = "X.",
      .sections = {{.name = "extra",
                    .title = "Extra",
                    .doc = "Extra.",
                    .rows = {Optional(
                        FieldRow("a", "A", CellType::kText, "A field."))}}}};
  const Document document(shape);
  EXPECT_TRUE(IsValid(Parse(RenderJson(document)), JsonSchema(shape)));
}

TEST(JsonSchema, SaysItsDialectAndDescribesEveryKey) {
  const rapidjson::Document schema = Parse(JsonSchema(ExampleShape()));
  EXPECT_EQ(std::string(schema["$schema"].GetString()),
            "https://json-schema.org/draft/2020-12/schema");
  for (const auto& property : schema["properties"].GetObject()) {
    EXPECT_TRUE(property.value.HasMember("description"))
        << property.name.GetString();
  }
}

TEST(ErrorsJsonSchema, AdmitsWhatIsWritten) {
  const InputErrors errors(
      {{ExampleFinding().place, "is \xff", "write another"}, {{}, "b", "c"}});
  EXPECT_TRUE(IsValid(Parse(RenderErrorsJson(errors)), ErrorsJsonSchema()));
  EXPECT_FALSE(IsValid(Parse("{\"errors\": [{}]}"), ErrorsJsonSchema()));
  EXPECT_FALSE(IsValid(Parse("{}"), ErrorsJsonSchema()));
}

}  // namespace
}  // namespace foretell
