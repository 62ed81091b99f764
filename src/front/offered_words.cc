#include "front/offered_words.h"

namespace foretell {

std::vector<std::string_view> OfferedCommands(const CommandTable& table) {
  std::vector<std::string_view> names;
  for (const CommandRow& row : table.commands) {
    if (!row.hidden) names.push_back(row.name);
  }
  return names;
}

std::vector<std::string_view> OfferedValues(const OptionRow& row) {
  return row.allowed.empty() ? row.suggested : row.allowed;
}

std::vector<std::string_view> OfferedValues(const CommandTable& table,
                                            const ArgumentRow& row) {
  if (row.completion == Completion::kCommand) return OfferedCommands(table);
  return row.allowed;
}

}  // namespace foretell
