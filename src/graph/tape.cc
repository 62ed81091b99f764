#include "graph/tape.h"

namespace foretell {

// One for each edge of the node; an input that is given twice has two.
std::vector<OperationId> Tape::MakersOfInputs(OperationId operation) const {
  std::vector<OperationId> makers;
  for (const ValueId id :
       graph_->InputsOf(graph_->operations[operation.index])) {
    const OperationId maker = MakerOf(id);
    if (maker.valid()) makers.push_back(maker);
  }
  return makers;
}

void Tape::Record(OperationId operation) {
  if (entries_.size() <= operation.index) {
    entries_.resize(operation.index + size_t{1});
  }
  entries_[operation.index].exists = true;
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
    Release(one);
    const std::vector<OperationId> makers = MakersOfInputs(one);
    left.insert(left.end(), makers.begin(), makers.end());
  }
}

}  // namespace foretell
