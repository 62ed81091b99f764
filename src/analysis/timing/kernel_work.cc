#include "analysis/timing/kernel_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace foretell {
namespace {

struct DtypeRow {
  std::string_view name;
  double weight_bytes;      // nvfp4: half a byte and one scale for 16
  double activation_bytes;  // as the product reads them
  std::string_view peak;    // the key of Device::dense_tflops
};

// In the order of the enumeration. Scales: fp8_block one float32 for 128x128
// (left out), int4 one bfloat16 for 128 (AWQ), mxfp4 one byte for 32 (OCP
// Microscaling Formats 1.0, 5.1).
constexpr std::array<DtypeRow, 12> kDtypes = {{
    {"float32", 4, 4, "fp32"},
    {"tf32", 4, 4, "tf32"},
    {"bfloat16", 2, 2, "bf16"},
    {"fp8", 1, 1, "fp8"},
    {"fp8_block", 1, 1, "fp8"},
    {"fp8_static", 1, 1, "fp8"},
    {"nvfp4", 0.5625, 0.5625, "fp4"},
    {"sq", 1, 1, "int8"},
    {"int8_wo", 1, 2, "bf16"},
    {"int4_wo", 0.515625, 2, "bf16"},
    {"w4a16_mxfp4", 0.53125, 2, "bf16"},
    {"w4a8_mxfp4_mxfp8", 0.53125, 1, "fp8"},
}};

const DtypeRow& RowOf(KernelDtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)];
}

// Pairs of a query with the keys that it sees, of one sequence and head.
double PairsOf(double query, double past, double window, bool causal) {
  if (!causal) return query * (past + query);
  if (window <= 0 || window >= past + query) {
    return query * past + query * (query + 1) / 2;
  }
  // The first queries see fewer than the window holds.
  const double growing = std::clamp(window - past, 0.0, query);
  return growing * past + growing * (growing + 1) / 2 +
         (query - growing) * window;
}

KernelWork Of(const MatrixProduct& s) {
  const double m = static_cast<double>(s.m);
  const double n = static_cast<double>(s.n);
  const double k = static_cast<double>(s.k);
  const double batch = static_cast<double>(s.batch);
  return {.flops = 2 * m * n * k * batch,
          .bytes = batch * (n * k * WeightBytesOf(s.dtype) +
                            m * k * ActivationBytesOf(s.dtype) + 2 * m * n),
          .dtype = s.dtype};
}

KernelWork Of(const PrefillAttention& s) {
  const double query = static_cast<double>(s.query);
  const double past = static_cast<double>(s.past);
  const double heads = static_cast<double>(s.heads);
  const double dim = static_cast<double>(s.head_dim);
  const double batch = static_cast<double>(s.batch);
  const double pairs =
      PairsOf(query, past, static_cast<double>(s.window), s.causal);
  const double cached =
      s.window > 0 ? std::min(past, static_cast<double>(s.window)) : past;
  return {.flops = 4 * batch * heads * dim * pairs,
          .bytes = batch * dim *
                   (4 * heads * query +
                    static_cast<double>(s.kv_heads) * 2 *
                        (2 * query + cached * WeightBytesOf(s.cache_dtype))),
          .dtype = s.dtype};
}

KernelWork Of(const DecodeAttention& s) {
  double length = static_cast<double>(s.past) + 1;
  if (s.window > 0) length = std::min(length, static_cast<double>(s.window));
  const double heads = static_cast<double>(s.heads);
  const double dim = static_cast<double>(s.head_dim);
  const double batch = static_cast<double>(s.batch);
  return {.flops = 4 * batch * heads * dim * length,
          .bytes = batch * dim *
                   (2 * static_cast<double>(s.kv_heads) * length *
                        WeightBytesOf(s.cache_dtype) +
                    4 * heads)};
}

KernelWork Of(const LatentAttention& s) {
  const double query = static_cast<double>(s.query);
  const double past = static_cast<double>(s.past);
  const double heads = static_cast<double>(s.heads);
  const double batch = static_cast<double>(s.batch);
  if (s.query > 1) {
    const double pairs = PairsOf(query, past, 0, true);
    return {.flops = 2 * (192 + 128) * batch * heads * pairs,
            .bytes = 2 * batch * heads *
                     (query * (192 + 128) + (query + past) * (192 + 128)),
            .dtype = s.dtype};
  }
  const double length = past + 1;
  return {.flops = 2 * (576 + 512) * batch * heads * length,
          .bytes = batch * (length * 576 * WeightBytesOf(s.cache_dtype) +
                            heads * (576 + 512) * 2),
          .dtype = s.dtype};
}

KernelWork Of(const Experts& s) {
  const double tokens = static_cast<double>(s.tokens);
  const double hidden = static_cast<double>(s.hidden);
  const double inner =
      static_cast<double>(s.intermediate) / static_cast<double>(s.tp);
  const double ep = static_cast<double>(s.ep);
  const double share =
      static_cast<double>(s.top_k) / static_cast<double>(s.experts);
  const double pairs = tokens * static_cast<double>(s.top_k) / ep;
  // Of the rank's experts those that any token chose.
  const double chosen = static_cast<double>(s.experts) / ep *
                        (1 - std::pow(1 - std::min(share, 1.0), tokens));
  return {
      .flops = 6 * pairs * hidden * inner,
      .bytes = chosen * 3 * hidden * inner * WeightBytesOf(s.dtype) +
               pairs * (2 * hidden + 3 * inner) * ActivationBytesOf(s.dtype),
      .dtype = s.dtype};
}

KernelWork Of(const Collective& s) {
  const double ranks = static_cast<double>(s.ranks);
  const double bytes = static_cast<double>(s.bytes);
  if (s.ranks <= 1) return {};
  double crossed = bytes * (ranks - 1) / ranks;
  if (s.op == CollectiveOp::kAllReduce) crossed *= 2;
  if (s.op == CollectiveOp::kSendReceive) crossed = bytes;
  return {.link_bytes = crossed};
}

KernelWork Of(const MemoryPass& s) {
  return {.bytes = static_cast<double>(s.bytes)};
}

}  // namespace

KernelWork WorkOf(const KernelShape& shape) {
  return std::visit([](const auto& s) { return Of(s); }, shape);
}

double WeightBytesOf(KernelDtype dtype) { return RowOf(dtype).weight_bytes; }

double ActivationBytesOf(KernelDtype dtype) {
  return RowOf(dtype).activation_bytes;
}

double PeakTflopsOf(const Device& device, KernelDtype dtype) {
  for (const std::string_view key :
       {RowOf(dtype).peak, std::string_view("bf16"), std::string_view("fp16"),
        std::string_view("fp32")}) {
    const auto at = device.dense_tflops.find(std::string(key));
    if (at != device.dense_tflops.end() && at->second > 0) return at->second;
  }
  return 0;
}

std::string_view NameOf(KernelDtype dtype) { return RowOf(dtype).name; }

}  // namespace foretell
