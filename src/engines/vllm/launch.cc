#include "engines/vllm/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engines/vllm/launch_state.h"

namespace foretell {
namespace vllm {

const ConfigValue* State::Flag(std::string_view name) const {
  if (const LaunchSetting* set = in->launch->Find(name)) {
    return set->value.is_null() ? nullptr : &set->value;
  }
  const EngineFlag* flag = in->facts->FindSetting(name);
  return flag == nullptr || flag->default_value.is_null()
             ? nullptr
             : &flag->default_value;
}

std::optional<int64_t> State::Number(std::string_view name) const {
  const ConfigValue* value = Flag(name);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

std::string State::Text(std::string_view name) const {
  const ConfigValue* value = Flag(name);
  return value == nullptr ? "" : std::string(value->AsString().value_or(""));
}

bool State::Truth(std::string_view name) const {
  const ConfigValue* value = Flag(name);
  return value != nullptr && value->AsBool().value_or(false);
}

std::optional<bool> State::Choice(std::string_view name) const {
  const ConfigValue* value = Flag(name);
  return value == nullptr ? std::nullopt : value->AsBool();
}

bool State::Given(std::string_view name) const {
  return in->launch->Find(name) != nullptr;
}

bool State::Environment(std::string_view name) const {
  const std::string* value = in->launch->Environment(name);
  return value != nullptr && !value->empty() && *value != "0" &&
         *value != "false" && *value != "False";
}

void State::Refuse(std::string kind, std::string flag, std::string what,
                   std::string why, std::string fix) const {
  out->refusals.push_back({std::move(kind), std::move(what), std::move(why),
                           std::move(fix), std::move(flag)});
}

void State::RefuseAtStart(std::string kind, std::string flag, std::string what,
                          std::string why, std::string fix) const {
  out->at_start.push_back({std::move(kind), std::move(what), std::move(why),
                           std::move(fix), std::move(flag)});
}

void State::Warn(std::string kind, std::string flag, std::string what,
                 std::string why, std::string fix) const {
  out->warnings.push_back({std::move(kind), std::move(what), std::move(why),
                           std::move(fix), std::move(flag)});
}

bool ValidateArguments(State& state) {
  const Launch& launch = *state.in->launch;
  for (const LaunchFault& fault : launch.faults) {
    const bool file = fault.kind == LaunchFault::Kind::kFile;
    VllmRefusal one = {file ? "other" : "flags", fault.what, fault.why,
                       fault.fix, ""};
    (fault.refuses ? state.out->refusals : state.out->warnings)
        .push_back(std::move(one));
  }
  if (state.Truth("enable_auto_tool_choice") &&
      state.Text("tool_call_parser").empty()) {
    state.Refuse("other", "enable_auto_tool_choice",
                 "--enable-auto-tool-choice is given without a parser",
                 "the server ends before it reads the model",
                 "--tool-call-parser hermes");
  }
  if (state.Truth("enable_log_outputs") &&
      !state.Truth("enable_log_requests")) {
    state.Refuse("other", "enable_log_outputs",
                 "--enable-log-outputs needs --enable-log-requests",
                 "the server ends before it reads the model",
                 "--enable-log-requests");
  }
  // vllm/entrypoints/openai/cli_args.py of 0.7.2 to 0.8.0 (gone in 0.8.4).
  if (state.Truth("enable_auto_tool_choice") &&
      state.Truth("enable_reasoning") && state.Since(0, 7, 2) &&
      !state.Since(0, 8, 1)) {
    state.Refuse("other", "enable_auto_tool_choice",
                 "--enable-auto-tool-choice and --enable-reasoning together",
                 "it ends with \"cannot be enabled at the same time\"",
                 "leave one of them out, or vLLM 0.8.4");
  }
  if (const ConfigValue* transfer = state.Flag("kv_transfer_config")) {
    const ConfigValue* name = transfer->Find("kv_connector");
    const std::string text(name == nullptr ? ""
                                           : name->AsString().value_or(""));
    const auto known = state.facts().lists.find("kv_connectors");
    if (!text.empty() && known != state.facts().lists.end() &&
        transfer->Find("kv_connector_module_path") == nullptr &&
        std::ranges::find(known->second, text) == known->second.end()) {
      state.Refuse("other", "kv_transfer_config",
                   fmt::format("no KV connector {}", text),
                   "it ends with \"Unsupported connector type\"");
    }
  }
  return true;
}

}  // namespace vllm

VllmLaunch ResolveVllm(const VllmRequest& request) {
  VllmLaunch out;
  vllm::State state;
  state.in = &request;
  state.out = &out;
  ServingSettings& settings = out.settings;
  settings.engine = ServingEngine::kVllm;
  settings.version = request.facts->version;
  settings.environment = request.launch->environment;
  vllm::ValidateArguments(state);
  if (request.model == nullptr) {
    out.cannot_tell.push_back(
        fmt::format("the configuration of {}", request.launch->model));
    return out;
  }
  if (!vllm::LoadModel(state)) return out;
  vllm::ReadArchitecture(state);
  if (!vllm::InspectClass(state)) return out;
  vllm::ReadArchitecture(state);
  vllm::ResolveDtype(state);
  vllm::ResolveLength(state);
  vllm::ResolveQuantization(state);
  vllm::ResolveCaching(state);
  vllm::ResolveCache(state);
  vllm::ResolveParallel(state);
  vllm::ResolveSpeculative(state);
  vllm::ResolveScheduler(state);
  vllm::ResolveLora(state);
  vllm::ResolveAttention(state);
  vllm::ResolveHooks(state);
  vllm::VerifyParallel(state);
  vllm::VerifyQuantization(state);
  vllm::MeetStart(state);
  vllm::ResolveCompilation(state);
  vllm::PrintSections(state);
  return out;
}

}  // namespace foretell
