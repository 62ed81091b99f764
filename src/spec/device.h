// A card as the catalogue of accelerators has it: what it is called, how much
// memory a program sees on it, and what its maker says of its speed.
//
// Made by input/device_catalogue from data/accelerators.jsonl, where each row
// names its sources. What is not known is absent, never zero.
#ifndef FORETELL_SPEC_DEVICE_H_
#define FORETELL_SPEC_DEVICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/figure.h"

namespace foretell {

// What a card reached, and who saw it.
struct MeasuredRate {
  std::string dtype;  // "bf16"
  double tflops = 0;
  std::string source;
};

struct Device {
  std::string id;            // "h100-sxm"
  std::string name;          // "NVIDIA H100 SXM5"
  std::string product_name;  // as its driver says: "NVIDIA H100 80GB HBM3"
  std::string vendor;        // "nvidia", "amd", "intel", "apple", …
  std::string arch;          // "Hopper"
  std::string form;          // "SXM5", "PCIe dual-slot"
  std::optional<int64_t> year;
  std::vector<std::string> aliases;
  int capability = 0;  // ten times CUDA's major number plus the minor; 0: none
  bool unified_memory = false;       // shared with the host
  std::optional<double> nominal_gb;  // as it is sold; makers mix GB and GiB
  std::string memory_type;           // "HBM3"
  // What the runtime reports as the card's total (cudaMemGetInfo): measured
  // where a record of it is known, else estimated from the driver's figure or
  // from the nominal one (input/device_catalogue.h).
  Bytes total;
  std::optional<int64_t> driver_total;  // bytes, as nvidia-smi shows them
  std::optional<double> bandwidth_gbs;  // 1e9 bytes a second
  std::optional<int64_t> multiprocessors;
  std::optional<double> boost_mhz;
  std::optional<double> l2_mb;  // 1e6 bytes; the cache before the memory
  std::optional<double> power_w;
  std::map<std::string, double> dense_tflops;  // by dtype: "bf16", without
                                               // sparsity
  std::string dense_basis;                     // what those figures are
  // Other rates, by name: "fp16_acc16" accumulates in fp16, "fp64_matrix".
  std::map<std::string, double> other_tflops;
  std::vector<MeasuredRate> measured_tflops;  // of large matrix products
  std::optional<double> link_gbs;   // between cards, per card, both directions
  std::string link;                 // "nvlink-4"
  std::string pcie;                 // "5.0 x16": generation and lanes
  std::optional<double> pcie_gbs;   // one direction, by those
  std::optional<int64_t> per_node;  // cards in a usual machine
  std::map<std::string, double> price_usd_per_hour;  // by cloud
  std::optional<double> list_price_usd;              // of the card, about
  std::vector<std::string> sources;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_DEVICE_H_
