#include "tools/docgen/family_docs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "answers/model.h"
#include "answers/step.h"
#include "base/figure.h"
#include "input/catalogue.h"
#include "input/truth_set.h"
#include "models/family.h"
#include "report/figure_text.h"

namespace foretell {
namespace {

// Of one class: rows of parameters, and whole sequences of operators.
struct Proof {
  int64_t published = 0;
  int64_t variants = 0;
  int64_t steps = 0;
  int64_t traces = 0;
};
using Proofs = std::map<std::string, Proof, std::less<>>;

void CountRows(const std::string& file, int64_t Proof::*field, Proofs& out) {
  for (const TruthCase& one : LoadTruthSet(file).cases) {
    const Recording& row = one.recording;
    if (row.error.empty()) ++(out[row.class_name].*field);
  }
}

Proofs ReadProofs(const std::string& folder) {
  Proofs out;
  CountRows(folder + "/params.jsonl", &Proof::published, out);
  CountRows(folder + "/params_variants.jsonl", &Proof::variants, out);
  CountRows(folder + "/params_towers.jsonl", &Proof::variants, out);
  CountRows(folder + "/steps.jsonl", &Proof::steps, out);
  CountRows(folder + "/steps_transformers4.jsonl", &Proof::steps, out);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".jsonl.gz")) continue;
    ++out[LoadTraceCase(path).trace.class_name].traces;
  }
  return out;
}

// The smallest model of the catalogue that the family derives.
struct Example {
  std::string id;
  ModelConfig config;
  ModelAnswer answer;
};

void Offer(const CatalogueEntry& entry,
           std::map<std::string, Example, std::less<>>& out) {
  auto config = FromCatalogue(entry.id);
  if (!config) return;
  auto answer = AnswerModel({*config, {}});
  auto* model = std::get_if<ModelAnswer>(&answer);
  if (model == nullptr || !model->part.empty()) return;
  const auto at = out.find(model->family);
  const auto size = [](const ModelAnswer& one) {
    return one.parameters.total.any().value().value_or(0);
  };
  const bool is_smaller =
      at == out.end() || size(*model) < size(at->second.answer);
  if (!is_smaller) return;
  const std::string family = model->family;
  out.insert_or_assign(
      family, Example{entry.id, std::move(*config), std::move(*model)});
}

std::map<std::string, Example, std::less<>> FindExamples() {
  std::map<std::string, Example, std::less<>> out;
  for (const CatalogueEntry& entry : ListCatalogue()) Offer(entry, out);
  return out;
}

std::string BytesText(int64_t bytes) {
  return FigureLine(AnyFigure::Exact(Unit::kBytes, bytes));
}

std::string StateText(const LayerState& state) {
  std::string out(NameOf(state.kind));
  if (state.heads > 0) {
    out += fmt::format(", {} heads of {}", state.heads, state.key_dim);
    if (state.value_dim != state.key_dim) {
      out += fmt::format(" and {}", state.value_dim);
    }
  }
  if (state.window > 0) out += fmt::format(", {} tokens", state.window);
  if (state.conv_channels > 0) {
    out += fmt::format(", and {} inputs of {} channels", state.conv_tokens,
                       state.conv_channels);
  }
  return out;
}

// "0-5, 7, 9": which of the layers keep a state.
std::string LayersOf(const LayerState& state,
                     const std::vector<LayerState>& states) {
  std::vector<std::string> parts;
  for (size_t first = 0; first < states.size(); ++first) {
    if (states[first] != state) continue;
    size_t last = first;
    while (last + 1 < states.size() && states[last + 1] == state) ++last;
    parts.push_back(first == last ? fmt::format("{}", first)
                                  : fmt::format("{}-{}", first, last));
    first = last;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string StatesText(const std::vector<LayerState>& states) {
  std::string out;
  for (size_t i = 0; i < states.size(); ++i) {
    const auto seen = states.begin() + static_cast<ptrdiff_t>(i);
    if (std::find(states.begin(), seen, states[i]) != seen) continue;
    out += fmt::format("| {} | {} |\n", LayersOf(states[i], states),
                       StateText(states[i]));
  }
  return out;
}

void AddModel(const Example& example, std::string& out) {
  const ModelAnswer& model = example.answer;
  out += fmt::format("\n## One of its models: {}\n\n", example.id);
  out += fmt::format(
      "Its parameters, as `foretell model {}` derives "
      "them:\n\n```\n{}{}```\n\n",
      example.id, model.equation, model.equation.ends_with('\n') ? "" : "\n");
  for (const LayerStack& stack : model.stacks) {
    out += fmt::format("* {}: {} layers\n", stack.name, stack.layers);
  }
  if (model.states.empty()) return;
  out +=
      "\nWhat generation keeps, by layer:\n\n| Layers | State |\n| --- | --- "
      "|\n";
  out += StatesText(model.states);
}

// The lines that keep most; the rest is in `foretell step`.
void AddStep(const Example& example, std::string& out) {
  StepRequest request;
  request.config = example.config;
  request.build.dtype = DType::kBFloat16;
  request.step.dtype = DType::kBFloat16;
  const auto answer = AnswerStep(request);
  const auto* step = std::get_if<StepAnswer>(&answer);
  if (step == nullptr || !step->result) {
    const auto* refusal = std::get_if<Refusal>(&answer);
    out += fmt::format(
        "\nA training step of it is refused: {}.\n",
        refusal != nullptr ? refusal->errors.front().what : "a rule blocks it");
    return;
  }
  std::vector<StepModule> modules = step->result->modules;
  std::ranges::stable_sort(modules, std::greater<>(), &StepModule::kept);
  constexpr size_t kMost = 12;
  if (modules.size() > kMost) modules.resize(kMost);
  out += fmt::format(
      "\nWhat a training step keeps for its backward, with {}: {} in {} "
      "tensors, most of them here:\n\n| Module | Times | Kept |\n| --- | "
      "---: | ---: |\n",
      step->setting, BytesText(step->result->kept_bytes.value_or(0)),
      step->result->kept_count.value_or(0));
  for (const StepModule& module : modules) {
    if (module.kept == 0) break;
    out += fmt::format("| `{}` | {} | {} |\n",
                       module.name.empty() ? "(the model)" : module.name,
                       module.times, BytesText(module.kept));
  }
  if (step->not_exact.empty()) return;
  out += fmt::format("\nNot claimed to be exact: {}.\n",
                     fmt::join(step->not_exact, "; "));
}

void AddProofs(const Family& family, const Proofs& proofs, std::string& out) {
  out +=
      "\n## What proves it\n\nRecordings of PyTorch in tests/truth that the "
      "tests hold it to: published models and variants by their parameters, "
      "tensors, ties and buffers; steps by FLOPs, kept tensors and peaks; "
      "traces by every operator in order.\n\n"
      "| Class | Published | Variants | Steps | Traces |\n| --- | ---: | ---: "
      "| ---: | ---: "
      "|\n";
  for (const std::string_view name : family.classes) {
    const auto at = proofs.find(name);
    const Proof proof = at == proofs.end() ? Proof() : at->second;
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, proof.published,
                       proof.variants, proof.steps, proof.traces);
  }
}

std::string PageOf(const Family& family, const Example* example,
                   const Proofs& proofs) {
  std::string out = fmt::format("# {}\n\n{}\n\n", family.title, family.doc);
  out += fmt::format("Configurations of `model_type` {}.\n",
                     fmt::join(family.model_types, ", "));
  if (example == nullptr) {
    out += "\nThe catalogue holds no model of it.\n";
  } else {
    AddModel(*example, out);
    AddStep(*example, out);
  }
  AddProofs(family, proofs, out);
  return out;
}

}  // namespace

std::vector<DocFile> FamilyDocs(const std::string& truth_folder) {
  const Proofs proofs = ReadProofs(truth_folder);
  const auto examples = FindExamples();
  std::string index =
      "# Families\n\nEach is one modeling file of its library, derived "
      "operation by operation. [How to add one](../adding-a-family.md).\n\n| "
      "Family | Classes | What it is |\n| --- | ---: | --- |\n";
  std::vector<DocFile> out;
  for (const Family* family : AllFamilies()) {
    index += fmt::format("| [{}]({}.md) | {} | {} |\n", family->title,
                         family->name, family->classes.size(), family->doc);
    const auto at = examples.find(family->title);
    out.push_back({fmt::format("families/{}.md", family->name),
                   PageOf(*family, at == examples.end() ? nullptr : &at->second,
                          proofs)});
  }
  out.push_back({"families/README.md", index});
  std::ranges::sort(out, {}, &DocFile::path);
  return out;
}

}  // namespace foretell
