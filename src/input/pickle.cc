#include "input/pickle.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/checked.h"
#include "base/figure.h"
#include "input/checkpoint_limits.h"
#include "input/pickle_names.h"
#include "input/pickle_stack.h"

namespace foretell {
namespace {

using Kind = PickleValue::Kind;

class Machine : public PickleStack {
 public:
  using PickleStack::PickleStack;

  Pickle Run() {
    while (true) {
      const unsigned char code = NextOperation();
      if (code == '.') return Finish();
      if (!RunValue(code) && !RunContainer(code) && !RunMemo(code) &&
          !RunCall(code)) {
        Fail(
            fmt::format("holds the pickle operation 0x{:02x}, which no "
                        "checkpoint needs and which is not followed",
                        code));
      }
    }
  }

 private:
  void PushTuple(size_t count) {
    std::vector<int32_t> items(count);
    for (size_t i = count; i-- > 0;) items[i] = Pop();
    PushList(std::move(items));
  }
  void PushWhole(int64_t value) {
    Push({.kind = Kind::kWhole, .whole = value});
  }
  void PushLong(uint64_t bytes) {
    std::string text = Text(bytes);
    if (text.size() > 8) {
      Push({.kind = Kind::kBig, .text = std::move(text)});
      return;
    }
    uint64_t value =
        !text.empty() && static_cast<signed char>(text.back()) < 0 ? ~0ULL : 0;
    for (size_t i = text.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(text[i]);
    }
    PushWhole(static_cast<int64_t>(value));
  }
  void PushDecimal(std::string text) {
    if (text.ends_with('L')) text.pop_back();
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      Fail("a number is none: " + ShownName(text));
    }
    PushWhole(value);
  }

  bool RunValue(unsigned char code) {
    switch (code) {
      case 0x80:  // PROTO
        if (Number(1) > 5) Fail("has a pickle protocol past 5");
        return true;
      case 0x95:  // FRAME
        Take(8);
        return true;
      case 'N':
        Push({});
        return true;
      case 0x88:
      case 0x89:
        Push({.kind = Kind::kBool, .whole = code == 0x88 ? 1 : 0});
        return true;
      case 'J':
        PushWhole(static_cast<int32_t>(Number(4)));
        return true;
      case 'K':
        PushWhole(static_cast<int64_t>(Number(1)));
        return true;
      case 'M':
        PushWhole(static_cast<int64_t>(Number(2)));
        return true;
      case 0x8a:
        PushLong(Number(1));
        return true;
      case 0x8b:
        PushLong(Number(4));
        return true;
      case 'I':
      case 'L':
        PushDecimal(Line());
        return true;
      case 'F':
        Line();
        Push({.kind = Kind::kReal});
        return true;
      case 'G':
        Take(8);
        Push({.kind = Kind::kReal});
        return true;
      default:
        return RunText(code);
    }
  }

  bool RunText(unsigned char code) {
    switch (code) {
      case 'X':
        Push({.kind = Kind::kText, .text = Text(Number(4))});
        return true;
      case 0x8c:
        Push({.kind = Kind::kText, .text = Text(Number(1))});
        return true;
      case 0x8d:
        Push({.kind = Kind::kText, .text = Text(Number(8))});
        return true;
      case 'T':  // a str of Python 2
        Push({.kind = Kind::kText, .text = Text(Number(4))});
        return true;
      case 'U':
        Push({.kind = Kind::kText, .text = Text(Number(1))});
        return true;
      case 'B':
        Push({.kind = Kind::kBytes, .text = Text(Number(4))});
        return true;
      case 'C':
        Push({.kind = Kind::kBytes, .text = Text(Number(1))});
        return true;
      case 0x8e:
        Push({.kind = Kind::kBytes, .text = Text(Number(8))});
        return true;
      default:
        return false;
    }
  }

  bool RunContainer(unsigned char code) {
    switch (code) {
      case '(':
        PushMark();
        return true;
      case '0':
        PopMarkOrValue();
        return true;
      case '1':
        PopToMark();
        return true;
      case '2': {
        const int32_t value = Pop();
        PushAgain(value);
        PushAgain(value);
        return true;
      }
      case ']':
      case ')':
      case 0x8f:  // EMPTY_SET
        Push({.kind = Kind::kList});
        return true;
      case '}':
        Push({.kind = Kind::kDict});
        return true;
      case 'l':
      case 't':
        PushList(PopToMark());
        return true;
      case 'd': {
        const std::vector<int32_t> items = PopToMark();
        Push({.kind = Kind::kDict});
        FillDict(items);
        return true;
      }
      case 0x85:
      case 0x86:
      case 0x87:
        PushTuple(static_cast<size_t>(code) - 0x84);
        return true;
      default:
        return RunFill(code);
    }
  }

  bool RunFill(unsigned char code) {
    switch (code) {
      case 'a':
      case 'e':
      case 0x90: {
        const std::vector<int32_t> items =
            code == 'a' ? std::vector<int32_t>{Pop()} : PopToMark();
        PickleValue& list = Top();
        if (list.kind != Kind::kList) Fail("appends to what is no list");
        Extend(list, items);
        return true;
      }
      case 's': {
        const int32_t value = Pop();
        const int32_t key = Pop();
        FillDict({key, value});
        return true;
      }
      case 'u':
        FillDict(PopToMark());
        return true;
      default:
        return false;
    }
  }

  uint64_t LineNumber() {
    const std::string text = Line();
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      Fail("a number is none: " + ShownName(text));
    }
    return value;
  }

  bool RunMemo(unsigned char code) {
    switch (code) {
      case 'q':
        Remember(Number(1));
        return true;
      case 'r':
        Remember(Number(4));
        return true;
      case 'p':
        Remember(LineNumber());
        return true;
      case 0x94:  // MEMOIZE
        RememberNext();
        return true;
      case 'h':
        Recall(Number(1));
        return true;
      case 'j':
        Recall(Number(4));
        return true;
      case 'g':
        Recall(LineNumber());
        return true;
      default:
        return false;
    }
  }

  bool RunCall(unsigned char code) {
    switch (code) {
      case 'c': {
        const std::string module = Line();
        PushName(module + "." + Line());
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const int32_t name = Pop();
        const int32_t module = Pop();
        if (At(name).kind != Kind::kText || At(module).kind != Kind::kText) {
          Fail("names a function by what is no text");
        }
        PushName(At(module).text + "." + At(name).text);
        return true;
      }
      case 'R':
      case 0x81: {  // REDUCE, NEWOBJ
        const int32_t arguments = Pop();
        const int32_t callee = Pop();
        if (At(callee).kind != Kind::kName) Fail("calls what is no function");
        Call(PickleNameOf(At(callee).text), Arguments(arguments));
        return true;
      }
      case 'b': {  // BUILD: attributes, such as a state_dict's _metadata
        Pop();
        const Kind kind = Top().kind;
        if (kind != Kind::kDict && kind != Kind::kTensor &&
            kind != Kind::kOpaque) {
          Fail("sets attributes of what has none");
        }
        return true;
      }
      case 'Q':
        PushStorage(Pop());
        return true;
      default:
        return false;
    }
  }

  void PushName(std::string name) {
    if (PickleNameOf(name).meaning == PickleName::kRefused) {
      Fail("would call " + ShownName(name) +
           ", which is none of the names that tensors are made of");
    }
    Push({.kind = Kind::kName, .text = std::move(name)});
  }

  int64_t WholeAt(const std::vector<int32_t>& items, size_t index) {
    if (index >= items.size() || At(items[index]).kind != Kind::kWhole ||
        At(items[index]).whole < 0) {
      Fail("a tensor's size is no whole number");
    }
    return At(items[index]).whole;
  }

  void PushStorage(int32_t id) {
    // ("storage", its class, its key, where it was, its elements[, a view])
    const std::vector<int32_t> items = Arguments(id);
    if (items.size() < 5 || At(items[0]).kind != Kind::kText ||
        At(items[0]).text != "storage" || At(items[1]).kind != Kind::kName ||
        At(items[2]).kind != Kind::kText) {
      Fail("names something outside that is no storage");
    }
    if (items.size() > 5 && At(items[5]).kind != Kind::kNone) {
      Fail("holds a view of a storage, which torch wrote before 0.4");
    }
    const PickleNameRow row = PickleNameOf(At(items[1]).text);
    if (row.meaning != PickleName::kStorage) {
      Fail("has a storage of no class of storages");
    }
    Push({.kind = Kind::kStorage,
          .text = At(items[2]).text,
          .dtype = std::string(row.dtype),
          .whole = WholeAt(items, 4)});
  }

  // Inside its storage; elements of an untyped one are bytes.
  void PushTensor(const std::vector<int32_t>& items, std::string_view dtype) {
    if (items.size() < 4 || At(items[0]).kind != Kind::kStorage) {
      Fail("a tensor lacks its storage, its size or its strides");
    }
    PickleValue out{.kind = Kind::kTensor, .items = {items[0]}};
    const PickleValue& storage = At(items[0]);
    out.dtype = dtype.empty() ? storage.dtype : std::string(dtype);
    out.numbers.push_back(WholeAt(items, 1));
    const std::vector<int32_t> sizes = Arguments(items[2]);
    const std::vector<int32_t> strides = Arguments(items[3]);
    if (sizes.size() != strides.size()) {
      Fail("a tensor has a stride too many or too few");
    }
    std::optional<int64_t> end = CheckedAdd(out.numbers[0], 1);
    bool is_empty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t extent = WholeAt(sizes, i);
      out.numbers.push_back(extent);
      is_empty = is_empty || extent == 0;
      const auto step = CheckedMul(extent - 1, WholeAt(strides, i));
      end = end && step ? CheckedAdd(*end, *step) : std::nullopt;
    }
    const auto bytes =
        end ? CheckedMul(*end, TorchElementBytes(out.dtype)) : std::nullopt;
    const auto held =
        CheckedMul(storage.whole, TorchElementBytes(storage.dtype));
    if (!held || (!is_empty && (!bytes || *bytes > *held))) {
      Fail("a tensor ends behind its storage of " +
           WithSeparators(storage.whole) + " elements");
    }
    Push(std::move(out));
  }

  void Call(const PickleNameRow& row, const std::vector<int32_t>& items) {
    switch (row.meaning) {
      case PickleName::kDict:
        Push({.kind = Kind::kDict});
        if (!items.empty()) FillFromPairs(items[0]);
        return;
      case PickleName::kTensor:
        PushTensor(items, "");
        return;
      case PickleName::kTensorWithDtype:
        if (items.size() < 7 || At(items[6]).kind != Kind::kName) {
          Fail("a tensor lacks its dtype");
        }
        PushTensor(items, PickleNameOf(At(items[6]).text).dtype);
        return;
      case PickleName::kParameter:
      case PickleName::kSize:
        if (items.empty()) Fail("calls a function without its argument");
        PushAgain(items[0]);
        return;
      case PickleName::kOpaque:
        Push({.kind = Kind::kOpaque});
        return;
      case PickleName::kStorage:
      case PickleName::kDtype:
      case PickleName::kRefused:
        break;
    }
    Fail("calls what is no function: " + std::string(row.name));
  }

  // OrderedDict([(key, value), …]), as Python 2 wrote it.
  void FillFromPairs(int32_t list) {
    if (At(list).kind != Kind::kList) Fail("makes a dictionary of no pairs");
    const std::vector<int32_t> pairs = At(list).items;
    std::vector<int32_t> flat;
    for (const int32_t pair : pairs) {
      if (At(pair).kind != Kind::kList || At(pair).items.size() != 2) {
        Fail("makes a dictionary of no pairs");
      }
      flat.push_back(At(pair).items[0]);
      flat.push_back(At(pair).items[1]);
    }
    FillDict(flat);
  }
};

}  // namespace

Pickle ReadPickle(ByteWindow& window, int64_t offset) {
  return Machine(window, offset).Run();
}

}  // namespace foretell
