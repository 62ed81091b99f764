// What a training job takes of the host beside the cards: memory to load the
// model, to hold what is offloaded and to make batches, and the bytes that a
// checkpoint takes on disk.
//
// In: bytes of the model and of what trains, and how the job runs. Out: named
// terms with intervals, of one host with all of its ranks.
//
//   process   Python, torch and the driver's libraries, for each rank: 2 to 6
//             GB of resident memory in the reports of users
//   loading   each rank makes the model on the host before it moves it, unless
//             the weights go to the card shard by shard (quantized models,
//             device_map) or rank 0 alone loads them (FSDP's
//             cpu_ram_efficient_loading). Files are mapped, and their pages can
//             be let go.
//             Source: transformers 5.23, modeling_utils.py (from_pretrained);
//             accelerate 1.15, utils/fsdp_utils.py.
//   offload   pinned memory for states, weights or activations of each rank
//   workers   a process each, with `prefetch` batches ahead of int64 ids,
//             labels and masks. Source: torch 2.15, utils/data/dataloader.py
//             (prefetch_factor=2).
//   saving    what is gathered for one file: a shard of at most 5 GB, or all
//             weights and states on rank 0 where cards divide them.
//             Source: transformers 5.23, save_pretrained (max_shard_size);
//             torch 2.15, distributed/checkpoint/state_dict.py.
#ifndef FORETELL_ENGINES_PYTORCH_HOST_MEMORY_H_
#define FORETELL_ENGINES_PYTORCH_HOST_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/figure.h"

namespace foretell {

struct HostJob {
  int64_t ranks = 1;         // on this host
  int64_t weights = 0;       // bytes of the model as its file has them
  int64_t trained = 0;       // bytes of what trains
  int64_t states = 0;        // bytes of the optimizer's, of all ranks
  int64_t offloaded = 0;     // of one rank: states and weights
  int64_t activations = 0;   // of one rank, on the host
  int64_t batch_tokens = 0;  // of one micro-batch
  int64_t workers = 0;       // of one rank
  int64_t prefetch = 2;
  bool loads_by_shard = false;  // straight to the card
  bool first_rank_loads = false;
  bool gathers_to_save = false;  // whole, on the first rank
  bool saves_adapters = false;   // alone
};

struct HostTerm {
  std::string name;  // "loading the model"
  Bytes bytes;
  std::string what;
};

// Of memory; not all at once: loading is over before training begins.
std::vector<HostTerm> HostTermsOf(const HostJob& job);
// The most of them at one time.
Bytes HostPeakOf(const std::vector<HostTerm>& terms);

// One checkpoint with what is needed to go on.
std::vector<HostTerm> DiskTermsOf(const HostJob& job);

}  // namespace foretell

#endif  // FORETELL_ENGINES_PYTORCH_HOST_MEMORY_H_
