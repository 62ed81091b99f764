// The program `foretell`: hands its arguments to RunCli.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "front/cli/run_cli.h"
#include "front/command_table.h"

namespace foretell {
namespace {

// A pipe or a file gets what a terminal of the widest kind would, uncoloured
// and with tables as wide as they are.
TextStyle StyleOfStdout() {
  TextStyle style;
  style.wrap_tables = isatty(STDOUT_FILENO) != 0;
  if (!style.wrap_tables) return style;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  // https://no-color.org: present and not empty.
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  style.colour = (no_color == nullptr || *no_color == '\0') &&
                 !(terminal != nullptr && std::string(terminal) == "dumb");
  return style;
}

int Main(int argc, char** argv) {
  // A reader that has seen enough (`| head`) is no reason to be killed.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int status =
      RunCli(Commands(), words, StyleOfStdout(), std::cout, std::cerr);
  std::cout.flush();
  if (std::cout.good()) return status;
  // POLLERR: whoever read the pipe has closed it, having seen enough.
  pollfd pipe = {STDOUT_FILENO, POLLOUT, 0};
  const bool unread = poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
  if (!unread) {
    std::cerr << "error: the answer could not be written to standard output\n"
                 "cure: check the disk's free space and the redirection\n";
  }
  return kUnreadable;
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) { return foretell::Main(argc, argv); }
