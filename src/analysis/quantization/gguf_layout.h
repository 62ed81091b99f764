// The tensors of a GGUF file, made from those of a model's class.
//
// In: the class's tensors (and those that a checkpoint holds beyond it), and a
// few of the configuration's numbers. Out: what llama.cpp's converter writes:
// its names block by block, experts merged into one tensor of three dims,
// fused ones split, latent projections split by head, tables of rotary factors
// added, towers left to a file of their own; rows as long as a matrix product
// reads them, since blocks of quantized values lie along rows.
// Source: llama.cpp 0.5.0 (llama-cpp-python 0.3.36), conversion/*.py.
//
// Does not model: vocabularies that a converter pads, layers of further
// prediction of other models than GLM's (published files leave them out).
#ifndef FORETELL_ANALYSIS_QUANTIZATION_GGUF_LAYOUT_H_
#define FORETELL_ANALYSIS_QUANTIZATION_GGUF_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/parameters.h"

namespace foretell {

// What the converter and the recipes read of a configuration.
struct GgufFacts {
  std::string class_name;
  int64_t layers = 0;  // with those of further prediction, where they are kept
  int64_t heads = 0;
  int64_t kv_heads = 0;    // of the first layer
  int64_t experts = 0;     // 0: none
  int64_t nope_dims = 0;   // qk_nope_head_dim, of latent attention
  int64_t value_dims = 0;  // v_head_dim
  int64_t gate_rows = 0;   // Qwen3-Next: of the gate within in_proj_qkvz
  // The checkpoint's experts are in MXFP4 already: they are repacked, and
  // llama-quantize leaves them so.
  bool experts_are_mxfp4 = false;
  // Elements of each table of rotary factors that the converter adds.
  std::vector<int64_t> rope_tables;
};

struct GgufTensor {
  std::string name;     // "blk.3.ffn_up.weight"
  int64_t block = -1;   // -1: of no block
  int64_t columns = 1;  // the length of a row
  int64_t rows = 1;     // of all experts
  int64_t depth = 1;    // experts, or heads
  int64_t dims = 1;     // 1, 2 or 3
  bool stays_float32 = false;
  bool stays_mxfp4 = false;

  int64_t Elements() const { return columns * rows; }
};

struct GgufLayout {
  std::vector<GgufTensor> tensors;  // in the order in which they are quantized
  std::vector<std::string> towers;  // names left out, folded
  std::vector<std::string> unplaced;  // names llama.cpp has no place for
  std::vector<std::string> notes;     // what was assumed
};

GgufLayout LayOutGguf(const std::vector<TensorGroup>& tensors,
                      const GgufFacts& facts);

// The values of the first index of each of `count` tensors: of "0-2 x 0-1"
// with count 6, {0: 2, 1: 2, 2: 2}; nothing where the list is not understood.
std::vector<std::pair<int64_t, int64_t>> FirstIndices(
    const std::string& indices, int64_t count);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_QUANTIZATION_GGUF_LAYOUT_H_
