#include "answers/model.h"

#include <fmt/format.h>

#include <array>

#include "answers/explain_parameters.h"
#include "answers/proof.h"
#include "answers/quantization_config.h"
#include "answers/quantized_model.h"
#include "answers/read_model.h"
#include "rules/model_rules.h"

namespace foretell {
namespace {

// What weights are kept in; packed formats are the checkpoint's own matter.
constexpr std::array<DType, 4> kWeightTypes = {
    DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat8E4M3};

bool IsAlias(const ModelConfig& config) {
  return config.catalogue && !config.catalogue->asked.empty() &&
         config.catalogue->asked != config.catalogue->id;
}

// "hub: commit 0e9e39f… (revision main), from the cache as last fetched".
std::string OriginOf(const HubOrigin& hub) {
  std::string out = fmt::format("hub: commit {}", hub.commit);
  if (hub.revision != hub.commit) {
    out += fmt::format(" (revision {})", hub.revision);
  }
  out += hub.endpoint.empty()
             ? ", from the cache as it was last fetched, not asked again"
             : ", just now from " + hub.endpoint;
  if (!hub.path.empty()) out += "; " + hub.path;
  return out;
}

std::string OriginOf(const ModelConfig& config) {
  if (config.hub) return OriginOf(*config.hub);
  if (!config.catalogue) return config.source;
  const CatalogueOrigin& origin = *config.catalogue;
  std::string out = fmt::format("catalogue: {} of {} ({})", origin.source,
                                origin.date, origin.kind);
  if (IsAlias(config)) {
    out +=
        fmt::format("; {} has the architecture of {}", origin.asked, origin.id);
    if (!origin.alias_note.empty()) out += " (" + origin.alias_note + ")";
  }
  if (!origin.note.empty()) out += "; " + origin.note;
  return out;
}

// What the class is read from.
std::string LibraryOf(const Family& family) {
  if (family.described_by.empty()) return FollowedLibrary(family);
  return fmt::format("none: {} has no such class; derived from {}",
                     FollowedLibrary(), family.described_by);
}

std::string ActiveRule(const ParameterAnalysis& parameters) {
  for (const TensorGroup& group : parameters.tensors) {
    if (group.experts == 0) continue;
    return fmt::format(
        "all parameters, of expert tensors {} of {} experts; look-up tables "
        "count in full",
        group.experts_per_token, group.experts);
  }
  return "all parameters: no experts; look-up tables count in full";
}

// With what checkpoints of the class always or usually hold beside it.
std::optional<QuantizedWeights> AsConfigured(
    const ModelConfig& config, const ReadModel& model,
    const std::vector<SurplusItem>& besides) {
  std::vector<TensorGroup> surplus;
  for (const SurplusItem& item : besides) {
    if (item.left_out || item.presence == SurplusPresence::kSometimes) continue;
    surplus.insert(surplus.end(), item.tensors.begin(), item.tensors.end());
  }
  auto out = QuantizedAsConfigured(config, model, surplus);
  if (out) out->name = "as configured";
  return out;
}

void AddQuantized(const ModelRequest& request, const ReadModel& model,
                  ModelAnswer& out) {
  if (auto own = AsConfigured(request.config, model, out.besides)) {
    out.quantized.push_back(std::move(*own));
  }
  for (const std::string& name : request.quantizations) {
    if (auto one = QuantizeModel(request.config, model, name)) {
      out.quantized.push_back(std::move(*one));
    }
  }
  // A model of whose parts some are not derived has more bytes than these.
  if (model.parameters.total.is_exact()) return;
  for (QuantizedWeights& one : out.quantized) {
    for (const std::string& missing : model.parameters.total.any().missing()) {
      one.file += Bytes::Unknown(missing);
      one.memory += Bytes::Unknown(missing);
      one.tensors += Bytes::Unknown(missing);
    }
  }
}

Bytes StoredBytes(const ModelConfig& config, const ReadModel& model,
                  const std::vector<SurplusItem>& besides) {
  if (QuantizationOf(config.root) != nullptr) {
    if (!model.parameters.total.is_exact()) {
      return Bytes::Unknown("the parts that are not derived");
    }
    return AsConfigured(config, model, besides)->tensors;
  }
  // An alias shares the architecture; how its checkpoint is stored is its own.
  if (IsAlias(config)) {
    return Bytes::Unknown("how " + config.catalogue->asked +
                          " itself is stored");
  }
  return WeightBytes(model.parameters, model.built.dtype);
}

void RunRules(const ModelConfig& config, const ReadModel& model,
              ModelAnswer& out) {
  ModelRuleInput input;
  input.config = &config;
  input.class_name = out.class_name;
  input.parameters = &model.parameters;
  input.unread = &model.unread;
  for (const ModelRule& rule : ModelRules()) {
    RuleOutcome outcome = rule.run(input);
    if (!outcome.cannot_tell.empty()) {
      out.rules_not_run.emplace_back(rule.id, outcome.cannot_tell);
      continue;
    }
    out.rules_ran.emplace_back(rule.id);
    for (Finding& finding : outcome.findings) {
      out.findings.push_back(std::move(finding));
    }
  }
}

void AddCheckpoint(const ModelRequest& request, const ReadModel& model,
                   ModelAnswer& out) {
  if (!request.checkpoint) {
    if (!request.no_checkpoint.empty()) {
      out.rules_not_run.emplace_back(kCheckpointRule, request.no_checkpoint);
    }
    return;
  }
  ModelCheckpoint checkpoint = DescribeCheckpoint(*request.checkpoint);
  checkpoint.against =
      CompareWithCheckpoint(request.config, model, *request.checkpoint);
  out.stored = checkpoint.bytes.tensors;
  if (!checkpoint.against->cannot_tell.empty()) {
    out.rules_not_run.emplace_back(kCheckpointRule,
                                   checkpoint.against->cannot_tell);
  } else {
    out.rules_ran.emplace_back(kCheckpointRule);
  }
  if (auto finding = CheckpointFinding(checkpoint, request.against)) {
    out.findings.push_back(std::move(*finding));
  }
  out.checkpoint = std::move(checkpoint);
}

}  // namespace

std::variant<ModelAnswer, Refusal> AnswerModel(const ModelRequest& request) {
  auto read = ReadModelOf(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  ReadModel& model = std::get<ReadModel>(read);
  const ModelConfig& config = request.config;

  ModelAnswer out;
  out.name = config.hub        ? config.hub->id
             : IsAlias(config) ? config.catalogue->asked
                               : config.ShownName();
  out.origin = OriginOf(config);
  out.library = LibraryOf(*model.built.family);
  out.class_name = model.built.class_name;
  out.class_source = model.built.class_source;
  out.family = model.built.family->title;
  out.family_doc = model.built.family->doc;
  out.part = model.built.part;
  out.dtype = model.built.dtype;
  out.dtype_source = model.built.dtype_source;
  out.proof = ProofOf(config, model).words;
  out.active_rule = ActiveRule(model.parameters);
  if (config.catalogue && !IsAlias(config)) {
    out.published = config.catalogue->published;
  }
  out.equation = ExplainParameters(model.parameters);
  out.besides = CheckpointSurplus(config, out.class_name, model.parameters);
  out.stacks = model.built.model->stacks;
  out.context = model.built.model->context_length;
  out.stored = StoredBytes(config, model, out.besides);
  AddQuantized(request, model, out);
  for (const DType dtype : kWeightTypes) {
    out.weights.emplace_back(dtype, WeightBytes(model.parameters, dtype));
  }
  out.states = model.built.model->states;
  out.cache_dtype = model.built.dtype;
  out.cache = AnalyzeCache(out.states, out.cache_dtype);
  out.defaults = model.log.defaults;
  out.unread = model.unread;
  out.findings = model.log.findings;
  RunRules(config, model, out);
  AddCheckpoint(request, model, out);
  out.parameters = std::move(model.parameters);
  return out;
}

ModelAnswer AnswerHeaders(const Checkpoint& checkpoint, std::string why) {
  ModelAnswer out;
  out.name = checkpoint.source;
  out.origin = "the headers of its files";
  out.checkpoint = DescribeCheckpoint(checkpoint);
  out.stored = out.checkpoint->bytes.tensors;
  out.rules_not_run.emplace_back(kCheckpointRule, std::move(why));
  return out;
}

}  // namespace foretell
