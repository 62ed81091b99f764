#include "analysis/flops_conventions.h"

#include <algorithm>
#include <map>

#include "analysis/flops.h"
#include "base/checked.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

constexpr std::string_view kGrouped = "aten._grouped_mm.default";

bool IsFusedAttention(std::string_view name) {
  return name.starts_with("aten._scaled_dot_product_");
}

// Products of two activations: no weight has an axis that counts rows of a
// batch.
bool IsBatched(std::string_view name) {
  return name == "aten.bmm.default" || name == "aten.baddbmm.default";
}

bool IsInAttention(const Graph& graph, RegionId region) {
  for (; region.valid(); region = graph[region].parent) {
    if (graph[region].kind == RegionKind::kAttention) return true;
  }
  return false;
}

// A sum that remembers that it has overflowed.
class Sum {
 public:
  explicit Sum(int64_t& target) : target_(&target) {}
  bool Add(int64_t term) {
    const auto sum = CheckedAdd(*target_, term);
    if (sum) *target_ = *sum;
    return sum.has_value();
  }

 private:
  int64_t* target_;
};

bool AddOperation(const Graph& graph, const Operation& operation, Phase phase,
                  bool is_recomputed, ProductFlops& out) {
  const auto flops = FlopsOf(graph, operation);
  if (!flops) return false;
  const std::string_view name = operation.row->name;
  const bool is_fused = IsFusedAttention(name);
  const bool is_attention =
      is_fused || (IsBatched(name) && IsInAttention(graph, operation.region));
  bool fits = true;
  if (name == kGrouped) fits = Sum(out.grouped).Add(*flops);
  if (is_fused) fits = fits && Sum(out.fused).Add(*flops);
  if (is_recomputed) return fits && Sum(out.recomputed).Add(*flops);
  const bool is_forward = phase == Phase::kForward;
  if (is_attention) {
    fits =
        fits && Sum(is_forward ? out.attention_forward : out.attention_backward)
                    .Add(*flops);
  }
  return fits && Sum(is_forward ? out.forward : out.backward).Add(*flops);
}

// Elements by what a token does with them, each as many as one token meets.
struct MetParameters {
  int64_t all = 0;      // every element, whoever meets it
  int64_t tables = 0;   // looked up only
  int64_t idle = 0;     // in experts that a token is not sent to
  int64_t vectors = 0;  // norms, biases: no matrix product, met ones
  bool fits = true;
};

// A matrix or a kernel of a convolution; an axis that counts experts is none.
bool IsMatrix(const TensorGroup& tensor) {
  return tensor.shape.rank() - (tensor.experts > 0 ? 1 : 0) >= 2;
}

MetParameters Meet(const ParameterAnalysis& parameters) {
  MetParameters out;
  out.fits = parameters.total.is_exact() && parameters.embedding.is_exact();
  if (!out.fits) return out;
  out.all = parameters.total.exact();
  out.tables = parameters.embedding.exact();
  for (const TensorGroup& tensor : parameters.tensors) {
    const int64_t elements = tensor.Elements().value_or(0);
    const int64_t met = tensor.experts > 0 ? elements / tensor.experts *
                                                 tensor.experts_per_token
                                           : elements;
    out.idle += elements - met;
    if (!IsMatrix(tensor)) out.vectors += met;
  }
  return out;
}

// 6 n d, or nothing past 2^63 - 1.
std::optional<int64_t> SixNd(int64_t n, int64_t tokens) {
  const auto product = CheckedMul(n, tokens);
  return product ? CheckedMul(*product, 6) : std::nullopt;
}

std::optional<int64_t> Plus(std::optional<int64_t> a,
                            std::optional<int64_t> b) {
  return a && b ? CheckedAdd(*a, *b) : std::nullopt;
}

}  // namespace

std::optional<ProductFlops> MeasureProducts(
    const Graph& graph, std::span<const OperationRange> recomputed) {
  ProductFlops out;
  PhaseWalk phases(graph);
  for (uint32_t at = 0; at < graph.steps.size(); ++at) {
    const Phase phase = phases.At(at);
    const Step step = graph.steps[at];
    if (step.kind != Step::Kind::kOperation) continue;
    const Operation& operation = graph.operations[step.index];
    if (operation.row->flops == nullptr) continue;
    const bool again =
        std::ranges::any_of(recomputed, [&](const OperationRange& range) {
          return step.index >= range.first && step.index < range.end;
        });
    if (!AddOperation(graph, operation, phase, again, out)) return std::nullopt;
  }
  const auto model = CheckedAdd(out.forward, out.backward);
  if (!model || !CheckedAdd(*model, out.recomputed)) return std::nullopt;
  return out;
}

std::vector<FlopsConvention> FlopsConventions(
    const ProductFlops& products, const ParameterAnalysis& parameters,
    int64_t tokens) {
  const MetParameters met = Meet(parameters);
  const int64_t active = met.all - met.idle;
  const bool trains = products.backward > 0;
  std::vector<FlopsConvention> out;
  const auto add = [&out](std::string_view name, std::string_view rule,
                          std::optional<int64_t> flops) {
    out.push_back({name, rule, Flops::Exact(flops)});
  };
  const int64_t counted = products.Executed() - products.grouped;
  const int64_t attention =
      products.attention_forward + products.attention_backward;
  add("torch", "what torch.utils.flop_counter adds up", counted);
  if (products.fused > 0) {
    add("torch-host", "the same on a CPU, without fused attention",
        counted - products.fused);
  }
  add("executed", "every matrix product, grouped ones as well",
      products.Executed());
  if (products.recomputed > 0) {
    add("model", "without what checkpointing runs again", products.Model());
  }
  if (attention > 0) {
    add("causal", "without recomputation, and half of attention",
        products.Model() - attention / 2);
  }
  add("macs", "multiply-adds of the forward", products.forward / 2);
  if (!trains || !met.fits) return out;
  add("6ND", "6 N D, all parameters", SixNd(met.all, tokens));
  add("6ND-tables", "6 N D without look-up tables",
      SixNd(met.all - met.tables, tokens));
  if (met.idle > 0) {
    add("6ND-active", "6 N D, parameters that a token meets",
        SixNd(active, tokens));
  }
  add("PaLM", "6 N D and 12 L H Q T per token, parameters that a token meets",
      Plus(SixNd(active, tokens), CheckedMul(products.attention_forward, 3)));
  return out;
}

std::vector<FlopsTerm> ReconcileFlops(const ProductFlops& products,
                                      const ParameterAnalysis& parameters,
                                      int64_t tokens) {
  const MetParameters met = Meet(parameters);
  const auto all = SixNd(met.all, tokens);
  const auto attention = CheckedMul(products.attention_forward, 3);
  if (!met.fits || !all || !attention) return {};
  // Parts of `all` do not overflow where it does not.
  const auto part = [tokens](int64_t n) { return -6 * n * tokens; };
  std::vector<FlopsTerm> out;
  const auto add = [&out](std::string_view what, int64_t flops) {
    if (flops != 0) out.push_back({what, flops});
  };
  out.push_back({"6 N D", *all});
  add("tables that are looked up", part(met.tables));
  add("experts that a token does not meet", part(met.idle));
  add("norms and biases, which are no matrix products", part(met.vectors));
  add("attention over all pairs", *attention);
  // A fused kernel multiplies queries with keys once more in its backward.
  if (products.backward > 0) {
    add("attention's scores again in fused backwards",
        products.attention_backward - 2 * products.attention_forward);
  }
  add("a forward again (checkpointing)", products.recomputed);
  int64_t explained = 0;
  for (const FlopsTerm& term : out) {
    const auto sum = CheckedAdd(explained, term.flops);
    if (!sum) return {};
    explained = *sum;
  }
  add("other", products.Executed() - explained);
  return out;
}

std::vector<UncountedOperation> UncountedOperations(const Graph& graph) {
  std::map<std::string_view, UncountedOperation> found;
  for (const Operation& operation : graph.operations) {
    const std::string_view name = operation.row->name;
    if (operation.row->flops != nullptr && name != kGrouped) continue;
    UncountedOperation& one = found[name];
    one.name = name;
    ++one.times;
    const auto flops =
        CheckedAdd(one.flops, FlopsOf(graph, operation).value_or(0));
    one.flops = flops.value_or(one.flops);
  }
  std::vector<UncountedOperation> out;
  for (const auto& [name, one] : found) out.push_back(one);
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.flops != b.flops ? a.flops > b.flops : a.times > b.times;
  });
  return out;
}

}  // namespace foretell
