#include "answers/serving_fit.h"

#include <algorithm>

#include "answers/serving_memory.h"

namespace foretell {
namespace {

bool IsAccepted(const vllm::KvPlan& plan) {
  return plan.verdict == vllm::KvVerdict::kAccepted;
}

Bytes TotalOf(const ServingCard& card) {
  if (card.runtime_bytes <= 0) {
    return Bytes::Unknown("the card's memory");
  }
  if (card.is_estimated) {
    return Bytes::Estimated(static_cast<double>(card.runtime_bytes),
                            static_cast<double>(card.runtime_low),
                            static_cast<double>(card.runtime_high),
                            card.source);
  }
  return Bytes::Measured(static_cast<double>(card.runtime_bytes),
                         static_cast<double>(card.runtime_low),
                         static_cast<double>(card.runtime_high),
                         "the catalogue of accelerators");
}

}  // namespace

bool IsLengthFitted(const Launch& launch) {
  const LaunchSetting* length = launch.Find("max_model_len");
  return length != nullptr && length->value.AsInteger() == -1;
}

ServingFit FitServing(const ModelConfig& config,
                      const ServingSettings& settings, const ServingCard& card,
                      bool is_length_fitted) {
  ServingFit out;
  out.total = TotalOf(card);
  out.memory = ServingMemory(config, settings, out.total,
                             {.is_v1 = settings.is_v1,
                              .is_nvidia = card.vendor == "nvidia",
                              .is_amd = card.vendor == "amd",
                              .capability = card.capability,
                              .is_unified = card.unified});
  out.fit.length = settings.max_model_len;
  if (settings.is_attention_free && settings.is_pooling) {
    out.fit.fits = true;  // nothing is kept from step to step
    return out;
  }
  const AnyFigure& left = out.memory.cache.any();
  const bool is_known = !left.is_unknown() && left.low() && left.high();
  if (is_known) {
    out.fit.has_left = true;
    out.fit.left_low = static_cast<int64_t>(*left.low());
    out.fit.left_high = static_cast<int64_t>(*left.high());
  }
  out.cache = vllm::AccountKvCache(config, settings, card);
  if (!out.cache.fault.empty()) {
    out.fit.missing = "what the KV cache needs: " + out.cache.fault;
    return out;
  }
  if (out.cache.input.grouping.fault) {
    out.fit.reason = *out.cache.input.grouping.fault;
    out.fit.fails = true;
    return out;
  }
  if (!is_known) {
    out.fit.missing = "how much memory is left for the KV cache";
    if (!left.missing().empty()) {
      out.fit.missing += " (" + left.missing().front() + ")";
    }
    return out;
  }
  const auto plan = [&](double bytes) {
    return vllm::PlanKvCache(out.cache,
                             static_cast<int64_t>(std::max(0.0, bytes)),
                             is_length_fitted);
  };
  for (const double bytes :
       {*left.low(), left.value().value_or(0), *left.high()}) {
    out.plans.push_back(plan(bytes));
  }
  const vllm::KvPlan& low = out.plans.front();
  const vllm::KvPlan& high = out.plans.back();
  for (const vllm::KvPlan& one : out.plans) {
    out.fit.needed_bytes = std::max(out.fit.needed_bytes, one.needed_bytes);
  }
  out.fit.estimated_length = out.plans[1].estimated_length;
  out.fit.fits = IsAccepted(low) && IsAccepted(high);
  out.fit.fails =
      !IsAccepted(high) && !IsAccepted(plan(*left.high() + out.memory.doubt));
  return out;
}

}  // namespace foretell
