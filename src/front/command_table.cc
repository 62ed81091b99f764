#include "front/command_table.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "answers/quantized_model.h"
#include "base/check.h"
#include "front/hub_options.h"
#include "front/kept_runs.h"
#include "front/run_completion.h"
#include "front/run_gpus.h"
#include "front/run_graph.h"
#include "front/run_help.h"
#include "front/run_model.h"
#include "front/run_models.h"
#include "front/run_runs.h"
#include "front/run_schema.h"
#include "front/run_serve.h"
#include "front/run_speed.h"
#include "front/run_step.h"
#include "front/run_train.h"
#include "front/run_verify.h"
#include "front/score_commands.h"
#include "front/step_options.h"
#include "front/train_options.h"
#include "front/version.h"
#include "report/present_graph.h"
#include "report/present_model.h"
#include "report/present_models.h"
#include "report/present_serve.h"
#include "report/present_step.h"
#include "report/present_train.h"
#include "report/present_verify.h"
#include "report/render.h"

namespace foretell {
namespace {

ArgumentRow TargetArgument() {
  return {.name = "TARGET",
          .doc =
              "A model id (Qwen/Qwen3-8B), a config.json, or a directory that "
              "holds one. An id is looked up in the hub's cache (HF_HOME), in "
              "the catalogue, and only then at the hub (HF_ENDPOINT, "
              "HF_TOKEN).",
          .completion = Completion::kModelId};
}

OptionRow Named(std::string_view name, std::vector<OptionRow> rows) {
  const auto row = std::ranges::find(rows, name, &OptionRow::name);
  FORETELL_CHECK(row != rows.end(), "no shared option " + std::string(name));
  return *row;
}

std::vector<OptionRow> Joined(std::vector<std::vector<OptionRow>> lists) {
  std::vector<OptionRow> out;
  for (std::vector<OptionRow>& list : lists) {
    std::ranges::move(list, std::back_inserter(out));
  }
  return out;
}

CommandRow ModelCommand() {
  return {
      .name = "model",
      .summary = "what a model is made of",
      .description =
          "Tells from a configuration alone which tensors the model has, "
          "under the names and shapes of its own state_dict: parameters, "
          "buffers, tied tensors and the bytes of a checkpoint. No weights "
          "are read and nothing is run.\n\n"
          "Where weights lie beside the configuration, or are the target, "
          "their headers tell the bytes that are really stored, and whether "
          "the tensors are those derived.",
      .arguments = {TargetArgument()},
      .options = Joined(
          {{Named("class", BuildRows()),
            Named("task", BuildRows()),
            Named("dtype", BuildRows()),
            {.name = "against",
             .value = "CHECKPOINT",
             .doc = "Compare the derived tensors with the headers of a "
                    "checkpoint, name by name: a folder, a file of weights, "
                    "an index, or a repository of the hub (OWNER/NAME, "
                    "OWNER/NAME@REVISION), of which the headers alone are "
                    "fetched. The exit status is 1 where they differ.",
             .completion = Completion::kPath},
            {.name = "quant",
             .value = "NAMES",
             .doc = "Tell the bytes in these formats too, in the file and in "
                    "memory: awq, gptq, nf4, fp8, Q4_K_M, …, split by commas.",
             .suggested = QuantizationNames(),
             .repeatable = true,
             .aliases = {"quantization"}},
            {.name = "tensors",
             .doc = "List the tensors, those of equal layers folded into one "
                    "line."},
            {.name = "explain",
             .value = "WHAT",
             .value_optional = true,
             .doc = "Show how the figures come about.",
             .allowed = {"params"}}},
           HubRows()}),
      .examples = {{"foretell model Qwen/Qwen3-8B",
                    "Parameters, tied tensors and bytes of a catalogue model."},
                   {"foretell model meta-llama/Llama-3.1-8B-Instruct "
                    "--revision 0e9e39f",
                    "One commit of a repository, from the hub's cache or the "
                    "hub."},
                   {"foretell model ./config.json --explain params",
                    "How the parameter count of one's own design comes "
                    "about, term by term."},
                   {"foretell model ./Qwen3-30B-A3B-Q4_K_M.gguf",
                    "A GGUF file alone: its metadata is the configuration."},
                   {"foretell model openai/gpt-oss-20b --against ./weights",
                    "Whether the files hold the tensors that the "
                    "configuration derives."},
                   {"foretell model Qwen/Qwen2.5-72B --quant awq,nf4,Q4_K_M",
                    "Bytes of its weights in three quantizations."},
                   {"foretell model openai-community/gpt2 --tensors --json",
                    "Names and shapes of all tensors, for a program."}},
      .shape = ModelShape,
      .run = RunModel};
}

CommandRow ModelsCommand() {
  return {
      .name = "models",
      .summary = "which models the catalogue knows",
      .description =
          "Lists the catalogue's models whose id, class or family holds "
          "every given word; all of them where none is given.",
      .arguments = {{.name = "WORD",
                     .doc = "A part of an id, class or family, in any "
                            "case.",
                     .optional = true,
                     .repeatable = true}},
      .examples = {{"foretell models", "The whole catalogue."},
                   {"foretell models qwen3 8b", "Models that both words fit."}},
      .shape = ModelsShape,
      .run = RunModels};
}

CommandRow VerifyCommand() {
  return {
      .name = "verify",
      .summary = "compare with recordings of PyTorch, figure by figure",
      .description =
          "Compiles every recorded case anew and compares each figure with "
          "what PyTorch itself did. Rows that cannot be compared are counted "
          "with the reason.\n\n"
          "The exit status is 1 where any compared figure differs, also where "
          "a row that PyTorch builds is refused here or nothing was compared.",
      .arguments = {{.name = "FILE",
                     .doc = "Recorded cases, one JSON object a line, or one "
                            "recorded trace (.jsonl.gz), compared operator "
                            "by operator.",
                     .completion = Completion::kPath}},
      .options = {{.name = "configs",
                   .value = "DIR",
                   .doc = "Where the configurations lie that the cases name; "
                          "else ../shared/configs, a folder `configs` beside "
                          "one above FILE, or the catalogue.",
                   .completion = Completion::kDirectory,
                   .aliases = {"config-dir"}}},
      .examples = {{"foretell verify tests/truth/params.jsonl",
                    "Parameters, tensors, buffers and ties of every recorded "
                    "class."}},
      .shape = VerifyShape,
      .run = RunVerify};
}

CommandRow ServeCommand() {
  return {
      .name = "serve",
      .summary = "whether a launch of a serving engine starts, and with what",
      .description =
          "Reads a launch of vLLM as its version reads it and says what its "
          "own "
          "validation would say: accepted, with the settings it ends with, or "
          "refused, and what mends it. The launch stands behind `--`; a model "
          "before it takes the place of the launch's own. Nothing is run.\n\n"
          "The exit status is 1 where the engine would refuse the launch.",
      .arguments = {{.name = "LAUNCH",
                     .doc =
                         "The command that starts the engine: `vllm serve …`, "
                         "`python -m vllm.entrypoints.openai.api_server …` or "
                         "`docker run … vllm/vllm-openai …`.",
                     .optional = true,
                     .repeatable = true,
                     .completion = Completion::kModelId}},
      .options =
          {{.name = "gpu",
            .value = "NAME",
            .doc = "The card, by the name that people use.",
            .aliases = {"card"}},
           {.name = "gpus",
            .value = "N",
            .doc = "How many cards there are; else what the launch says, else "
                   "one.",
            .kind = ValueKind::kInteger,
            .most = 65536},
           {.name = "gpu-mem",
            .value = "GIB",
            .doc = "Memory of one card as its runtime reports it, in GiB: of a "
                   "MIG slice, under WSL."},
           {.name = "engine-version",
            .value = "VERSION",
            .doc =
                "The engine's version; else an image's tag, else the newest."},
           {.name = "against",
            .value = "VERSION",
            .doc = "Another version to compare with."},
           {.name = "isl",
            .value = "TOKENS",
            .doc = "Tokens of a prompt, to tell how many requests the cache "
                   "holds.",
            .kind = ValueKind::kInteger,
            .most = 1 << 30},
           {.name = "osl",
            .value = "TOKENS",
            .doc = "Tokens of an answer, beside --isl.",
            .kind = ValueKind::kInteger,
            .most = 1 << 30},
           {.name = "sensitivity",
            .doc = "Show the KV cache as one flag of the launch moves."},
           {.name = "explain",
            .value = "WHAT",
            .value_optional = true,
            .doc = "Show how the KV cache's figures come about.",
            .allowed = {"kv"}},
           {.name = "want",
            .value = "GOAL",
            .doc = "Find the flags that serve so many requests of so many "
                   "tokens at once: concurrency=64,len=8192."},
           {.name = "settings",
            .doc = "Show every setting that the engine ends with."},
           {.name = "configs",
            .value = "DIR",
            .doc = "Where models' configurations lie, beside the catalogue.",
            .completion = Completion::kDirectory},
           Named("offline", HubRows())},
      .examples = {{"foretell serve --gpu l4 --gpus 4 -- vllm serve "
                    "Qwen/Qwen3-8B -tp 3",
                    "The refusal that vLLM would end with, and a size that "
                    "divides the heads."},
                   {"foretell serve --gpu h100 --against 0.19 -- vllm serve "
                    "openai/gpt-oss-20b",
                    "What changes between two versions."}},
      .shape = ServeShape,
      .run = RunServe};
}

CommandRow StepCommand() {
  return {
      .name = "step",
      .summary = "what one step takes: memory, FLOPs, and where the peak is",
      .description =
          "Compiles one step of training or inference on one device into the "
          "operations that eager PyTorch executes, and tells the peak of "
          "memory, the operation and module that reach it, what lives then, "
          "the FLOPs and what autograd keeps.\n\n"
          "Where the report says Exact: yes, every figure is claimed to equal "
          "what PyTorch itself reports for its tensors. Workspaces of "
          "libraries, the allocator's rounding and the driver's context are "
          "in no figure.",
      .arguments = {TargetArgument()},
      .options = Joined(
          {BuildRows(),
           StepRows(),
           {{.name = "by",
             .value = "NAME",
             .doc = "Break down by region of the model or by operator; JSON "
                    "holds both.",
             .allowed = {"region", "operator"},
             .default_value = "region"},
            {.name = "reconcile",
             .value = "NAME",
             .doc = "Set the step's FLOPs under other conventions beside NAME, "
                    "and tell from 6 N D what leads to what is executed.",
             .allowed = {"torch", "torch-host", "executed", "model", "causal",
                         "macs", "6ND", "6ND-tables", "6ND-active", "PaLM"},
             .aliases = {"flops-convention"}},
            {.name = "timeline",
             .value = "FILE",
             .doc = "Write the memory over the step's operations: a picture "
                    "where FILE ends with .svg, numbers where with .json.",
             .completion = Completion::kPath}},
           HubRows()}),
      .examples =
          {{"foretell step openai-community/gpt2 --batch 2 --seq 512 --dtype "
            "bfloat16",
            "One training step: the peak, and what lives then."},
           {"foretell step Qwen/Qwen3-8B --seq 4096 --checkpoint full "
            "--timeline memory.svg",
            "With recomputation, and a picture of the memory over time."},
           {"foretell step Qwen/Qwen3-0.6B --lora r=16,targets=q_proj+v_proj",
            "Adapters on a frozen model."},
           {"foretell step Qwen/Qwen3-8B --reconcile 6ND",
            "Why 6 N D and a counter of FLOPs differ, term by term."}},
      .shape = StepShape,
      .run = RunStep};
}

CommandRow TrainCommand() {
  return {
      .name = "train",
      .summary = "whether a training job fits its card, and what makes it fit",
      .description =
          "Compiles the job's step into the operations that PyTorch executes, "
          "lays over it what the job adds (packed weights, a fused loss, a "
          "rank's share of a divided model), and tells whether the peak fits "
          "the card, what fills it, the largest micro-batch with the "
          "accumulation that keeps the global batch, and what each other "
          "change would give, the least invasive first.\n\n"
          "Tensors' bytes are derived; workspaces, the allocator's holes and "
          "the context are estimates with intervals. Where the intervals leave "
          "a doubt the verdict is: cannot tell.",
      .arguments = {TargetArgument()},
      .options = Joined({TrainRows(), {RunsRow()}, HubRows()}),
      .examples =
          {{"foretell train Qwen/Qwen3-8B --gpu h100 --batch 8 --seq 4096",
            "Whether full training fits, and what would make it fit."},
           {"foretell train Qwen/Qwen3-8B --method qlora --gpu rtx-4090 --seq "
            "2048",
            "Adapters over 4-bit weights on a card of 24 GB."},
           {"foretell train meta-llama/Llama-3.1-70B --gpu h100 --gpus 32 "
            "--fsdp 2",
            "One card's share of a job that 32 cards divide."},
           {"foretell train Qwen/Qwen3-4B --fits",
            "Which method fits which card."}},
      .shape = TrainShape,
      .run = RunTrain};
}

CommandRow GraphCommand() {
  return {
      .name = "graph",
      .summary = "which operations a model executes, in order",
      .description =
          "Prints the sequence of tensor operations that PyTorch would "
          "execute in eager mode for one step, dropout and loss included, with "
          "shapes, dtypes and the module that each belongs to: of the forward, "
          "or as far as --after says.",
      .arguments = {TargetArgument()},
      .options = Joined({{{.name = "after",
                           .value = "PHASE",
                           .doc = "Stop behind this phase.",
                           .allowed = {"forward", "backward", "optimizer"},
                           .default_value = "forward"}},
                         BuildRows(),
                         StepRows(),
                         HubRows()}),
      .examples = {{"foretell graph Qwen/Qwen3-8B --layers 1 --seq 16",
                    "One block's operations on sixteen tokens."},
                   {"foretell graph Qwen/Qwen3-0.6B --layers 1 "
                    "--after=backward",
                    "The same with what autograd executes."},
                   {"foretell graph openai-community/gpt2 --attn eager",
                    "Attention as separate matrix products."}},
      .shape = GraphShape,
      .run = RunGraph};
}

CommandRow CompletionCommand() {
  return {.name = "completion",
          .summary = "print the completion script of a shell",
          .description =
              "Prints a script that completes commands, options, allowed "
              "values and model ids. Load it from the shell's start file.",
          .arguments = {{.name = "SHELL",
                         .doc = "For which shell.",
                         .allowed = {"bash", "zsh", "fish"}}},
          .examples = {{"source <(foretell completion bash)",
                        "Completion in this bash."},
                       {"foretell completion fish > "
                        "~/.config/fish/completions/foretell.fish",
                        "Completion in every fish from now on."}},
          .run = RunCompletion};
}

CommandRow SchemaCommand() {
  return {.name = "schema",
          .summary = "print the JSON schema of a command's answer",
          .description =
              "Prints the JSON Schema (2020-12) of what the command prints "
              "with --json. `errors` names what every command prints where "
              "the input cannot be read.",
          .arguments = {{.name = "COMMAND",
                         .doc = "The command, or `errors`.",
                         .completion = Completion::kCommand}},
          .examples = {{"foretell schema model",
                        "What `foretell model --json` prints."}},
          .run = RunSchema};
}

CommandRow HelpCommand() {
  return {.name = "help",
          .summary = "say how a command is used",
          .description =
              "Prints what --help prints: of the command, or of the program "
              "where none is named.",
          .arguments = {{.name = "COMMAND",
                         .doc = "The command.",
                         .optional = true,
                         .completion = Completion::kCommand}},
          .examples = {{"foretell help model",
                        "Arguments, options and examples of `model`."}},
          .run = RunHelp};
}

CommandRow CompleteIdsCommand() {
  return {.name = "complete-ids",
          .summary = "list the model ids that begin so, for the shells",
          .description = "Called by the completion scripts.",
          .arguments = {{.name = "PREFIX",
                         .doc = "How the ids begin; all of them where absent.",
                         .optional = true}},
          .run = RunCompleteIds,
          .hidden = true};
}

}  // namespace

const CommandTable& Commands() {
  static const CommandTable table = {
      .program = "foretell",
      .version = kVersion,
      .summary = "tells what a model needs before it takes a GPU",
      .description =
          "Answers from a model's configuration alone, without running it: "
          "the step is compiled into the operations that the framework would "
          "execute, and every figure says whether it is exact, measured, "
          "estimated or unknown.\n\n"
          "The exit status is 0 where nothing blocks, 1 where something "
          "blocks or differs, 2 where the input cannot be read or the "
          "command line is wrong, and 3 for a bug of Foretell.",
      .global_options = GlobalOptions(),
      .commands = {ModelCommand(), TrainCommand(), StepCommand(),
                   ModelsCommand(), VerifyCommand(), ScoreCommand(),
                   ScorecardCommand(), ServeCommand(),
                   SpeedCommand(TargetArgument()), RunCommand(), GpusCommand(),
                   GpuCommand(), GraphCommand(), CompletionCommand(),
                   SchemaCommand(), HelpCommand(), CompleteIdsCommand()}};
  return table;
}

}  // namespace foretell
