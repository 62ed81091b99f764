// What a person typed or pasted to start a serving engine, as words.
//
// In: the words of a command line as a shell handed them over, or its text,
// which is then split as a POSIX shell splits it (single and double quotes,
// backslashes, comments, lines continued by a backslash; a leading `$ `). Known
// are
//   [VAR=x …] vllm serve MODEL …
//   python -m vllm.entrypoints.openai.api_server --model MODEL …
//   docker run … [--gpus …] [-e VAR=x] vllm/vllm-openai[:vX.Y.Z] …
// and the same behind `env`, `sudo`, `nohup`, `exec`. Out: the engine, its
// arguments with their places, variables, cards that docker shows, the version
// that an image's tag names. Throws InputErrors with place, caret and cure:
// unbalanced quotes, a pipe or another command behind, no engine to be found,
// a text past 64 KiB or 4096 words.
//
// Does not model: variables that the shell would put in ($MODEL is refused),
// globs, here-documents.
#ifndef FORETELL_INPUT_LAUNCH_LINE_H_
#define FORETELL_INPUT_LAUNCH_LINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "spec/serving.h"

namespace foretell {

// `source` names the text in places: "argument 5", "launch.sh".
LaunchLine ReadLaunchLine(const std::vector<LaunchWord>& words);
LaunchLine ReadLaunchText(const std::string& text, const std::string& source);

// The words of a shell's command line, each with its place in `text`.
std::vector<LaunchWord> SplitShellWords(const std::string& text,
                                        const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_LAUNCH_LINE_H_
