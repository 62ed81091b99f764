// Any bytes as a launch of vLLM: split as a shell would, read as the newest
// version or one with the first engine reads it and judged beside a real
// configuration, or refused with InputErrors. Anything else thrown is a bug,
// and libFuzzer reports it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/input_error.h"
#include "engines/vllm/launch.h"
#include "input/launch_line.h"
#include "input/serving_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& source = *foretell::MakeServingSource().release();
  static const auto card = *source.Card("h100");
  static const auto model = source.Model("Qwen/Qwen3-8B");
  const std::string text(data, data + size);
  try {
    const foretell::LaunchLine line = foretell::ReadLaunchText(text, "fuzz");
    const foretell::EngineFacts& facts =
        source.Facts(foretell::ServingEngine::kVllm,
                     size % 2 == 0 ? foretell::EngineVersion{0, 33, 0}
                                   : foretell::EngineVersion{0, 8, 5});
    // A file that the bytes name is none of the fuzzer's business.
    for (const foretell::LaunchWord& word : line.words) {
      const std::string name = word.text.substr(0, word.text.find('='));
      if (name.size() > 2 && std::string("--config").starts_with(name)) {
        return 0;
      }
    }
    const foretell::Launch launch = source.Read(facts, line);
    foretell::VllmRequest request;
    request.launch = &launch;
    request.facts = &facts;
    request.model = model.get();
    request.card = &card;
    request.cards = 8;
    foretell::ResolveVllm(request);
  } catch (const foretell::InputErrors&) {
    return 0;
  }
  return 0;
}
