// What a whole run is told from beside its job: how much data, prices, a grid.
//
// Made by the command line and data/. What is not said is absent, never zero.
#ifndef FORETELL_SPEC_RUN_COSTS_H_
#define FORETELL_SPEC_RUN_COSTS_H_

#include <optional>
#include <string>
#include <vector>

namespace foretell {

// What a cloud asks for one card, an hour.
struct ListPrice {
  std::string provider;  // "aws"
  std::string name;      // of the machine
  double usd_an_hour = 0;
  std::string date;  // as the record has it; empty: not stated
};

struct Grid {
  std::string id;          // "FR", "gcp:us-central1"
  std::string name;        // "France"
  double grams_a_kwh = 0;  // of CO2 equivalents
  int year = 0;            // 0: not stated
  std::string source;
};

struct RunCosts {
  std::optional<double> tokens;   // of the whole run
  std::optional<double> samples;  // of the data set
  double epochs = 1;
  std::optional<double> price;  // dollars of one card, an hour
  std::vector<ListPrice> prices;
  std::optional<Grid> grid;
  std::optional<double> pue;          // of the building
  std::optional<double> network_gbs;  // of a card beyond its machine
};

}  // namespace foretell

#endif  // FORETELL_SPEC_RUN_COSTS_H_
