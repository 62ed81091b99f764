#include "front/command_docs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "front/example_table.h"

namespace foretell {
namespace {

TEST(CommandDocs, HasAPageForEveryCommandAndSchema) {
  std::string paths;
  for (const DocFile& file : CommandDocs(ExampleTable())) {
    paths += file.path + "\n";
  }
  EXPECT_EQ(paths,
            "commands/README.md\n"
            "commands/completion.md\n"
            "commands/help.md\n"
            "commands/list.md\n"
            "commands/schema.md\n"
            "commands/size.md\n"
            "json/README.md\n"
            "json/errors.schema.json\n"
            "json/size.md\n"
            "json/size.schema.json\n");
}

TEST(CommandDocs, PagesSayThatTheyAreMade) {
  for (const DocFile& file : CommandDocs(ExampleTable())) {
    if (!file.path.ends_with(".md")) continue;
    EXPECT_TRUE(file.text.starts_with("<!-- Made by tools/docgen"))
        << file.path;
    EXPECT_TRUE(file.text.ends_with("\n"));
    EXPECT_FALSE(file.text.ends_with("\n\n")) << file.path;
  }
}

TEST(CommandDocs, ACommandsPage) {
  const auto files = CommandDocs(ExampleTable());
  const auto page =
      std::ranges::find(files, "commands/list.md", &DocFile::path);
  ASSERT_NE(page, files.end());
  EXPECT_EQ(page->text,
            "<!-- Made by tools/docgen from the command table. Do not edit. "
            "-->\n"
            "# tool list\n"
            "\n"
            "List the things.\n"
            "\n"
            "```sh\n"
            "tool list\n"
            "```\n"
            "\n"
            "Lists all things.\n"
            "\n"
            "Every command takes the [global options](README.md).\n"
            "\n"
            "## Examples\n"
            "\n"
            "All things.\n"
            "\n"
            "```sh\n"
            "tool list\n"
            "```\n");
}

}  // namespace
}  // namespace foretell
