#include "front/run_completion.h"

#include "front/command_table.h"
#include "front/completion_script.h"

namespace foretell {

Outcome RunCompletion(const Invocation& invocation) {
  const std::string& shell = invocation.Argument("SHELL");
  if (shell == "bash") return {.text = BashCompletion(invocation.table())};
  if (shell == "zsh") return {.text = ZshCompletion(invocation.table())};
  return {.text = FishCompletion(invocation.table())};
}

}  // namespace foretell
