#include "input/source_hub_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "input/catalogue.h"
#include "input/checkpoint_set.h"
#include "input/hub_id.h"
#include "input/memory_bytes.h"
#include "input/source_bytes.h"
#include "input/source_disk.h"
#include "input/source_hub.h"

namespace foretell {
namespace {

// An index of 2,000 shards of experts has some 20 MB.
constexpr int64_t kTableBytes = int64_t{128} << 20;

InputError At(const std::string& source, std::string what, std::string cure) {
  Place place;
  place.source = source;
  return {std::move(place), std::move(what), std::move(cure)};
}

// What lies directly in the folder that these paths are below.
std::vector<std::string> TopNames(const std::vector<std::string>& paths) {
  std::set<std::string> names;
  for (const std::string& path : paths) {
    const size_t slash = path.find('/');
    names.insert(slash == std::string::npos ? path : path.substr(0, slash + 1));
  }
  return {names.begin(), names.end()};
}

class HubSource : public ByteSource {
 public:
  HubSource(std::shared_ptr<Hub> hub, HubObject object, HubPlace place)
      : hub_(std::move(hub)),
        object_(std::move(object)),
        place_(std::move(place)) {}

  const std::string& name() const override { return object_.shown; }
  int64_t size() const override { return object_.size; }
  std::optional<InputError> Read(int64_t offset, std::span<char> out) override {
    const auto count = static_cast<int64_t>(out.size());
    HubBytes part = hub_->ReadRange(object_, place_, offset, count);
    if (part.error) return std::move(part.error);
    std::ranges::copy(part.bytes, out.begin());
    return std::nullopt;
  }

 private:
  std::shared_ptr<Hub> hub_;
  HubObject object_;
  HubPlace place_;
};

class HubFolder : public ByteFolder {
 public:
  HubFolder(HubCheckpointName name, const ModelLookup& how) : id_(name.id) {
    HubSettingsResult read = HubSettingsOfEnvironment();
    HubSettings& settings = read.settings;
    if (how.offline) settings.offline = "--offline";
    offline_ = settings.offline;
    const std::string named =
        name.revision.empty() ? how.revision : name.revision;
    revision_ = named.empty() ? kMainRevision : named;
    hub_ = std::make_shared<Hub>(settings, how.note);
    if (!how.refresh) FindInCache();
    if (!names_.empty()) return;
    if (!offline_.empty()) throw InputErrors(NotHere("its weights"));
    if (read.error) throw InputErrors(std::move(*read.error));
    ListAtHub();
  }

  const std::string& name() const override { return name_; }
  std::vector<std::string> Names() override { return names_; }

  std::unique_ptr<ByteSource> Open(std::string_view file) override {
    const HubPlace place = {id_, commit_, std::string(file)};
    const std::string path = hub_->cache().PathOf(place);
    if (!path.empty()) return OpenDiskFile(path);
    if (!offline_.empty()) throw InputErrors(NotHere(place.file));
    if (place.file.ends_with(".json")) return FetchTable(place);
    HubObject object = hub_->Locate(id_, commit_, place.file);
    if (object.error) throw InputErrors(std::move(*object.error));
    return std::make_unique<HubSource>(hub_, std::move(object), place);
  }

 private:
  // Sets the names where the cache holds what a reader would look for.
  void FindInCache() {
    const CachedCommit known = hub_->cache().CommitOf(id_, revision_);
    if (known.error) throw InputErrors(*known.error);
    if (known.commit.empty()) return;
    SetCommit(known.commit);
    std::vector<std::string> names =
        TopNames(hub_->cache().FilesOf(id_, commit_));
    if (!ChooseWeights(names).file.empty()) names_ = std::move(names);
  }

  void ListAtHub() {
    hub_->set_near(NearestIds(id_));
    const std::string& asked = commit_.empty() ? revision_ : commit_;
    HubListing list = hub_->List(id_, asked);
    if (list.error) throw InputErrors(std::move(*list.error));
    SetCommit(list.commit);
    std::vector<std::string> paths;
    for (HubListedFile& file : list.files)
      paths.push_back(std::move(file.name));
    names_ = TopNames(paths);
  }

  void SetCommit(const std::string& commit) {
    commit_ = commit;
    name_ = fmt::format("{}@{}", id_, commit);
  }

  InputError NotHere(const std::string& what) const {
    return At(id_,
              fmt::format("{} of revision {} are not in the hub's cache, and "
                          "{} forbids asking the hub",
                          what, revision_, offline_),
              "name a folder or a file of weights on this disk, or let the hub "
              "be asked");
  }

  std::unique_ptr<ByteSource> FetchTable(const HubPlace& place) {
    HubFile file = hub_->Fetch(id_, commit_, place.file, kTableBytes);
    if (file.error) throw InputErrors(std::move(*file.error));
    return std::make_unique<MemoryBytes>(
        fmt::format("{}/{}", name_, place.file), std::move(file.bytes));
  }

  std::string id_;
  std::string revision_;
  std::string commit_;
  std::string name_;
  std::string offline_;  // what forbids asking; empty where nothing does
  std::vector<std::string> names_;
  std::shared_ptr<Hub> hub_;
};

}  // namespace

std::optional<HubCheckpointName> ReadHubCheckpointName(std::string_view text) {
  const HubTarget target = ReadHubTarget(text);
  HubCheckpointName out;
  out.id = target.id;
  out.revision = target.revision;
  if (const size_t at = out.id.find('@'); at != std::string::npos) {
    out.revision = out.id.substr(at + 1);
    out.id.resize(at);
  } else {
    const size_t owner = out.id.find('/');
    const size_t name = owner == std::string::npos
                            ? std::string::npos
                            : out.id.find('/', owner + 1);
    if (name != std::string::npos) {
      out.file = out.id.substr(name + 1);
      out.id.resize(name);
      if (!IsRepositoryPath(out.file) ||
          out.file.find('/') != std::string::npos) {
        return std::nullopt;
      }
    }
  }
  const bool usable =
      IsOwnedId(out.id) &&
      (out.revision.empty() || WhyNoRevision(out.revision).empty());
  return usable ? std::optional(std::move(out)) : std::nullopt;
}

std::unique_ptr<ByteFolder> OpenHubFolder(const HubCheckpointName& name,
                                          const ModelLookup& how) {
  return std::make_unique<HubFolder>(name, how);
}

}  // namespace foretell
