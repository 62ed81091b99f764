// Clouds' list prices and grids' carbon, from data/.
//
// In: a card's id; a grid's name. Out: the least price of each cloud, newest
// record first, each with its date; the grid, or which names are near.
// Source: data/cloud_prices.jsonl and data/grid_carbon.jsonl, where each row
// names its own.
#ifndef FORETELL_INPUT_RUN_COSTS_H_
#define FORETELL_INPUT_RUN_COSTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/run_costs.h"

namespace foretell {

// One entry a cloud, by price.
std::vector<ListPrice> ListPricesOf(std::string_view device);

// By id ("fr", "gcp:us-central1", "NERC-MRO"), three letters ("fra") or name
// ("France"); letters' case does not matter.
std::optional<Grid> GridNamed(std::string_view name);

// Ids that a message may suggest, in the file's order.
std::vector<std::string> GridIds();

}  // namespace foretell

#endif  // FORETELL_INPUT_RUN_COSTS_H_
