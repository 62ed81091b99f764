// The memory of the pickle machine: its bytes, its stack, its values and what
// it remembers, each within a limit.
//
// In: the operations' arguments, from a window of bytes. Out: values of
// input/pickle.h. What an operation means is said in input/pickle.cc.
//
// Throws InputErrors with the byte of the operation that runs.
#ifndef FORETELL_INPUT_PICKLE_STACK_H_
#define FORETELL_INPUT_PICKLE_STACK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "input/byte_window.h"
#include "input/pickle.h"

namespace foretell {

class PickleStack {
 public:
  PickleStack(ByteWindow& window, int64_t offset)
      : window_(window), first_(offset), at_(offset) {}

 protected:
  [[noreturn]] void Fail(std::string what) const;

  // The next operation; what fails from then on is told at its byte.
  unsigned char NextOperation();
  std::string_view Take(int64_t count);
  uint64_t Number(int64_t width);  // little-endian
  std::string Text(uint64_t bytes);
  std::string Line();  // up to a line feed, which is not part of it

  void Push(PickleValue value);
  void PushMark();
  // A value that is there already.
  void PushAgain(int32_t index) { stack_.push_back(index); }
  void PushList(std::vector<int32_t> items);
  int32_t Pop();
  void PopMarkOrValue();
  std::vector<int32_t> PopToMark();
  PickleValue& At(int32_t index);
  PickleValue& Top();  // the container that is to be filled
  void Extend(PickleValue& list, const std::vector<int32_t>& items);
  void FillDict(const std::vector<int32_t>& items);
  // The items of a tuple, copied: a short one, so that a long list that is
  // passed over and over costs nothing.
  std::vector<int32_t> Arguments(int32_t index);

  void Remember(uint64_t key);
  void RememberNext() { Remember(memo_.size()); }
  void Recall(uint64_t key);

  Pickle Finish();

 private:
  ByteWindow& window_;
  int64_t first_;
  int64_t at_;
  int64_t start_ = 0;  // of the operation that runs
  Pickle out_;
  std::vector<int32_t> stack_;
  std::unordered_map<uint64_t, int32_t> memo_;
  int64_t items_ = 0;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_PICKLE_STACK_H_
