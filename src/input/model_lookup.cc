#include "input/model_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "input/catalogue.h"
#include "input/hub_id.h"
#include "input/model_config_source.h"
#include "input/other_file.h"
#include "input/source_disk.h"
#include "input/source_hub.h"

namespace foretell {
namespace {

constexpr char kConfigFile[] = "config.json";
// As many names of a repository's files as a message holds.
constexpr size_t kMostNames = 6;

InputError At(const std::string& source, std::string what, std::string cure) {
  Place place;
  place.source = source.empty() ? "\"\"" : source.substr(0, 120);
  return {std::move(place), std::move(what), std::move(cure)};
}

class Lookup {
 public:
  Lookup(HubTarget target, const ModelLookup& how)
      : id_(std::move(target.id)),
        asked_(std::move(target.revision)),
        revision_(asked_.empty() ? kMainRevision : asked_),
        how_(how),
        environment_(HubSettingsOfEnvironment()),
        cache_(environment_.settings.cache, environment_.settings.links) {
    if (how_.offline) environment_.settings.offline = "--offline";
  }

  ModelConfig Run() {
    if (!IsRepositoryId(id_)) return NotOfAHub();
    if (how_.refresh && IsOffline()) {
      throw InputErrors(At(id_,
                           fmt::format("--refresh asks the hub, and {} forbids "
                                       "it",
                                       Offline()),
                           "leave one of the two out"));
    }
    if (!how_.refresh) {
      if (auto config = FromCache()) return std::move(*config);
      if (asked_.empty()) {
        if (auto config = FromCatalogue(id_)) return std::move(*config);
      }
    }
    if (!IsOwnedId(id_)) throw InputErrors(Unknown(kNoOwner));
    if (IsOffline()) {
      const std::string why =
          fmt::format("{} forbids asking the hub", Offline());
      return InsteadOf(why, Unknown(why));
    }
    if (environment_.error) throw InputErrors(std::move(*environment_.error));
    return FromHub();
  }

 private:
  static constexpr char kNoOwner[] =
      "the hub is asked for names with an owner alone: OWNER/NAME";

  bool IsOffline() const { return !environment_.settings.offline.empty(); }
  const std::string& Offline() const { return environment_.settings.offline; }

  // "llama 3 8b" may be another name of the catalogue's.
  ModelConfig NotOfAHub() {
    auto config = FromCatalogue(id_);
    if (!config) throw InputErrors(Unknown("such a name no hub has"));
    if (asked_.empty()) return std::move(*config);
    return InsteadOf("no hub has such a name", {});
  }

  // An id that nothing here knows; `hub` says why the hub does not help.
  InputError Unknown(const std::string& hub) const {
    const auto near = NearestIds(id_);
    std::string cure = "pass the path of its config.json";
    if (!near.empty()) {
      cure += fmt::format("; the nearest that are known: {}",
                          fmt::join(near, ", "));
    }
    if (asked_.empty()) {
      return At(id_,
                fmt::format("is not in the catalogue or in the hub's cache, "
                            "and no file or folder has this name; {}",
                            hub),
                std::move(cure));
    }
    const auto here = cache_.RevisionsOf(id_);
    if (!here.empty()) {
      cure = fmt::format("the cache has {}", fmt::join(here, ", "));
    }
    return At(
        id_,
        fmt::format("revision {} is not in the hub's cache; {}", asked_, hub),
        std::move(cure));
  }

  std::optional<ModelConfig> FromCache() const {
    const CachedCommit found = cache_.CommitOf(id_, revision_);
    if (found.error) throw InputErrors(*found.error);
    if (found.commit.empty()) return std::nullopt;
    const std::string path = cache_.PathOf({id_, found.commit, kConfigFile});
    if (path.empty()) return std::nullopt;
    ModelConfig config =
        ParseModelConfig(ReadWholeFile(path, kConfigFileBytes), path, id_);
    config.hub = {id_, revision_, found.commit, "", path};
    return config;
  }

  // The catalogue's configuration where the revision cannot be looked at.
  ModelConfig InsteadOf(const std::string& why, InputError otherwise) const {
    auto config = FromCatalogue(id_);
    if (!config) throw InputErrors(std::move(otherwise));
    Finding note;
    note.rule = "input/revision";
    note.severity = Severity::kWarn;
    note.what =
        fmt::format("revision {} was not looked at: {}", revision_, why);
    note.why =
        "the configuration is the catalogue's, which names no revision: "
        "another one may have other values";
    note.fix = "run it again where the hub can be asked";
    note.place.source = config->source;
    config->notes.push_back(std::move(note));
    return std::move(*config);
  }

  ModelConfig FromHub() const {
    Hub hub(environment_.settings, how_.note);
    hub.set_near(NearestIds(id_));
    // What the cache holds of a branch stays together: its other files are
    // fetched at the commit that it was fetched at.
    std::string revision = revision_;
    if (!how_.refresh) {
      const CachedCommit known = cache_.CommitOf(id_, revision_);
      if (!known.commit.empty()) revision = known.commit;
    }
    HubFile file = hub.Fetch(id_, revision, kConfigFile, kConfigFileBytes);
    if (file.is_missing) throw InputErrors(WithoutConfig(hub, revision));
    if (file.is_unreachable && !how_.refresh) {
      InputError otherwise = Unknown(file.error->what);
      otherwise.cure = file.error->cure + "; or " + otherwise.cure;
      return InsteadOf(file.error->what, std::move(otherwise));
    }
    if (file.error) throw InputErrors(std::move(*file.error));
    const std::string source =
        file.path.empty()
            ? fmt::format("{}/{}/resolve/{}/{}", environment_.settings.endpoint,
                          id_, file.commit, kConfigFile)
            : file.path;
    ModelConfig config = ParseModelConfig(std::move(file.bytes), source, id_);
    config.hub = {id_, revision_, file.commit, environment_.settings.endpoint,
                  file.path};
    if (!file.not_kept.empty()) config.notes.push_back(NotKept(file.not_kept));
    return config;
  }

  static Finding NotKept(const std::string& why) {
    Finding note;
    note.rule = "input/cache";
    note.severity = Severity::kInfo;
    note.what = fmt::format("what the hub sent is not in its cache: {}", why);
    note.why = "the next run asks the hub again";
    note.fix = "let HF_HUB_CACHE name a folder that can be written to";
    return note;
  }

  // The files that are there instead.
  InputError WithoutConfig(Hub& hub, const std::string& revision) const {
    const HubListing list = hub.List(id_, revision);
    std::vector<std::string> names;
    for (const HubListedFile& file : list.files) {
      if (file.name.find('/') == std::string::npos) names.push_back(file.name);
    }
    const size_t more =
        names.size() > kMostNames ? names.size() - kMostNames : 0;
    names.resize(names.size() - more);
    return At(id_,
              fmt::format(
                  "has no {} at revision {}{}", kConfigFile, revision_,
                  names.empty()
                      ? ""
                      : fmt::format(
                            ", but {}{}", fmt::join(names, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "")),
              "name the repository of the model that this one was made from, "
              "or pass the path of its config.json");
  }

  std::string id_;
  std::string asked_;  // empty where no revision was named
  std::string revision_;
  const ModelLookup& how_;
  HubSettingsResult environment_;
  HubCache cache_;
};

}  // namespace

ModelConfig LookUpModel(const std::string& target, const ModelLookup& how) {
  if (IsModelPath(target)) {
    if (!how.revision.empty()) {
      throw InputErrors(At(target, "is a path, which has no revisions",
                           "leave --revision out, or name a repository: "
                           "OWNER/NAME"));
    }
    return LoadModelPath(ExpandHome(target));
  }
  HubTarget named = ReadHubTarget(target);
  if (!how.revision.empty()) {
    if (!named.revision.empty() && named.revision != how.revision) {
      throw InputErrors(At(target,
                           fmt::format("names revision {}, and --revision {}",
                                       named.revision, how.revision),
                           "name one of them"));
    }
    named.revision = how.revision;
  }
  if (!named.revision.empty()) {
    if (const std::string why = WhyNoRevision(named.revision); !why.empty()) {
      throw InputErrors(At(named.id, fmt::format("the revision {}", why),
                           "name a branch, a tag or a commit's hash"));
    }
  }
  return Lookup(std::move(named), how).Run();
}

}  // namespace foretell
