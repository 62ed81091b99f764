// The settings of a record of a measured training step as a job.
//
// In: what the record says. Out: the job with its layout, or what is missing.
// What a record leaves out is taken so:
//
//   data ranks     cards over tensor, pipeline and context ranks
//   micro-batch    the step's sequences over data ranks and micro-steps
//   sharding       Megatron's tools divide the optimizer's states, JAX's
//                  recipes divide parameters, several cards else hold copies
//   checkpoints    unknown: a share that is fitted, with a wider interval
//   length         BERT's SQuAD recipe of DeepLearningExamples has 384
//                  (run_squad.py, --max_seq_length)
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_SPEED_JOB_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_SPEED_JOB_H_

#include <variant>

#include "analysis/timing/training_phases.h"
#include "answers/score/score_row.h"

namespace foretell {

std::variant<TrainedJob, LeftOut> TrainedJobOfRecord(const ScoreInput& input);

// What all quantities are told from; the constants are those given.
std::vector<Predicted> TrainedQuantities(const TrainedJob& job,
                                         const TrainingConstants& constants);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_SPEED_JOB_H_
