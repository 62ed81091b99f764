#include "input/pickle_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/figure.h"
#include "input/checkpoint_limits.h"

namespace foretell {
namespace {

using Kind = PickleValue::Kind;

// A tensor takes about twenty values: enough for 100,000 of them, and at most
// 0.3 GB of memory.
constexpr size_t kMostValues = 2'000'000;
// A stack is as high as the longest list that is built at once: pickle writes
// lists in batches of 1,000 (Lib/pickle.py, _BATCHSIZE).
constexpr size_t kMostStack = 1'000'000;
// Elements of all lists together, since operations that add to a list take no
// new value.
constexpr int64_t kMostItems = 30'000'000;

// Stands on the stack where a list of arguments begins.
constexpr int32_t kMark = -1;

// A text within a checkpoint: a name, or a configuration beside the weights.
constexpr int64_t kMostPickleText = ByteWindow::kMostWindow;
constexpr size_t kMostLine = 1024;

}  // namespace

void PickleStack::Fail(std::string what) const {
  window_.Fail(start_, std::move(what),
               "nothing of it was executed; save the weights alone as "
               "safetensors");
}

unsigned char PickleStack::NextOperation() {
  start_ = at_;
  if (at_ - first_ > kMostPickleBytes) {
    Fail("has more than " + WithSeparators(kMostPickleBytes) + " bytes");
  }
  if (stack_.size() > kMostStack) Fail("its stack is too high");
  return static_cast<unsigned char>(Take(1)[0]);
}

std::string_view PickleStack::Take(int64_t count) {
  const std::string_view bytes = window_.At(at_, count, "the pickle");
  at_ += count;
  return bytes;
}

uint64_t PickleStack::Number(int64_t width) {
  const std::string_view bytes = Take(width);
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::string PickleStack::Text(uint64_t bytes) {
  if (bytes > static_cast<uint64_t>(kMostPickleText)) {
    Fail(fmt::format("a text would have {} bytes", bytes));
  }
  return std::string(Take(static_cast<int64_t>(bytes)));
}

std::string PickleStack::Line() {
  std::string out;
  while (true) {
    const char c = Take(1)[0];
    if (c == '\n') return out;
    out += c;
    if (out.size() > kMostLine) Fail("a name is too long");
  }
}

void PickleStack::Push(PickleValue value) {
  if (out_.values.size() >= kMostValues) {
    Fail("holds more than " + WithSeparators(kMostValues) + " values");
  }
  stack_.push_back(static_cast<int32_t>(out_.values.size()));
  out_.values.push_back(std::move(value));
}

void PickleStack::PushMark() { stack_.push_back(kMark); }

void PickleStack::PushList(std::vector<int32_t> items) {
  items_ += static_cast<int64_t>(items.size());
  if (items_ > kMostItems) Fail("its lists are too long");
  Push({.kind = Kind::kList, .items = std::move(items)});
}

int32_t PickleStack::Pop() {
  if (stack_.empty() || stack_.back() == kMark) {
    Fail("takes a value from an empty stack");
  }
  const int32_t value = stack_.back();
  stack_.pop_back();
  return value;
}

void PickleStack::PopMarkOrValue() {
  if (stack_.empty()) Fail("takes a value from an empty stack");
  stack_.pop_back();
}

std::vector<int32_t> PickleStack::PopToMark() {
  const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
  if (mark == stack_.rend()) Fail("closes a list that was not opened");
  std::vector<int32_t> items(mark.base(), stack_.end());
  stack_.erase(mark.base() - 1, stack_.end());
  return items;
}

PickleValue& PickleStack::At(int32_t index) {
  return out_.values[static_cast<size_t>(index)];
}

PickleValue& PickleStack::Top() {
  if (stack_.empty() || stack_.back() == kMark) {
    Fail("fills a container that is not there");
  }
  return At(stack_.back());
}

void PickleStack::Extend(PickleValue& list, const std::vector<int32_t>& items) {
  items_ += static_cast<int64_t>(items.size());
  if (items_ > kMostItems) Fail("its lists are too long");
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void PickleStack::FillDict(const std::vector<int32_t>& items) {
  if (items.size() % 2 != 0) Fail("a key has no value");
  PickleValue& dict = Top();
  if (dict.kind != Kind::kDict) Fail("sets an item of what is no dictionary");
  Extend(dict, items);
}

std::vector<int32_t> PickleStack::Arguments(int32_t index) {
  const PickleValue& value = At(index);
  if (value.kind != Kind::kList || value.items.size() > kMostDims) {
    Fail("takes as arguments, size or strides what is no short tuple");
  }
  return value.items;
}

void PickleStack::Remember(uint64_t key) {
  if (stack_.empty() || stack_.back() == kMark) Fail("remembers no value");
  if (memo_.size() >= kMostValues) Fail("remembers too many values");
  memo_[key] = stack_.back();
}

void PickleStack::Recall(uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) Fail("recalls a value that it never remembered");
  stack_.push_back(found->second);
}

Pickle PickleStack::Finish() {
  out_.root = Pop();
  out_.end = at_;
  return std::move(out_);
}

}  // namespace foretell
