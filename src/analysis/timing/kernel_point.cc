#include "analysis/timing/kernel_point.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/timing/kernel_work.h"

namespace foretell {
namespace {

using V = KernelVariable;

double Real(int64_t value) { return static_cast<double>(value); }

int64_t Whole(double value) { return static_cast<int64_t>(value); }

std::string Text(KernelDtype dtype) { return std::string(NameOf(dtype)); }

KernelPoint Of(const MatrixProduct& s, std::string_view /*framework*/) {
  // A batch of products with weights of their own: one over all columns has
  // as much to do.
  KernelPoint out{.kind = "gemm", .words = {{"dtype", Text(s.dtype)}}};
  out.numbers[V::kM] = Real(s.m);
  out.numbers[V::kN] = Real(s.n) * Real(s.batch);
  out.numbers[V::kK] = Real(s.k);
  return out;
}

// What prefill and decode have in common.
template <typename Attention>
void SetAttention(const Attention& s, KernelVariables& v) {
  v[V::kBatch] = Real(s.batch);
  v[V::kQHeads] = Real(s.heads);
  v[V::kKvHeads] = Real(s.kv_heads);
  v[V::kHeadDim] = Real(s.head_dim);
  v[V::kPastTokens] = Real(s.past);
  v[V::kWindow] = Real(s.window);
}

KernelPoint Of(const PrefillAttention& s, std::string_view /*framework*/) {
  KernelPoint out{.kind = s.causal ? "attention_prefill" : "attention_encoder",
                  .words = {{"attn_dtype", Text(s.dtype)}}};
  if (s.causal) out.words.emplace_back("kv_dtype", Text(s.cache_dtype));
  SetAttention(s, out.numbers);
  out.numbers[V::kSeqLen] = Real(s.query);
  return out;
}

KernelPoint Of(const DecodeAttention& s, std::string_view /*framework*/) {
  KernelPoint out{
      .kind = "attention_decode",
      .words = {{"attn_dtype", "bfloat16"}, {"kv_dtype", Text(s.cache_dtype)}}};
  SetAttention(s, out.numbers);
  return out;
}

KernelPoint Of(const LatentAttention& s, std::string_view /*framework*/) {
  const bool prefill = s.query > 1;
  KernelPoint out{.kind = prefill ? "mla_prefill" : "mla_decode",
                  .words = {{"attn_dtype", Text(s.dtype)},
                            {"kv_dtype", Text(s.cache_dtype)}}};
  KernelVariables& v = out.numbers;
  v[V::kBatch] = Real(s.batch);
  v[V::kQHeads] = Real(s.heads);
  v[V::kSeqLen] = Real(s.query);
  v[V::kPastTokens] = Real(s.past);
  return out;
}

KernelPoint Of(const Experts& s, std::string_view /*framework*/) {
  // The tables' draws: balanced, and two exponents.
  constexpr double kBetween = 1.1;
  std::string draw = "balanced";
  if (s.skew > 0) {
    draw = s.skew < kBetween ? "power_law_1.01" : "power_law_1.2";
  }
  KernelPoint out{
      .kind = "moe",
      .words = {{"dtype", Text(s.dtype)}, {"distribution", std::move(draw)}}};
  KernelVariables& v = out.numbers;
  v[V::kTokens] = Real(s.tokens);
  v[V::kHidden] = Real(s.hidden);
  v[V::kInter] = Real(s.intermediate);
  v[V::kExperts] = Real(s.experts);
  v[V::kTopk] = Real(s.top_k);
  v[V::kMoeTp] = Real(s.tp);
  v[V::kMoeEp] = Real(s.ep);
  v[V::kSkew] = s.skew;
  return out;
}

KernelPoint Of(const Collective& s, std::string_view framework) {
  KernelPoint out;
  if (s.op == CollectiveOp::kSendReceive) return out;
  if (s.engine_kernel && s.op == CollectiveOp::kAllReduce) {
    out.kind = "allreduce_custom";
    out.words = {{"mode", framework == "trtllm"
                              ? "trtllm"
                              : std::string(framework) + "_graph"}};
  } else {
    out.kind = "collective";
    out.words = {{"op", s.op == CollectiveOp::kAllReduce   ? "all_reduce"
                        : s.op == CollectiveOp::kAllGather ? "all_gather"
                        : s.op == CollectiveOp::kAllToAll  ? "alltoall"
                                                           : "reduce_scatter"},
                 {"dtype", "half"}};
  }
  out.numbers[V::kGpus] = Real(s.ranks);
  out.numbers[V::kMessageBytes] = Real(s.bytes);
  return out;
}

KernelPoint Of(const MemoryPass& s, std::string_view /*framework*/) {
  // As a static quantization of as many bytes: two read and one written an
  // element, in rows of 8192.
  constexpr double kRow = 8192;
  KernelPoint out{.kind = "quantize",
                  .words = {{"op", "scale_matrix"}, {"dtype", "fp8"}}};
  const double each = Real(s.bytes) / Real(std::max<int64_t>(s.kernels, 1));
  out.numbers[V::kK] = kRow;
  out.numbers[V::kM] = std::max(1.0, each / (3 * kRow));
  return out;
}

double SkewOf(std::string_view draw) {
  while (!draw.empty()) {
    const size_t end = std::min(draw.find('_'), draw.size());
    const std::string_view part = draw.substr(0, end);
    double out = 0;
    const auto [stop, error] =
        std::from_chars(part.data(), part.data() + part.size(), out);
    if (error == std::errc() && stop == part.data() + part.size()) return out;
    draw.remove_prefix(std::min(end + 1, draw.size()));
  }
  return 0;
}

KernelDtype DtypeOf(const KernelPoint& point, std::string_view word) {
  return KernelDtypeNamed(point.Word(word)).value_or(KernelDtype::kBFloat16);
}

// The mean number of keys that a query sees.
double SeenBy(const PrefillAttention& s) {
  const KernelWork work = WorkOf(s);
  return work.flops /
         (4 * Real(s.batch) * Real(s.heads) * Real(s.head_dim) * Real(s.query));
}

KernelWork AttentionWork(KernelPoint& point) {
  KernelVariables& v = point.numbers;
  const KernelDtype dtype = DtypeOf(point, "attn_dtype");
  const KernelDtype cache = DtypeOf(point, "kv_dtype");
  const auto whole = [&v](V variable) { return Whole(v[variable]); };
  if (point.kind == "attention_decode") {
    double seen = v[V::kPastTokens] + 1;
    if (v[V::kWindow] > 0) seen = std::min(seen, v[V::kWindow]);
    v[V::kSeen] = seen;
    KernelWork work = WorkOf(DecodeAttention{.batch = whole(V::kBatch),
                                             .heads = whole(V::kQHeads),
                                             .kv_heads = whole(V::kKvHeads),
                                             .head_dim = whole(V::kHeadDim),
                                             .past = whole(V::kPastTokens),
                                             .window = whole(V::kWindow),
                                             .cache_dtype = cache});
    work.dtype = dtype;
    return work;
  }
  if (point.kind == "mla_prefill" || point.kind == "mla_decode") {
    const bool prefill = point.kind == "mla_prefill";
    v[V::kSeen] = v[V::kPastTokens] + 1;
    if (prefill && v[V::kSeqLen] <= 1) {
      // One new token, by the prefill's kernel: a pair with each it sees.
      const double heads = v[V::kBatch] * v[V::kQHeads];
      return {.flops = 640 * heads * v[V::kSeen],
              .bytes = 640 * heads * (1 + v[V::kSeen]),
              .dtype = dtype};
    }
    return WorkOf(LatentAttention{.batch = whole(V::kBatch),
                                  .heads = whole(V::kQHeads),
                                  .query = prefill ? whole(V::kSeqLen) : 1,
                                  .past = whole(V::kPastTokens),
                                  .dtype = dtype,
                                  .cache_dtype = cache});
  }
  if (v[V::kKvHeads] == 0) v[V::kKvHeads] = v[V::kQHeads];
  const PrefillAttention shape = {.batch = whole(V::kBatch),
                                  .heads = whole(V::kQHeads),
                                  .kv_heads = whole(V::kKvHeads),
                                  .head_dim = whole(V::kHeadDim),
                                  .query = whole(V::kSeqLen),
                                  .past = whole(V::kPastTokens),
                                  .window = whole(V::kWindow),
                                  .dtype = dtype,
                                  .cache_dtype = cache,
                                  .causal = point.kind != "attention_encoder"};
  v[V::kSeen] = SeenBy(shape);
  return WorkOf(shape);
}

KernelWork ExpertsWork(KernelPoint& point) {
  KernelVariables& v = point.numbers;
  if (v[V::kSkew] == 0) v[V::kSkew] = SkewOf(point.Word("distribution"));
  const double share = std::min(v[V::kTopk] / v[V::kExperts], 1.0);
  v[V::kInner] = v[V::kInter] / v[V::kMoeTp];
  v[V::kLocal] = v[V::kExperts] / v[V::kMoeEp];
  v[V::kRouted] = v[V::kTokens] * v[V::kTopk] / v[V::kMoeEp];
  v[V::kChosen] = v[V::kLocal] * (1 - std::pow(1 - share, v[V::kTokens]));
  v[V::kEach] = v[V::kRouted] / v[V::kLocal];
  const auto whole = [&v](V variable) { return Whole(v[variable]); };
  return WorkOf(Experts{.tokens = whole(V::kTokens),
                        .hidden = whole(V::kHidden),
                        .intermediate = whole(V::kInter),
                        .experts = whole(V::kExperts),
                        .top_k = whole(V::kTopk),
                        .tp = whole(V::kMoeTp),
                        .ep = whole(V::kMoeEp),
                        .dtype = DtypeOf(point, "dtype")});
}

KernelWork CollectiveWork(const KernelPoint& point) {
  const std::string_view op = point.Word("op");
  const bool all_reduce =
      point.kind == "allreduce_custom" || op == "all_reduce";
  const KernelVariables& v = point.numbers;
  return WorkOf(Collective{
      .op = all_reduce ? CollectiveOp::kAllReduce : CollectiveOp::kAllGather,
      .bytes = Whole(v[V::kMessageBytes]),
      .ranks = Whole(v[V::kGpus])});
}

// Of whole modules only what they pass over is known.
void CountRows(KernelVariables& v) {
  const double rows =
      std::max(v[V::kBatch], 1.0) * std::max(v[V::kSeqLen], 1.0);
  v[V::kRows] = std::max(rows, v[V::kTokens]);
  const double reach = v[V::kSeqLen] > 1 ? v[V::kSeqLen] / 2 : 1;
  v[V::kPairs] = v[V::kRows] * (reach + v[V::kPastTokens]);
}

KernelWork WorkOfPoint(KernelPoint& point) {
  KernelVariables& v = point.numbers;
  const std::string_view kind = point.kind;
  if (kind == "gemm") {
    const KernelDtype dtype = DtypeOf(point, "dtype");
    v[V::kWeights] = v[V::kN] * v[V::kK] * WeightBytesOf(dtype);
    return WorkOf(MatrixProduct{.m = Whole(v[V::kM]),
                                .n = Whole(v[V::kN]),
                                .k = Whole(v[V::kK]),
                                .dtype = dtype});
  }
  if (kind.starts_with("attention_") || kind == "mla_prefill" ||
      kind == "mla_decode") {
    return AttentionWork(point);
  }
  if (kind == "moe" || kind.starts_with("moe_wideep")) {
    return ExpertsWork(point);
  }
  if (kind == "collective" || kind == "allreduce_custom") {
    return CollectiveWork(point);
  }
  if (kind == "mla_bmm") {
    // 128 by 512 a head, 640 values in and out of bfloat16.
    const KernelDtype dtype = DtypeOf(point, "dtype");
    const double heads = v[V::kQHeads];
    return {.flops = 2 * v[V::kTokens] * heads * 128 * 512,
            .bytes = heads * (128 * 512 * WeightBytesOf(dtype) +
                              v[V::kTokens] * 640 * 2),
            .dtype = dtype};
  }
  if (kind == "quantize") return {.bytes = v[V::kM] * v[V::kK] * 3};
  CountRows(v);
  return {};
}

// One direction, 1e9 bytes a second.
double LinkOf(const Device& device) {
  // PCI Express 4.0 x16 where nothing is said, as the fit has it.
  constexpr double kPcie = 32;
  if (device.link_gbs) return *device.link_gbs / 2;
  return device.pcie_gbs.value_or(kPcie);
}

}  // namespace

std::string_view KernelPoint::Word(std::string_view name) const {
  for (const auto& [key, text] : words) {
    if (key == name) return text;
  }
  return "";
}

KernelPoint PointOf(const KernelShape& shape, std::string_view framework) {
  return std::visit([&](const auto& s) { return Of(s, framework); }, shape);
}

std::optional<KernelDtype> KernelDtypeNamed(std::string_view name) {
  if (name == "half" || name == "float16") return KernelDtype::kBFloat16;
  if (name == "fp8_e4m3") return KernelDtype::kFp8;
  if (name == "int8") return KernelDtype::kInt8;
  for (int i = 0; i <= static_cast<int>(KernelDtype::kMxfp4Mxfp8); ++i) {
    const auto dtype = static_cast<KernelDtype>(i);
    if (NameOf(dtype) == name) return dtype;
  }
  return std::nullopt;
}

bool Complete(const TimedDevice& timed, KernelPoint& point) {
  const Device& device = timed.device;
  const KernelWork work = WorkOfPoint(point);
  const double peak = PeakTflopsOf(device, work.dtype);
  if (peak <= 0 || device.bandwidth_gbs.value_or(0) <= 0) return false;
  // What a kernel need not do is next to nothing, for logarithms' sake.
  constexpr double kLeastUs = 1e-6;
  KernelVariables& v = point.numbers;
  v[V::kArithmeticUs] = std::max(work.flops / (peak * 1e6), kLeastUs);
  v[V::kMemoryUs] =
      std::max(work.bytes / (*device.bandwidth_gbs * 1e3), kLeastUs);
  v[V::kLinkUs] = std::max(work.link_bytes / (LinkOf(device) * 1e3), kLeastUs);
  const KernelCoefficients* own = timed.own.get();
  // A multiprocessor of today does some 7 TFLOPS of bfloat16; a cache of some
  // 50 MB is usual (Device rows that have both).
  constexpr double kTflopsEach = 7;
  constexpr double kCacheMb = 50;
  const double bf16 = PeakTflopsOf(device, KernelDtype::kBFloat16);
  v[V::kSm] = own != nullptr ? own->multiprocessors
              : device.multiprocessors
                  ? Real(*device.multiprocessors)
                  : std::max(1.0, std::round(bf16 / kTflopsEach));
  v[V::kL2] =
      own != nullptr ? own->l2_bytes : device.l2_mb.value_or(kCacheMb) * 1e6;
  return true;
}

}  // namespace foretell
