#include "answers/score/peer_points.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace foretell {
namespace {

Score Own(std::string id, std::string quantity, double error) {
  Score out;
  out.id = std::move(id);
  out.quantity = std::move(quantity);
  out.family = "a sweep";
  out.groups = {"all"};
  out.error = error;
  out.ratio = 1 + error;
  return out;
}

TEST(PeerPoints, ComparesThePointsThatBothForetell) {
  const PeerPoints peers = {
      {"a", {{"ttft", {.predicted = 50, .measured = 100}}}},
      {"b",
       {{"ttft", {.predicted = 90, .measured = 100}},
        {"tpot", {.predicted = 4, .measured = 5}}}},
      {"c", {{"ttft", {.predicted = 1, .measured = 9}}}}};
  const std::vector<Score> own = {Own("a", "ttft", 0.2), Own("b", "ttft", 0.4),
                                  Own("b", "tpot", 0.1), Own("d", "ttft", 9)};
  ScoreGroups groups = {{"all", {{"n", 4}}}};
  AddPeerGroups(peers, own, groups);
  EXPECT_EQ(groups.at("all").at("n"), 4);
  EXPECT_EQ(groups.at("peer_same_points.ttft").at("n"), 2);
  EXPECT_NEAR(groups.at("peer_same_points.ttft").at("median"), 0.3, 1e-9);
  EXPECT_NEAR(groups.at("peer_same_points.ttft.peer").at("median"), 0.3, 1e-9);
  EXPECT_NEAR(groups.at("peer_same_points.tpot.peer").at("median"), 0.2, 1e-9);
  EXPECT_EQ(groups.at("peer_same_points.ttft.peer").count("coverage90"), 0U);
}

}  // namespace
}  // namespace foretell
