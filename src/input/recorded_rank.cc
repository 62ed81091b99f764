#include "input/recorded_rank.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace foretell {
namespace {

struct WrapperName {
  std::string_view name;
  Wrapper wrapper;
  bool reshards;
};
constexpr std::array<WrapperName, 5> kWrappers = {{
    {"fsdp2", Wrapper::kFsdp2, true},
    {"fsdp2_no_reshard", Wrapper::kFsdp2, false},
    {"fsdp1", Wrapper::kFsdp1, true},
    {"ddp", Wrapper::kDdp, true},
    {"ddp_view", Wrapper::kDdpView, true},
}};

class RankReader {
 public:
  RankReader(const RowFields& fields, const StepCase& step)
      : fields_(fields), step_(step) {}

  RecordedRank Read(const WrapperName& wrapper) const {
    RecordedRank out;
    RankCase& rank = out.rank;
    rank.wrapper = wrapper.wrapper;
    rank.reshards = wrapper.reshards;
    rank.ranks = Count("world", 8);
    rank.rank = Count("rank", 0);
    if (rank.ranks < 1 || rank.rank >= rank.ranks) {
      fields_.Problem(fields_.Get("rank"), "rank", "is no rank of the world",
                      "record the row again");
      rank.rank = 0;
      rank.ranks = 1;
    }
    rank.dtype = step_.dtype;
    rank.param_dtype = OptionalDType("param_dtype");
    rank.reduce_dtype = OptionalDType("reduce_dtype");
    rank.has_ends = fields_.OptionalText("wrap") == "titan";
    rank.accumulate = step_.accumulate;
    rank.reduces_always = fields_.OptionalText("sync") == "every";
    rank.bucket_mib = Count("bucket_mb", 0);
    rank.prefetches = fields_.OptionalText("prefetch") != "none";
    NoteUnfollowed(out);
    return out;
  }

 private:
  int64_t Count(std::string_view key, int64_t otherwise) const {
    return fields_.Get(key) == nullptr ? otherwise : fields_.Count(key);
  }

  std::optional<DType> OptionalDType(std::string_view key) const {
    const std::string text = fields_.OptionalText(key);
    if (text.empty() || text == "none") return std::nullopt;
    const auto dtype = ParseDType(text);
    if (!dtype) {
      fields_.Problem(fields_.Get(key), key, "is no dtype",
                      "record the row again");
    }
    return dtype;
  }

  void NoteUnfollowed(RecordedRank& out) const {
    if (step_.lora && out.rank.param_dtype == step_.dtype &&
        step_.dtype != DType::kFloat32) {
      out.unfollowed.emplace_back("adapters that are cast where nothing is");
    }
    if (out.rank.wrapper == Wrapper::kFsdp1 && step_.autocast) {
      // Its parameters are views, whose casts autocast does not keep.
      out.unfollowed.emplace_back("casts of autocast that nothing keeps");
    }
    if (Count("clip", 0) != 0) {
      out.unfollowed.emplace_back("the clipping of gradients");
    }
  }

  const RowFields& fields_;
  const StepCase& step_;
};

std::string Collective(const ConfigValue& item, const RowFields& row) {
  const std::vector<ConfigValue>& parts = item.items();
  if (parts.size() == 6 && parts[0].is_string() && parts[1].is_string() &&
      parts[4].is_string()) {
    const auto bytes = parts[2].AsInteger();
    const auto ranks = parts[3].AsInteger();
    const auto times = parts[5].AsInteger();
    if (bytes && ranks && times) {
      return fmt::format("{} {} {} of {}, {}, {} times", parts[0].spelling(),
                         parts[1].spelling(), *bytes, *ranks,
                         parts[4].spelling(), *times);
    }
  }
  row.Problem(&item, "collectives",
              "is not kind, dtype, bytes, group size, phase and repeats",
              "record the row again");
  return "";
}

}  // namespace

std::optional<RecordedRank> ReadRank(const RowFields& row,
                                     const StepCase& step) {
  for (const WrapperName& wrapper : kWrappers) {
    if (wrapper.name != step.sharding) continue;
    RecordedRank out =
        RankReader(row.Of(*row.Object("case")), step).Read(wrapper);
    for (const ConfigValue& item : row.Items("collectives")) {
      out.collectives.push_back(Collective(item, row));
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace foretell
