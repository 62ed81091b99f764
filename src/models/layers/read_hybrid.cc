#include "models/layers/read_hybrid.h"

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "models/layers/read_decoder.h"

namespace foretell {

AttentionConfig ReadHybridHeads(const ConfigView& config,
                                const HybridHeadDefaults& defaults) {
  AttentionConfig out = ReadHeads(config, {.dropout_may_be_null = true});
  const bool is_absent = config.Raw("num_key_value_heads") == nullptr;
  if (is_absent && defaults.kv_heads) {
    out.kv_heads = config.Size({"num_key_value_heads"}, *defaults.kv_heads);
  } else {
    out.kv_heads = SizeOrDerived(config, "num_key_value_heads", out.heads);
  }
  CheckKeyValueHeads(config, out);
  out.head_dim = config.Raw("head_dim") == nullptr
                     ? EvenHeadDim(config, out)
                     : config.Size({"head_dim"}, 128);
  return out;
}

HybridConfig HybridOf(const DecoderConfig& decoder) {
  HybridConfig out;
  out.vocabulary = decoder.vocabulary;
  out.hidden = decoder.hidden;
  out.layers = decoder.layers;
  out.norm_epsilon = decoder.norm_epsilon;
  out.tie_embeddings = decoder.tie_embeddings;
  out.head = decoder.head;
  return out;
}

HybridFinish BalancedHybridLoss(const ExpertsConfig& experts) {
  return [experts](const Tensor& loss, const Tensor&,
                   std::span<const Tensor> router_logits) {
    if (router_logits.empty()) {
      loss.builder().Fail("no layer has a router whose scores could be kept");
      return loss;
    }
    const Tensor uneven =
        LoadBalancingLoss(loss.builder(), router_logits, experts);
    return AddInto(loss, MulScalar(uneven, 1));
  };
}

}  // namespace foretell
