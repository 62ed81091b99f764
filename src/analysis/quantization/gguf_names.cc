#include "analysis/quantization/gguf_names.h"

#include <algorithm>
#include <array>

#include "analysis/gguf_name_table.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 9> kTowers = {
    "vision",        "visual",       "audio",      "multi_modal_projector",
    "image_newline", "mm_projector", "connector.", "vision_embed_tokens",
    "embed_vision"};

}  // namespace

bool IsTowerName(std::string_view name) {
  return std::ranges::any_of(kTowers, [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

std::string GgufNameOf(std::string_view folded) {
  constexpr std::string_view kWeight = ".weight";
  if (folded.ends_with(kWeight)) folded.remove_suffix(kWeight.size());
  const size_t index = folded.find(".#.");
  if (index == std::string_view::npos) {
    const size_t dot = folded.rfind('.');
    const std::string_view last =
        dot == std::string_view::npos ? folded : folded.substr(dot + 1);
    const std::string_view name = GgufTopPart(last);
    return name.empty() ? "" : std::string(name) + ".weight";
  }
  std::string tail(folded.substr(index + 3));
  if (const size_t expert = tail.find(".#."); expert != std::string::npos) {
    tail.erase(expert, 2);
  }
  const std::string_view name = GgufBlockPart(tail);
  return name.empty() ? "" : "blk.#." + std::string(name) + ".weight";
}

}  // namespace foretell
