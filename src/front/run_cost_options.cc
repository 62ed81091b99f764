#include "front/run_cost_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/input_error.h"
#include "base/nearest.h"
#include "front/number_option.h"
#include "input/run_costs.h"

namespace foretell {
std::vector<OptionRow> RunCostRows() {
  return {
      {.name = "tokens",
       .value = "N",
       .doc = "Tokens of the whole run, as 10B or 300M: its time, cost and "
              "energy."},
      {.name = "samples",
       .value = "N",
       .doc = "Sequences of the data set, where tokens are not said."},
      {.name = "epochs", .value = "N", .doc = "How often the data is seen."},
      {.name = "price",
       .value = "USD",
       .doc = "Dollars an hour of one card; clouds' list prices are told "
              "beside."},
      {.name = "grid",
       .value = "NAME",
       .doc = "Whose electricity: a country (fr), a region of the USA "
              "(NERC-WECC) or of a cloud (gcp:us-central1)."},
      {.name = "pue",
       .value = "X",
       .doc = "What the building draws for each watt of its machines."},
      {.name = "network",
       .value = "GBIT",
       .doc = "What a card reaches beyond its machine, in Gbit/s."}};
}

RunCosts ReadRunCosts(const Invocation& invocation, const Device& device) {
  RunCosts out;
  constexpr double kMost = 1e18;
  out.tokens = NumberOf(invocation, "tokens", 1, kMost, "write --tokens 10B",
                        NumberScale::kLetters);
  out.samples = NumberOf(invocation, "samples", 1, kMost,
                         "write --samples 50000", NumberScale::kLetters);
  if (out.tokens && out.samples) {
    throw InputErrors(InputError{invocation.PlaceOf("samples"),
                                 "tokens are said too",
                                 "leave one of them out"});
  }
  out.epochs =
      NumberOf(invocation, "epochs", 1e-3, 1e6, "write --epochs 3").value_or(1);
  out.price = NumberOf(invocation, "price", 1e-6, 1e6, "write --price 2.49");
  out.pue = NumberOf(invocation, "pue", 1, 10, "write --pue 1.2");
  constexpr double kGbit = 8;
  if (const auto network =
          NumberOf(invocation, "network", 1e-3, 1e5, "write --network 400")) {
    out.network_gbs = *network / kGbit;
  }
  if (const auto name = invocation.Text("grid")) {
    out.grid = GridNamed(*name);
    if (!out.grid) {
      const std::vector<std::string> ids = GridIds();
      const auto near = NearestNames(
          *name, std::vector<std::string_view>(ids.begin(), ids.end()));
      throw InputErrors(InputError{
          invocation.PlaceOf("grid"),
          fmt::format("no grid of the name \"{}\" is known", *name),
          near.empty() ? "write a country's two letters, as --grid fr"
                       : fmt::format("is it {}?", fmt::join(near, ", "))});
    }
  }
  if (!device.id.empty()) out.prices = ListPricesOf(device.id);
  return out;
}

}  // namespace foretell
