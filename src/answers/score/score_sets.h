// What each scored set contributes: its two functions, by the set's name.
//
// Each answers/score/<set>.cc says what it predicts, what it leaves out and
// why.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_SETS_H_
#define FORETELL_ANSWERS_SCORE_SCORE_SETS_H_

#include <string>
#include <vector>

#include "answers/score/score_row.h"
#include "answers/score/score_statistics.h"

namespace foretell {

Prediction PredictWeightsBytes(const ScoreInput& input);
std::vector<Measured> MeasureWeightsBytes(const ConfigValue& row);
std::string ExplainWeightsBytes(const ScoreInput& input, const Score& score);

Prediction PredictGgufBytes(const ScoreInput& input);
std::vector<Measured> MeasureGgufBytes(const ConfigValue& row);
Prediction PredictTrainingMemory(const ScoreInput& input);
std::vector<Measured> MeasureTrainingMemory(const ConfigValue& row);
void FinishTrainingMemory(const std::vector<Score>& scores,
                          ScoreGroups& groups);
Prediction PredictEngineKv(const ScoreInput& input);
std::vector<Measured> MeasureEngineKv(const ConfigValue& row);
Prediction PredictLaunchFailure(const ScoreInput& input);
std::vector<Measured> MeasureLaunchFailure(const ConfigValue& row);
Prediction PredictEngineLaunch(const ScoreInput& input);
std::vector<Measured> MeasureEngineLaunch(const ConfigValue& row);
void FinishEngineLaunches(const std::vector<Score>& scores,
                          ScoreGroups& groups);
Prediction PredictVllmMemory(const ScoreInput& input);
std::vector<Measured> MeasureVllmMemory(const ConfigValue& row);
Prediction PredictInferenceSpeed(const ScoreInput& input);
std::vector<Measured> MeasureInferenceSpeed(const ConfigValue& row);
Prediction PredictTrainingSpeed(const ScoreInput& input);
std::vector<Measured> MeasureTrainingSpeed(const ConfigValue& row);
void FinishTrainingSpeed(const std::vector<Score>& scores, ScoreGroups& groups);
Prediction PredictServingPoint(const ScoreInput& input);
std::vector<Measured> MeasureServingPoint(const ConfigValue& row);
Prediction PredictKernels(const ScoreInput& input);
std::vector<Measured> MeasureKernels(const ConfigValue& row);
Prediction PredictLlamacppSpeed(const ScoreInput& input);
std::vector<Measured> MeasureLlamacppSpeed(const ConfigValue& row);
void FinishVllmMemory(const std::vector<Score>& scores, ScoreGroups& groups);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_SETS_H_
