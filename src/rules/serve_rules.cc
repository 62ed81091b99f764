#include "rules/serve_rules.h"

#include <array>

namespace foretell {
namespace {

constexpr std::array<ServeRule, 21> kRules = {{
    {"serve/flags", "flags",
     "Reads every flag as the version's own parser does: unknown, misspelt, "
     "removed and future flags, values of the wrong kind, JSON that does not "
     "parse.",
     RuleRefusals},
    {"serve/files", "files",
     "Looks for the files that a flag or a quantization method reads.",
     RuleRefusals},
    {"serve/remote-code", "remote-code",
     "Tells where a model's own classes would have to run and are not allowed "
     "to.",
     RuleRefusals},
    {"serve/architecture", "architecture",
     "Compares the configuration's classes and model types with those that the "
     "version and its transformers serve.",
     RuleRefusals},
    {"serve/dtype", "dtype",
     "Holds the precision against the card and the model's class.",
     RuleRefusals},
    {"serve/context-length", "context-length",
     "Holds the served length against the model's own, with its rotary "
     "scaling.",
     RuleRefusals},
    {"serve/quantization", "quantization",
     "Matches the quantization method with the checkpoint, the card and the "
     "precision.",
     RuleRefusals},
    {"serve/kv-cache-dtype", "kv-cache-dtype",
     "Holds the cache's precision against the version and the model.",
     RuleRefusals},
    {"serve/memory-settings", "memory-settings",
     "Checks the share of memory that the engine may take.", RuleRefusals},
    {"serve/gpu-count", "gpu-count",
     "Compares the ranks with the cards that are there.", RuleRefusals},
    {"serve/parallel-divisibility", "parallel-divisibility",
     "Divides heads, ranks, experts, MLPs and the blocks of quantized weights "
     "by the parallel sizes.",
     RuleRefusals},
    {"serve/parallel-unsupported", "parallel-unsupported",
     "Tells where a class or a layout lacks a kind of parallelism.",
     RuleRefusals},
    {"serve/speculative", "speculative",
     "Checks a draft: its method, its model, its tokens, its ranks.",
     RuleRefusals},
    {"serve/batch-limits", "batch-limits",
     "Holds batched tokens, sequences and chunks against each other.",
     RuleRefusals},
    {"serve/lora", "lora", "Checks the adapters' sizes and the class.",
     RuleRefusals},
    {"serve/attention-backend", "attention-backend",
     "Looks the attention backend up, and what microbatches need.",
     RuleRefusals},
    {"serve/hardware", "hardware",
     "Tells what the card cannot do although the settings are accepted.",
     RuleRefusals},
    {"serve/settings", "other",
     "What the engine refuses beyond the other rules: sizes below one, parsers "
     "without their flag, connectors.",
     RuleRefusals},
    {"serve/weights-fit", "",
     "Compares a rank's weights with the engine's share of the card.",
     RuleWeightsFit},
    {"serve/kv-cache-fit", "",
     "Plans the KV cache in what is left of the card and asks whether one "
     "request of the served length fits.",
     RuleCacheFit},
    {"serve/preemption", "",
     "Compares the sequences that the scheduler lets in with the requests of "
     "the asked length that the cache holds at once.",
     RulePreemption},
}};

}  // namespace

std::span<const ServeRule> ServeRules() { return kRules; }

}  // namespace foretell
