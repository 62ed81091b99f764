// Layers that a drafter adds: a model's own prediction layers, or another
// model's. Source: vllm/model_executor/models/*_mtp.py, llama_eagle3.py and
// vllm/config/speculative.py of 0.33.0.
#include <algorithm>

#include "engines/vllm/kv_model.h"

namespace foretell::vllm {
namespace {

// How many prediction layers the model's own drafter has.
int64_t OwnLayers(const ServedConfig& c) {
  return c
      .Size({"num_nextn_predict_layers", "mtp_num_hidden_layers",
             "num_mtp_modules"})
      .value_or(1);
}

bool IsOwn(const std::string& method) {
  return method == "mtp" || method.ends_with("_mtp");
}

}  // namespace

void AddDraftLayers(const ServedConfig& c, const ServingSettings& settings,
                    const ServingCard& card, KvModel& model) {
  if (!settings.speculative) return;
  const SpeculativeSettings& drafter = *settings.speculative;
  if (IsOwn(drafter.method)) {
    // DeepSeek V4's are added with its own layers.
    if (c.text_type().starts_with("deepseek_v4")) return;
    // They look like the model's last layer of ordinary or latent attention.
    const auto last = std::ranges::find_if(
        model.layers.rbegin(), model.layers.rend(), [](const KvShape& at) {
          return at.source != KvSource::kState &&
                 at.spec.kind != KvKind::kSliding;
        });
    if (last == model.layers.rend()) return;
    std::vector<KvShape> of_layer;
    for (const KvShape& at : model.layers) {
      if (at.index == last->index && at.source != KvSource::kState) {
        of_layer.push_back(at);
      }
    }
    const bool has_indexer = std::ranges::any_of(
        model.layers,
        [](const KvShape& at) { return at.source == KvSource::kIndexer; });
    if (has_indexer && of_layer.size() == 1) {
      // A prediction layer always has an indexer of its own.
      const auto indexer =
          std::ranges::find(model.layers, KvSource::kIndexer, &KvShape::source);
      of_layer.insert(of_layer.begin(), *indexer);
    }
    const int64_t count = std::min<int64_t>(OwnLayers(c), 64);
    for (int64_t i = 0; i < count; ++i) {
      for (KvShape shape : of_layer) {
        shape.name = "mtp." + std::to_string(i) + "." + shape.name;
        shape.index = model.stack + i;
        shape.is_draft = true;
        model.layers.push_back(std::move(shape));
      }
    }
    return;
  }
  if (!drafter.draft) {
    // Nothing is known of it; EAGLE's published drafters are one layer like
    // the model's own layers of full attention.
    const auto like = std::ranges::find_if(
        model.layers.rbegin(), model.layers.rend(), [](const KvShape& at) {
          return at.spec.kind == KvKind::kFull &&
                 at.source == KvSource::kAttention;
        });
    if (drafter.method.starts_with("eagle") && like != model.layers.rend()) {
      KvShape shape = *like;
      shape.name = "draft.model.layers.0.self_attn.attn";
      shape.index = model.stack;
      shape.has_sink = false;
      shape.is_draft = true;
      model.layers.push_back(std::move(shape));
    }
    return;
  }
  ServingSettings own = settings;
  own.speculative.reset();
  own.tensor_parallel =
      drafter.draft_tensor_parallel.value_or(settings.tensor_parallel);
  const KvModel draft = ReadKvModel(ServedConfig(*drafter.draft), own, card);
  for (KvShape shape : draft.layers) {
    shape.name = "draft." + shape.name;
    shape.index += model.stack;
    shape.is_draft = true;
    model.layers.push_back(std::move(shape));
  }
}

}  // namespace foretell::vllm
