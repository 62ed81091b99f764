// The cards that a launch is to run on, by what a person writes: one kind, a
// MIG slice of one, one under WSL, or several kinds.
//
// In: "l4", "h100:1g.10gb" (also "NVIDIA A100 80GB MIG 1g.10gb"), "rtx 4090
// wsl", "l4,a10g", "2xl4,a10g". Out: the card that the engine reckons with:
// of several kinds the least memory and the least capability, for the poorest
// rank decides, and the first one's name and driver's memory, by which the
// engine takes its defaults; how many were listed; what was assumed.
//
// A slice holds as many eighths of the card's memory as its profile's name says
// ("1g.10gb" of 80 GB: one), less what is kept for the split: `nvidia-smi mig
// -lgip` lists 9.75 GiB for 1g.10gb and 19.62 for 2g.20gb of an H100 (79.2),
// 9.50 and 19.50 of an A100 of 80 GB, 16.00 for 1g.18gb of an H200 (139.8):
// NVIDIA's Multi-Instance GPU user guide. So its memory is an estimate. Under
// WSL the runtime sees the memory that the card is sold with.
//
// Errors: InputErrors with the place where a name is not known or fits several.
#ifndef FORETELL_INPUT_SERVING_CARD_H_
#define FORETELL_INPUT_SERVING_CARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"
#include "spec/serving.h"

namespace foretell {

struct ServingCards {
  ServingCard card;
  int64_t count = 0;  // that were listed; 0 where one kind stands alone
  std::vector<std::string> assumed;
};

ServingCards FindServingCards(const std::string& text, const Place& place);

// A slice, or a card under WSL; nothing for any other name.
std::optional<ServingCard> PartOfCard(std::string_view name);

}  // namespace foretell

#endif  // FORETELL_INPUT_SERVING_CARD_H_
