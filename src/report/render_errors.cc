#include "report/render_errors.h"

#include "report/json_writer.h"
#include "report/safe_text.h"

namespace foretell {

std::string RenderErrorsText(const InputErrors& errors) {
  std::string out;
  for (const InputError& error : errors.errors()) {
    out += "error: ";
    const std::string place = Harmless(ToString(error.place));
    if (!place.empty()) out += place + ": ";
    out += Harmless(error.what) + "\n" + HarmlessCaretBlock(error.place);
    out += "cure: " + Harmless(error.cure) + "\n";
  }
  return out;
}

std::string RenderErrorsJson(const InputErrors& errors) {
  JsonWriter json;
  json.BeginObject();
  json.Key("errors");
  json.BeginArray();
  for (const InputError& error : errors.errors()) {
    json.BeginObject();
    json.Key("place");
    WritePlace(error.place, json);
    json.TextAt("what", error.what);
    json.TextAt("cure", error.cure);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace foretell
