// The rows of front/train_options.h.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "answers/train_memory.h"
#include "front/run_cost_options.h"
#include "front/step_options.h"
#include "front/train_options.h"

namespace foretell {
namespace {

// Of a step's rows, those that a job says too; the rest it settles.
std::vector<OptionRow> SharedRows() {
  constexpr std::array<std::string_view, 5> kSettled = {
      "mode", "sm", "lora", "first-step", "accumulate"};
  std::vector<OptionRow> out;
  for (OptionRow& row : StepRows()) {
    if (std::ranges::find(kSettled, row.name) != kSettled.end()) continue;
    if (row.name == "seq") row.default_value = "2048";
    if (row.name == "optimizer") {
      row.doc =
          "The optimizer; those of other libraries are bitsandbytes's "
          "(8bit, paged), torchao's, Lion and Muon.";
      std::ranges::copy(OptimizersOfOtherLibraries(),
                        std::back_inserter(row.allowed));
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<OptionRow> MethodRows() {
  return {
      {.name = "method",
       .value = "NAME",
       .doc = "What trains: every parameter, low-rank adapters, or adapters "
              "over weights packed to 4 bits.",
       .allowed = {"full", "lora", "qlora"},
       .default_value = "full"},
      {.name = "rank",
       .value = "N",
       .doc = "The adapters' rank.",
       .default_value = "16",
       .kind = ValueKind::kInteger,
       .aliases = {"lora-rank", "lora-r"}},
      {.name = "targets",
       .value = "NAMES",
       .doc = "Linear layers with an adapter: q_proj+v_proj, or all-linear.",
       .default_value = "all-linear",
       .aliases = {"lora-targets", "target-modules"}},
      {.name = "dora", .doc = "Adapters with a trained magnitude (use_dora)."},
      {.name = "rslora",
       .doc = "Adapters scaled by the root of their rank (use_rslora)."},
      {.name = "saved-modules",
       .value = "NAMES",
       .doc = "Modules of which a whole copy trains beside the adapters: "
              "lm_head+embed_tokens.",
       .aliases = {"modules-to-save"}},
      {.name = "adapter",
       .value = "NAME",
       .doc = "The adapters' element type: float32, as peft makes them, or the "
              "model's.",
       .allowed = {"float32", "model"},
       .default_value = "float32"},
      {.name = "weights",
       .value = "NAME",
       .doc = "How frozen linear layers are packed; --method qlora takes nf4.",
       .allowed = {"none", "nf4", "int8", "gptq"},
       .default_value = "none"},
      {.name = "no-double-quant",
       .doc = "The scales of 4-bit weights stay float32."},
      {.name = "prepare-kbit",
       .doc = "What is not packed becomes float32, as peft's "
              "prepare_model_for_kbit_training makes it."},
      {.name = "loss",
       .value = "NAME",
       .doc = "How the loss is computed: as the class does, by one fused "
              "kernel over the logits, or head and loss together in chunks.",
       .allowed = {"library", "fused", "chunked"},
       .default_value = "library"},
      {.name = "loop",
       .value = "NAME",
       .doc = "What the training loop holds of the forward's output through "
              "the backward: the loss alone, or all of it.",
       .allowed = {"loss", "hold"},
       .default_value = "loss"},
      {.name = "preference",
       .value = "NAME",
       .doc = "A loss over answers, as trl computes it; --batch counts pairs, "
              "of KTO single answers.",
       .allowed = {"none", "dpo", "kto", "orpo", "simpo"},
       .default_value = "none"},
      {.name = "reference",
       .value = "NAME",
       .doc = "What DPO and KTO compare with: another copy of the model, the "
              "model without its adapters, or log-probabilities computed "
              "before. The second is the default with adapters.",
       .allowed = {"model", "adapter-off", "precomputed"}},
      {.name = "packing",
       .value = "NAME",
       .doc = "How samples become a batch: each padded to --seq, or packed "
              "into sequences of --seq, which takes as much; or padding-free, "
              "one row of --batch samples of --mean-seq tokens.",
       .allowed = {"padded", "packed", "padding-free"},
       .default_value = "padded"},
      {.name = "mean-seq",
       .value = "N",
       .doc = "Tokens of a sample on average, with --packing padding-free.",
       .kind = ValueKind::kInteger,
       .most = 100000000},
      {.name = "kernels",
       .value = "NAME",
       .doc = "Fused norms and MLPs: Liger's, or Unsloth's; estimates.",
       .allowed = {"library", "liger", "unsloth"},
       .default_value = "library"},
      {.name = "compile",
       .doc = "Under torch.compile: an estimate with a wide interval."},
      {.name = "fp8",
       .value = "NAME",
       .doc = "Linear layers in 8-bit floats, by Transformer Engine or "
              "torchao; estimates.",
       .allowed = {"none", "te", "torchao"},
       .default_value = "none"},
      {.name = "optimizer-in-backward",
       .doc = "Each gradient is used, and let go, as soon as it is made.",
       .aliases = {"fused-backward"}},
      {.name = "master-weights",
       .doc = "A float32 copy of every parameter that trains; with --fsdp, a "
              "rank's shares are float32 instead, and gradients are reduced in "
              "float32."},
  };
}

std::vector<OptionRow> LayoutRows() {
  return {
      {.name = "gpu",
       .value = "NAME",
       .doc = "The card, by a name such as h100, a100-40gb or mi300x, or a "
              "file that describes it (foretell gpu --device).",
       .suggested = {"h100", "h200", "b200", "a100-80gb", "a100-40gb", "l40s",
                     "l4", "t4", "rtx-4090", "rtx-5090", "mi300x"},
       .aliases = {"device", "card"}},
      {.name = "gpu-mem",
       .value = "GIB",
       .doc = "The memory that a program sees on the card, in GiB, where no "
              "card is named or it has another size."},
      {.name = "fits",
       .doc = "Which method fits which card, instead of one job on one card."},
      {.name = "gpus",
       .value = "N",
       .doc = "How many cards take part.",
       .default_value = "1",
       .kind = ValueKind::kInteger,
       .most = 1000000,
       .aliases = {"num-gpus", "world-size"}},
      {.name = "accumulate",
       .value = "N",
       .doc = "Micro-steps before the optimizer's.",
       .kind = ValueKind::kInteger,
       .most = 1000000,
       .aliases = {"gradient-accumulation-steps", "grad-accum"}},
      {.name = "sync",
       .value = "WHEN",
       .doc = "Which micro-steps' gradients FSDP reduces: each, or the last "
              "alone, as transformers' Trainer has it; a card then holds whole "
              "ones.",
       .allowed = {"each", "last"},
       .default_value = "each"},
      {.name = "global-batch",
       .value = "N",
       .doc = "Sequences of all cards and micro-steps together.",
       .kind = ValueKind::kInteger,
       .most = 1000000000,
       .aliases = {"global-batch-size"}},
      {.name = "fsdp",
       .value = "VERSION",
       .doc = "Divide parameters, gradients and states by PyTorch's FSDP.",
       .allowed = {"1", "2"}},
      {.name = "zero",
       .value = "STAGE",
       .doc = "Divide them by DeepSpeed's ZeRO: states, gradients, parameters.",
       .allowed = {"0", "1", "2", "3"}},
      {.name = "eval-batch",
       .value = "N",
       .doc = "Sequences of an evaluation's batch; the micro-batch where "
              "absent.",
       .kind = ValueKind::kInteger,
       .most = 1000000,
       .aliases = {"per-device-eval-batch-size"}},
      {.name = "eval-batches",
       .value = "N",
       .doc = "Batches of an evaluation whose logits stay on the card, as they "
              "do with compute_metrics; the loss alone is kept where absent.",
       .kind = ValueKind::kInteger,
       .most = 1000000,
       .aliases = {"eval-accumulation-steps"}},
      {.name = "timeline",
       .value = "FILE",
       .doc = "Write the memory of the run's stages over their operations: a "
              "picture where FILE ends with .svg, numbers where with .json.",
       .completion = Completion::kPath},
      {.name = "offload",
       .value = "WHAT",
       .doc =
           "What lives on the host between its uses: the optimizer's states, "
           "with them the parameters, or what autograd keeps.",
       .allowed = {"none", "optimizer", "parameters", "activations"},
       .default_value = "none"},
      {.name = "workers",
       .value = "N",
       .doc = "Processes that load data, for each card.",
       .default_value = "0",
       .kind = ValueKind::kInteger,
       .least = 0,
       .most = 1024,
       .aliases = {"dataloader-num-workers", "num-workers"}},
      {.name = "host-mem",
       .value = "GIB",
       .doc = "The host's memory, in GiB, for all of its cards: whether it is "
              "enough."},
  };
}

}  // namespace

std::vector<OptionRow> TrainRows() {
  std::vector<OptionRow> out = LayoutRows();
  for (const auto& rows :
       {RunCostRows(), MethodRows(), BuildRows(), SharedRows()}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace foretell
