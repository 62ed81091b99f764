#include "models/layers/electra_head.h"

#include "graph/ops/views.h"
#include "models/layers/check_fields.h"

namespace foretell {

ElectraDiscriminator::ElectraDiscriminator(const Module& at,
                                           const BertConfig& config)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.layer.hidden, true),
      activation(at.Child("activation"), config.layer.activation),
      dense_prediction(at.Child("dense_prediction", RegionKind::kHead),
                       config.layer.hidden, 1, true) {}

Tensor ElectraDiscriminator::Forward(const Tensor& discriminated) const {
  const Scope scope = module.Enter();
  Tensor hidden = dense.Forward(discriminated);
  hidden = activation.Forward(hidden);
  return SqueezeAxis(dense_prediction.Forward(hidden), -1);
}

ElectraGenerator::ElectraGenerator(const Module& at, const BertConfig& config)
    : module(at),
      activation(at.Child("activation"), Activation::kGelu),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.embedding,
           config.layer.norm_epsilon),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.embedding, true) {}

Tensor ElectraGenerator::Forward(const Tensor& generated) const {
  const Scope scope = module.Enter();
  Tensor hidden = dense.Forward(generated);
  hidden = activation.Forward(hidden);
  return norm.Forward(hidden);
}

ElectraSequenceHead::ElectraSequenceHead(const Module& at,
                                         const BertConfig& config)
    : module(at),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.layer.hidden, true),
      activation(at.Child("activation"), Activation::kGelu),
      dropout(at.Child("dropout"), config.classifier_dropout),
      out_proj(at.Child("out_proj", RegionKind::kHead), config.layer.hidden,
               config.labels.count, true) {}

Tensor ElectraSequenceHead::Forward(const Tensor& features) const {
  const Scope scope = module.Enter();
  Tensor x = Select(features, 1, 0);
  x = dropout.Forward(x);
  x = dense.Forward(x);
  x = activation.Forward(x);
  x = dropout.Forward(x);
  return out_proj.Forward(x);
}

Gpt2SummaryConfig ReadElectraSummary(const ConfigView& config, bool needed,
                                     int64_t labels) {
  Gpt2SummaryConfig out;
  CheckFields(config, {{"summary_type", FieldKind::kText},
                       {"summary_use_proj", FieldKind::kFlag},
                       {"summary_activation", FieldKind::kText},
                       {"summary_last_dropout", FieldKind::kNumber}});
  // No fields of the class, but the head looks for them.
  config.Ignore({"summary_proj_to_labels", "summary_first_dropout"});
  if (!needed) return out;
  out.type = config.Text({"summary_type"}, "first");
  out.project = config.Flag({"summary_use_proj"}, true);
  out.project_to_labels = labels > 0 && config.Has("summary_proj_to_labels") &&
                          config.Flag({"summary_proj_to_labels"}, false);
  out.labels = labels;
  const std::string activation = config.Text({"summary_activation"}, "gelu");
  if (!activation.empty()) {
    out.activation = ActivationNamed(config, "summary_activation", activation);
  }
  out.first_dropout = config.Has("summary_first_dropout")
                          ? ReadDropout(config, "summary_first_dropout", 0)
                          : 0;
  out.last_dropout = ReadDropout(config, "summary_last_dropout", 0.1);
  if (out.type == "attn") {
    config.Find("model/summary", Severity::kBlock, "summary_type",
                "summary_type is attn",
                "the class has no such summary and refuses to be built",
                "\"summary_type\": \"first\"");
  }
  return out;
}

}  // namespace foretell
