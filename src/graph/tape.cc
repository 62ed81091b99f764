#include "graph/tape.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/operation_row.h"

namespace foretell {
namespace {

constexpr std::string_view kProduct = "aten.mm.default";
constexpr std::array<std::string_view, 9> kChosen = {
    kProduct,
    "aten.addmm.default",
    "aten.bmm.default",
    "aten.convolution.default",
    "aten._scaled_dot_product_flash_attention.default",
    "aten._scaled_dot_product_efficient_attention.default",
    "aten._scaled_dot_product_cudnn_attention.default",
    "aten.max.default",
    "aten.topk.default"};

}  // namespace

// One for each edge of the node; an input that is given twice has two.
std::vector<OperationId> Tape::MakersOfInputs(OperationId operation) const {
  std::vector<OperationId> makers;
  const uint32_t count = graph_->operations[operation.index].input_count;
  for (uint32_t i = 0; i < count; ++i) {
    const OperationId maker = MakerOf(EdgeOf(operation, i));
    if (maker.valid()) makers.push_back(maker);
  }
  return makers;
}

ValueId Tape::EdgeOf(OperationId operation, size_t input) const {
  const ViewWriteRecord* const write = ViewWriteOf(operation);
  if (write != nullptr && input == 0) return write->base;
  return graph_->InputsOf(graph_->operations[operation.index])[input];
}

const ViewWriteRecord* Tape::ViewWriteOf(OperationId operation) const {
  const auto at = view_writes_.find(operation.index);
  return at == view_writes_.end() ? nullptr : &at->second;
}

ValueId Tape::BeforeViewWrite(ValueId value) const {
  const auto at = before_view_write_.find(value.index);
  return at == before_view_write_.end() ? ValueId{} : at->second;
}

void Tape::RecordViewWrite(OperationId operation, ViewWriteRecord record) {
  const auto& of = graph_->operations[operation.index];
  const OperationId maker_of_view = MakerOf(graph_->InputsOf(of)[0]);
  const OperationId maker_of_base = MakerOf(record.base);
  // Held before it is let go, where the two lead to one another.
  if (maker_of_base.valid()) ++entries_[maker_of_base.index].references;
  SetMaker(record.rebased, operation);
  // The view as written is a view of the tensor, no result of this node.
  maker_[graph_->OutputsOf(of)[0].index] = OperationId{};
  --entries_[operation.index].references;
  before_view_write_.emplace(record.rebased.index, record.base);
  view_writes_.emplace(operation.index, std::move(record));
  if (maker_of_view.valid()) Drop(maker_of_view);
}

void Tape::Record(OperationId operation) {
  if (entries_.size() <= operation.index) {
    entries_.resize(operation.index + size_t{1});
  }
  entries_[operation.index].exists = true;
  if (in_frame_) {
    entries_[operation.index].frame = static_cast<uint32_t>(frames_.size());
  }
  for (const ValueId id :
       graph_->InputsOf(graph_->operations[operation.index])) {
    const OperationId maker = MakerOf(id);
    if (maker.valid()) ++entries_[maker.index].references;
  }
}

bool Tape::Has(OperationId operation) const {
  return operation.index < entries_.size() && entries_[operation.index].exists;
}

OperationId Tape::MakerOf(ValueId value) const {
  return value.index < maker_.size() ? maker_[value.index] : OperationId{};
}

void Tape::SetMaker(ValueId value, OperationId operation) {
  if (maker_.size() <= value.index) maker_.resize(value.index + size_t{1});
  maker_[value.index] = operation;
  ++entries_[operation.index].references;
}

std::span<const Tensor> Tape::KeptBy(OperationId operation) const {
  const Operation& of = graph_->operations[operation.index];
  return std::span(kept_).subspan(of.first_saved, of.saved_count);
}

void Tape::Release(OperationId operation) {
  const Operation of = graph_->operations[operation.index];
  for (uint32_t i = 0; i < of.saved_count; ++i) {
    // Its last name may be the last of another record, which then goes too.
    const Tensor last = std::move(kept_[of.first_saved + i]);
  }
  LeaveFrame(operation);
}

// The frame goes with the last record that could ask it to recompute.
void Tape::LeaveFrame(OperationId operation) {
  Entry& entry = entries_[operation.index];
  if (entry.frame == 0) return;
  CheckpointFrame& frame = frames_[entry.frame - 1];
  entry.frame = 0;
  const bool asks = graph_->operations[operation.index].saved_count > 0;
  if (!asks || --frame.left > 0) return;
  const std::vector<Tensor> last = std::move(frame.held);
  const auto results = std::move(frame.results);
}

void Tape::KeepInFrame(bool is_first) {
  kept_.emplace_back();
  if (is_first) ++frames_.back().left;
}

void Tape::BeginFrame(std::vector<Tensor> held) {
  CheckpointFrame frame;
  frame.first_step = static_cast<uint32_t>(graph_->steps.size());
  frame.first_value = static_cast<uint32_t>(graph_->values.size());
  frame.held = std::move(held);
  frames_.push_back(std::move(frame));
  in_frame_ = true;
}

void Tape::EndFrame() {
  frames_.back().end_step = static_cast<uint32_t>(graph_->steps.size());
  frames_.back().end_value = static_cast<uint32_t>(graph_->values.size());
  in_frame_ = false;
}

bool Tape::KeepsResult(const OperationRow& row) {
  if (!in_frame_ || !policy_.by_operator) return false;
  if (std::ranges::find(kChosen, row.name) == kChosen.end()) return false;
  return row.name != kProduct || ++frames_.back().products % 2 != 0;
}

CheckpointFrame* Tape::FrameOf(OperationId operation) {
  if (operation.index >= entries_.size()) return nullptr;
  const uint32_t frame = entries_[operation.index].frame;
  return frame == 0 ? nullptr : &frames_[frame - 1];
}

void Tape::LoseOutput(ValueId value) {
  const OperationId maker = MakerOf(value);
  if (maker.valid()) Drop(maker);
}

// Not recursive: a long chain of records may end at once.
void Tape::Drop(OperationId operation) {
  std::vector<OperationId> left = {operation};
  while (!left.empty()) {
    const OperationId one = left.back();
    left.pop_back();
    Entry& entry = entries_[one.index];
    if (!entry.exists || --entry.references > 0) continue;
    entry.exists = false;
    leaves_.erase(one.index);
    Release(one);
    const std::vector<OperationId> makers = MakersOfInputs(one);
    left.insert(left.end(), makers.begin(), makers.end());
  }
}

}  // namespace foretell
