// The set `engine_kv`: vLLM's own planning of the KV cache, for a launch whose
// model was built and several free memories.
//
// A plan gives four quantities: its groups (kind, layers, block size and page
// bytes of each, in order), the blocks, the printed tokens with the printed
// concurrency, and whether it is refused with what is needed and the length
// that would fit.
#include <fmt/format.h>

#include <string>

#include "answers/score/launch_words.h"
#include "answers/score/score_sets.h"
#include "engines/vllm/kv_account.h"

namespace foretell {
namespace {

// The recorder lends a launch so many cards.
constexpr int64_t kRecordedCards = 16;

std::string Quantity(size_t plan, std::string_view what) {
  return fmt::format("plan {} {}", plan, what);
}

std::string GroupText(const std::vector<vllm::KvGroup>& groups) {
  std::string out;
  for (const vllm::KvGroup& group : groups) {
    int64_t page = vllm::PageBytes(group.spec);
    if (group.is_mixed) {
      page = 0;
      for (const vllm::KvLayer& layer : group.layers) {
        page = vllm::Plus(page, vllm::PageBytes(layer.spec));
      }
    }
    out += fmt::format(
        "{}{} x{} block {} page {}", out.empty() ? "" : "; ",
        group.is_mixed ? "UniformTypeKVCacheSpecs" : NameOf(group.spec.kind),
        group.layers.size(), group.spec.block_size, page);
  }
  return out;
}

// As vLLM prints it: Python's round to two decimals.
std::string Gib(double bytes) {
  return fmt::format("{:.2f}", bytes / 1073741824.0);
}

std::string RefusalText(std::string_view needed, int64_t length) {
  return fmt::format("refused, {} GiB needed, {} would fit", needed, length);
}

const ConfigValue* Items(const ConfigValue& row, std::string_view key) {
  const ConfigValue* value = row.Find(key);
  return value != nullptr && value->is_array() ? value : nullptr;
}

}  // namespace

Prediction PredictEngineKv(const ScoreInput& input) {
  const ConfigValue& fields = input.settings.fields();
  const ConfigValue* plans = Items(fields, "plans");
  if (plans == nullptr || plans->items().empty()) {
    return LeftOut{"the row has no plans"};
  }
  if (input.config == nullptr) return LeftOut{input.no_config};
  std::vector<std::string> argv;
  if (const ConfigValue* words = Items(fields, "argv")) {
    for (const ConfigValue& word : words->items()) {
      argv.emplace_back(word.AsString().value_or(""));
    }
  }
  const auto version =
      ParseEngineVersion(input.settings.Text("version").value_or(""));
  const auto launch = ReadRecordedLaunch(
      input, argv, input.settings.Text("card").value_or(""),
      version.value_or(EngineVersion{0, 33, 0}), kRecordedCards);
  if (!launch) return LeftOut{"a card that the catalogue lacks"};
  const vllm::KvAccount account =
      vllm::AccountKvCache(launch->model, launch->settings, launch->card);
  std::vector<Predicted> out;
  for (size_t i = 0; i < plans->items().size(); ++i) {
    const ConfigValue* bytes = plans->items()[i].Find("available_bytes");
    const int64_t available =
        bytes == nullptr ? 0 : bytes->AsInteger().value_or(0);
    if (!account.fault.empty()) {
      for (const std::string_view what :
           {"groups", "blocks", "print", "refusal"}) {
        out.push_back({Quantity(i, what), account.fault, account.fault});
      }
      continue;
    }
    const vllm::KvPlan plan =
        PlanKvCache(account, available, launch->is_length_fitted);
    if (plan.verdict != vllm::KvVerdict::kAccepted) {
      const std::string text =
          plan.verdict == vllm::KvVerdict::kTooLong
              ? RefusalText(Gib(static_cast<double>(plan.needed_bytes)),
                            plan.estimated_length)
              : "refused, " + plan.reason;
      for (const std::string_view what : {"groups", "blocks", "print"}) {
        out.push_back({Quantity(i, what), text});
      }
      out.push_back({Quantity(i, "refusal"), text});
      continue;
    }
    out.push_back({Quantity(i, "groups"), GroupText(plan.groups)});
    out.push_back({Quantity(i, "blocks"), fmt::format("{}", plan.blocks)});
    out.push_back({Quantity(i, "print"),
                   plan.groups.empty()
                       ? "nothing"
                       : fmt::format("{} tokens, {:.2f}x", plan.printed_tokens,
                                     plan.concurrency)});
    out.push_back({Quantity(i, "refusal"), "accepted"});
  }
  return out;
}

std::vector<Measured> MeasureEngineKv(const ConfigValue& row) {
  std::vector<Measured> out;
  const ConfigValue* plans = Items(row, "plans");
  if (plans == nullptr) return out;
  for (size_t i = 0; i < plans->items().size(); ++i) {
    const ConfigValue& plan = plans->items()[i];
    const auto integer = [&](const ConfigValue& of, std::string_view key) {
      const ConfigValue* value = of.Find(key);
      return value == nullptr ? 0 : value->AsInteger().value_or(0);
    };
    const ConfigValue* accepted = plan.Find("accepted");
    if (accepted == nullptr) continue;
    if (!accepted->AsBool().value_or(false)) {
      const ConfigValue* needed = plan.Find("needed_gib");
      // Refused for another reason: only that it is refused can be told.
      const std::string text =
          needed == nullptr
              ? "refused, "
              : RefusalText(fmt::format("{:.2f}", needed->AsReal().value_or(0)),
                            integer(plan, "estimated_max_model_len"));
      out.push_back(MeasuredText(Quantity(i, "refusal"), text, {"refusal"}));
      continue;
    }
    std::string groups;
    if (const ConfigValue* listed = Items(plan, "groups")) {
      for (const ConfigValue& group : listed->items()) {
        const ConfigValue* kind = group.Find("kind");
        groups +=
            fmt::format("{}{} x{} block {} page {}", groups.empty() ? "" : "; ",
                        kind == nullptr ? "" : kind->AsString().value_or(""),
                        integer(group, "layers"), integer(group, "block_size"),
                        integer(group, "page_size_bytes"));
      }
    }
    out.push_back(MeasuredText(Quantity(i, "groups"), groups, {"groups"}));
    out.push_back(MeasuredText(Quantity(i, "blocks"),
                               fmt::format("{}", integer(plan, "num_blocks")),
                               {"blocks"}));
    const ConfigValue* print = plan.Find("printed_concurrency");
    // vLLM prints a line once: an equal one of an earlier plan is not repeated.
    if (print != nullptr || groups.empty()) {
      out.push_back(MeasuredText(
          Quantity(i, "print"),
          print == nullptr
              ? "nothing"
              : fmt::format("{} tokens, {}x", integer(plan, "printed_tokens"),
                            print->AsString().value_or("")),
          {"print"}));
    }
    out.push_back(
        MeasuredText(Quantity(i, "refusal"), "accepted", {"verdict"}));
  }
  return out;
}

}  // namespace foretell
