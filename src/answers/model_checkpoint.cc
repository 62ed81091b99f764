#include "answers/model_checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/figure.h"

namespace foretell {

ModelCheckpoint DescribeCheckpoint(const Checkpoint& checkpoint) {
  ModelCheckpoint out;
  out.source = checkpoint.source;
  out.format = NameOf(checkpoint.format);
  out.files = static_cast<int64_t>(checkpoint.files.size());
  out.tensors = static_cast<int64_t>(checkpoint.tensors.size());
  out.index = checkpoint.index;
  out.stated_bytes = checkpoint.stated_bytes;
  out.bytes = SumCheckpoint(checkpoint);
  return out;
}

std::optional<Finding> CheckpointFinding(const ModelCheckpoint& checkpoint,
                                         bool is_asked) {
  if (!checkpoint.against || !checkpoint.against->Differs()) {
    return std::nullopt;
  }
  static constexpr std::array kKinds = {
      DifferenceKind::kMissing, DifferenceKind::kSurplus,
      DifferenceKind::kShape, DifferenceKind::kDtype};
  std::vector<std::string> counts;
  for (const DifferenceKind kind : kKinds) {
    const int64_t count = checkpoint.against->CountOf(kind);
    if (count == 0) continue;
    counts.push_back(fmt::format("{} {}", WithSeparators(count), NameOf(kind)));
  }
  Finding out;
  out.rule = kCheckpointRule;
  out.severity = is_asked ? Severity::kBlock : Severity::kWarn;
  out.what = fmt::format(
      "the checkpoint's tensors are not those of the configuration: {}",
      fmt::join(counts, ", "));
  out.why =
      "loading would leave missing tensors at random values, skip surplus ones "
      "and refuse another shape; another dtype is cast";
  out.fix =
      "take configuration and weights of one revision; --json lists every "
      "tensor that differs";
  out.place.source = checkpoint.source;
  return out;
}

}  // namespace foretell
