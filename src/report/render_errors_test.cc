#include "report/render_errors.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

InputErrors TwoErrors() {
  InputError first;
  first.place = {
      "config.json", 3, 18, "hidden_size", "  \"hidden_size\": \"big\",", 17};
  first.what = "is a string, not a size";
  first.cure = "write a whole number";
  InputError second;
  second.what = "there is no \x1b[2J";
  second.cure = "write \"a\"";
  return InputErrors({first, second});
}

TEST(RenderErrors, AsTextWithCaretAndCure) {
  EXPECT_EQ(RenderErrorsText(TwoErrors()),
            "error: config.json:3:18 (hidden_size): is a string, not a size\n"
            "    \"hidden_size\": \"big\",\n"
            "                   ^\n"
            "cure: write a whole number\n"
            "error: there is no \\x1b[2J\n"
            "cure: write \"a\"\n");
}

TEST(RenderErrors, AsTextIsWhatBasePrintsOfHarmlessErrors) {
  InputErrors errors(TwoErrors().errors()[0]);
  EXPECT_EQ(RenderErrorsText(errors), errors.what());
}

TEST(RenderErrors, AsJson) {
  EXPECT_EQ(RenderErrorsJson(InputErrors(TwoErrors().errors()[0])),
            R"({
  "errors": [
    {
      "place": {
        "source": "config.json",
        "line": 3,
        "column": 18,
        "key": "hidden_size"
      },
      "what": "is a string, not a size",
      "cure": "write a whole number"
    }
  ]
}
)");
}

}  // namespace
}  // namespace foretell
