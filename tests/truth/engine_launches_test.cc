// Launches drawn at random (tools/engines/random_launches.py) that vLLM's own
// parser and configuration code judged: the verdict, the class of a refusal
// and every value that the accepted ones ended with.
//
// Source: vLLM 0.19.0 and 0.33.0 run without a card; the models' configurations
// are the catalogue's, which says nothing of a model's own code, so refusals
// for want of permission to run it are not among the rows. What hangs on
// packages installed beside the engine is left out of the rows.
#include <gtest/gtest.h>

#include <string>

#include "answers/score/score.h"
#include "input/measured_rows.h"
#include "input/serving_source.h"

namespace foretell {
namespace {

TEST(EngineLaunches, DrawnOnesEndAsTheEngineSays) {
  const std::string path =
      FORETELL_SOURCE_DIR "/tests/truth/engine_launches.jsonl";
  ScoreRequest request;
  request.set = FindScoreSet("engine_launches");
  ASSERT_NE(request.set, nullptr);
  request.rows = LoadMeasuredRows(
      {.path = path, .model_field = std::string(request.set->model_field)});
  const auto serving = MakeServingSource("");
  request.serving = serving.get();
  const ScoreAnswer answer = AnswerScore(request);
  EXPECT_GT(answer.rows, 100);
  EXPECT_EQ(answer.scored, answer.rows);
  for (const Score& score : answer.worst) {
    if (score.error == 0) break;
    ADD_FAILURE() << score.id << " " << score.quantity << ": "
                  << score.predicted << ", the engine " << score.measured;
  }
}

}  // namespace
}  // namespace foretell
