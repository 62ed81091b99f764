// What another tool foretold of points that are scored here: its errors and
// ours on the same points.
//
// In: the peer's figures by the row's id, and our scores. Out: groups
// "peer_same_points.QUANTITY" (ours) and "peer_same_points.QUANTITY.peer", of
// points that both foretell, each point alike. Pure.
#ifndef FORETELL_ANSWERS_SCORE_PEER_POINTS_H_
#define FORETELL_ANSWERS_SCORE_PEER_POINTS_H_

#include <map>
#include <string>
#include <vector>

#include "answers/score/score_row.h"
#include "answers/score/score_statistics.h"
#include "spec/measured_row.h"

namespace foretell {

// By the row's id, then by the quantity: predicted and measured, in
// milliseconds.
struct PeerPoint {
  double predicted = 0;
  double measured = 0;
};
using PeerPoints = std::map<std::string, std::map<std::string, PeerPoint>>;

// Rows with `predicted_ttft_ms`, `measured_ttft_ms` and so on; those of the
// peer's defaults, where it was run in several ways.
PeerPoints PeerPointsOf(const MeasuredRows& rows);

void AddPeerGroups(const PeerPoints& peers, const std::vector<Score>& scores,
                   ScoreGroups& groups);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_PEER_POINTS_H_
