// The rows of front/step_options.h.
#include "front/step_options.h"

namespace foretell {
namespace {

std::vector<OptionRow> SizeRows() {
  return {
      {.name = "mode",
       .value = "NAME",
       .doc =
           "What runs: train is forward, loss, backward and optimizer; forward "
           "all logits without gradients; prefill the same with a cache and "
           "the last logits only; decode one token against a cache of --seq "
           "tokens.",
       .allowed = {"train", "forward", "prefill", "decode"},
       .default_value = "train"},
      {.name = "batch",
       .value = "N",
       .doc = "Sequences at a time (micro-batch).",
       .default_value = "1",
       .kind = ValueKind::kInteger,
       .aliases = {"micro-batch", "micro-batch-size", "batch-size", "mbs",
                   "per-device-train-batch-size"}},
      {.name = "seq",
       .value = "N",
       .doc = "Tokens of each sequence.",
       .default_value = "128",
       .kind = ValueKind::kInteger,
       .aliases = {"seq-len", "seqlen", "seq-length", "sequence-length",
                   "max-seq-len", "max-length"}},
      {.name = "tgt",
       .value = "N",
       .doc = "Tokens that the decoder of an encoder-decoder writes, or in a "
              "decode "
              "has written; as many as --seq where absent.",
       .kind = ValueKind::kInteger,
       .aliases = {"target", "target-len", "tgt-len", "max-target-length"}},
      {.name = "mask",
       .doc = "Pass an attention mask, as a collator that pads does; it is "
              "taken to be full.",
       .aliases = {"attention-mask"}},
  };
}

std::vector<OptionRow> KernelRows() {
  return {
      {.name = "autocast",
       .value = "NAME",
       .doc = "The element type of torch.autocast around the forward.",
       .allowed = {"none", "bfloat16", "float16"},
       .default_value = "none",
       .aliases = {"amp", "mixed-precision"}},
      {.name = "attn",
       .value = "NAME",
       .doc = "The attention implementation; flash2 and flash3 are estimates.",
       .suggested = {"eager", "sdpa", "flash2", "flash3"},
       .default_value = "sdpa",
       .aliases = {"attention", "attn-implementation"}},
      {.name = "experts",
       .value = "NAME",
       .doc = "How a mixture of experts multiplies: all at once, or one expert "
              "after another.",
       .allowed = {"grouped_mm", "eager"},
       .default_value = "grouped_mm",
       .aliases = {"experts-implementation"}},
      {.name = "sm",
       .value = "NUMBER",
       .doc =
           "The card's compute capability, which decides PyTorch's kernels: 90 "
           "is Hopper, 80 A100, 75 T4.",
       .allowed = {"75", "80", "86", "89", "90", "100"},
       .default_value = "90",
       .aliases = {"compute-capability", "capability"}},
  };
}

std::vector<OptionRow> TrainingRows() {
  return {
      {.name = "checkpoint",
       .value = "WHAT",
       .value_optional = true,
       .doc =
           "What is not kept but runs again in the backward: full is every "
           "block (gradient checkpointing, non-reentrant), every:2 every "
           "second one, selective what torchtitan's choice of operators does "
           "not keep, selective:attention attention's scores alone, as "
           "Megatron's.",
       .allowed = {"none", "full", "selective", "selective:attention",
                   "every:2", "every:3", "every:4", "every:6", "every:8"},
       .default_value = "none",
       .aliases = {"gradient-checkpointing", "activation-checkpointing",
                   "recompute"}},
      {.name = "lora",
       .value = "TEXT",
       .doc =
           "Train low-rank adapters only: r=16,targets=q_proj+v_proj, with "
           "alpha=, dropout= and adapter= (float32, or model for the model's "
           "dtype); targets=all-linear takes every linear layer."},
      {.name = "freeze",
       .value = "PREFIXES",
       .doc = "Parameters whose names begin so take no gradient; several by "
              "commas.",
       .aliases = {"frozen"}},
      {.name = "optimizer",
       .value = "NAME",
       .doc = "The optimizer, with its library's defaults.",
       .allowed = {"none", "sgd", "adamw_fused", "adamw_foreach", "adamw_loop",
                   "adafactor"},
       .default_value = "adamw_fused",
       .aliases = {"optim", "optimiser"}},
      {.name = "accumulate",
       .value = "N",
       .doc = "Micro-batches whose gradients are added up before the optimizer "
              "steps. The figures are the last one's, and the optimizer's.",
       .default_value = "1",
       .kind = ValueKind::kInteger,
       .aliases = {"gradient-accumulation-steps", "grad-accum",
                   "accumulate-grad-batches"}},
      {.name = "first-step",
       .doc = "The step in which the optimizer makes its states, instead of a "
              "later one."},
  };
}

std::vector<OptionRow> VersionRows() {
  return {
      {.name = "transformers",
       .value = "VERSION",
       .doc = "The version of transformers: 4.57 and 5.23 are followed, "
              "another takes the nearest and says so.",
       .default_value = "5.23"},
      {.name = "torch",
       .value = "VERSION",
       .doc = "The version of PyTorch.",
       .default_value = "2.15"},
  };
}

}  // namespace

std::vector<OptionRow> BuildRows() {
  return {{.name = "class",
           .value = "NAME",
           .doc = "The model class to build, where it is not the "
                  "configuration's first architecture.",
           .aliases = {"architecture", "arch"}},
          {.name = "task",
           .value = "NAME",
           .doc = "The library's class of the model type for a task, in place "
                  "of --class.",
           .suggested = {"base", "causal-lm", "masked-lm",
                         "sequence-classification", "token-classification",
                         "question-answering", "conditional-generation"}},
          {.name = "layers",
           .value = "N",
           .doc = "Build this many layers only; all of them where absent.",
           .kind = ValueKind::kInteger,
           .aliases = {"num-layers", "num-hidden-layers", "n-layers"}},
          {.name = "dtype",
           .value = "NAME",
           .doc = "The parameters' element type, in PyTorch's name or its "
                  "short form; the configuration's own where absent.",
           .suggested = {"float32", "bfloat16", "float16"},
           .aliases = {"torch-dtype", "precision"}}};
}

std::vector<OptionRow> StepRows() {
  std::vector<OptionRow> out = SizeRows();
  for (const auto& rows : {KernelRows(), TrainingRows(), VersionRows()}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace foretell
