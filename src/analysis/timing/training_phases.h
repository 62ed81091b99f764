// How long one step of training takes on each of many cards, by part.
//
// In: what a token multiplies and keeps (analysis/timing/served_shape.h), the
// card's figures, the layout, and the constants of training_constants.h. Out:
// seconds by phase and by what they are spent on. A closed formula: products
// at a share of the card's peak that grows with their size, passes over memory
// at its bandwidth, launches of the host where they take longer, collectives
// over the links they run on with what overlaps taken off, a pipeline's
// bubble, the optimizer. The wait for data is not in it.
//
//   products       2 a weight and token forward, and as much for each gradient
//   attention      scores and values, half of them where it is causal
//   memory         norms, activations, residuals, the loss: a fixed number of
//                  passes over what a token holds in a layer
//   tensor ranks   four all-reduces a layer (or their halves around it)
//   context ranks  keys and values of the others
//   expert ranks   tokens to their experts and back, twice
//   pipeline       (p - 1) / (m v) of the time of all micro-steps
//   data ranks     gradients, and parameters where these are divided
// Sources: Megatron-LM (arXiv 2104.04473 §2.2, §3.2; 2205.05198 §4), ZeRO
// (arXiv 1910.02054 §7), PyTorch FSDP (arXiv 2304.11277 §3).
#ifndef FORETELL_ANALYSIS_TIMING_TRAINING_PHASES_H_
#define FORETELL_ANALYSIS_TIMING_TRAINING_PHASES_H_

#include <cstdint>

#include "analysis/timing/served_shape.h"
#include "analysis/timing/training_constants.h"

namespace foretell {

// How linear layers of the blocks are multiplied.
enum class TrainedFormat : uint8_t {
  kHalf,       // bfloat16, float16
  kFp32,       // float32 products
  kTf32,       // float32 tensors, TF32 products where the card has them
  kFp8,        // one scale a tensor
  kFp8Scaled,  // by row, by block, MXFP8
  kFp4,
};

enum class TrainedSharing : uint8_t {
  kNone,        // one copy
  kCopies,      // DDP: gradients are summed
  kStates,      // ZeRO 1 and 2: gradients scattered, parameters gathered
  kParameters,  // ZeRO 3, FSDP: gathered for each use
};

// Whose loop runs the step.
enum class TrainedLoop : uint8_t {
  kEager,     // PyTorch, operator by operator
  kCompiled,  // torch.compile
  kFused,     // Megatron and others with kernels of their own, or graphs
  kXla,       // JAX, TPUs
};

enum class TrainedCards : uint8_t {
  kVolta,
  kTuring,
  kAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kCdna,
  kTpu,
  kNeuron,
  kOther,
};

struct TrainedJob {
  ServedShape shape;
  bool is_causal = true;
  // The card's: operations, bytes a second; links in one direction.
  TrainedCards cards = TrainedCards::kOther;
  bool is_power_limited = false;
  bool has_older_attention = false;
  bool has_newer_attention = false;
  bool writes_scores = false;  // attention of plain products
  bool has_tf32 = true;
  bool is_small_ampere = false;  // GDDR cards of that generation
  double peak_half = 0;
  double peak = 0;  // of the format
  double bandwidth = 0;
  double link = 0;       // between cards of one machine
  double network = 0;    // a card's beyond it
  double in_domain = 8;  // cards that the links join
  TrainedFormat format = TrainedFormat::kHalf;
  TrainedLoop loop = TrainedLoop::kEager;
  bool is_megatron = false;
  // The work: sequences of a micro-step of one rank, micro-steps a step.
  double sequences = 1;
  double sequence = 0;
  double micro_steps = 1;
  // Of the forward's products, what the backward takes: 2 where all weights
  // train, 1 where frozen ones only pass gradients on.
  double backward = 2;
  double trained_share = 1;  // of the parameters
  double stored_bits = 16;   // of frozen weights, below 16 widened for each use
  // Of the forward, run again in the backward: 1 where every block is.
  double recomputed = 0;
  bool recomputed_stated = true;
  bool recomputes_attention = false;
  bool offloads_optimizer = false;
  double optimizer_bytes = 28;  // read and written a parameter
  TrainedSharing sharing = TrainedSharing::kNone;
  double shard_ranks = 0;  // that divide parameters; 0: all data ranks
  double tensor = 1;
  double pipeline = 1;
  double chunks = 1;  // of each stage (interleaved)
  double data = 1;
  double context = 1;
  double experts_over = 1;
  double cards_all = 1;
  // Years after the first release whose runs were fitted; of Megatron alone.
  double years = 0;
};

// Seconds a step. Parts of a phase that overlap are not counted twice.
struct TrainedStep {
  double forward = 0;
  double backward = 0;
  double recompute = 0;  // of the backward
  double optimizer = 0;
  double exposed = 0;  // collectives that nothing hides
  double bubble = 0;
  double total = 0;
  // By what the time goes to, summing to `total`.
  double arithmetic = 0;
  double memory = 0;
  double communication = 0;
  double launches = 0;

  double tokens_a_second = 0;  // of one card
};

TrainedStep TrainedStepOf(const TrainedJob& job,
                          const TrainingConstants& constants);

// FLOPs of the model a token, forward and backward, as papers count them
// (6 a weight, and attention's), nothing for what is recomputed.
double ModelFlopsOfToken(const TrainedJob& job, bool halves_causal);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_TRAINING_PHASES_H_
