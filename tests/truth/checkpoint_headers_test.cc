// Headers that the real libraries wrote (tools/checkpoints/make.py), read
// exactly: every name, element type, shape and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "input/checkpoint.h"
#include "input/json.h"
#include "input/source_scratch_folder.h"
#include "spec/checkpoint.h"

namespace foretell {
namespace {

std::string Unbase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

// Pieces of a file, zeros between and behind them.
std::string Joined(const ConfigValue& pieces, int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  for (const ConfigValue& piece : pieces.items()) {
    const std::string part = Unbase64(piece.items()[1].AsString().value());
    out.replace(static_cast<size_t>(piece.items()[0].AsInteger().value()),
                part.size(), part);
  }
  return out;
}

using Row = std::tuple<std::string, std::string, std::vector<int64_t>, int64_t>;

struct HeaderCase {
  std::string name;
  std::string format;
  std::string file;
  std::string bytes;
  std::vector<Row> tensors;
};

std::string TextOf(const ConfigValue& row, std::string_view key) {
  return std::string(row.Find(key)->AsString().value());
}

std::vector<HeaderCase> Cases() {
  std::ifstream file(std::string(FORETELL_SOURCE_DIR) +
                     "/tests/truth/checkpoints.jsonl");
  std::vector<HeaderCase> out;
  for (std::string line; std::getline(file, line);) {
    const ConfigValue row = ParseJson(line, "checkpoints.jsonl");
    HeaderCase next;
    next.name = TextOf(row, "case");
    next.format = TextOf(row, "format");
    next.file = TextOf(row, "name");
    next.bytes =
        Joined(*row.Find("pieces"), row.Find("bytes")->AsInteger().value());
    for (const ConfigValue& tensor : row.Find("tensors")->items()) {
      const auto& parts = tensor.items();
      std::vector<int64_t> shape;
      for (const ConfigValue& extent : parts[2].items()) {
        shape.push_back(extent.AsInteger().value());
      }
      next.tensors.emplace_back(std::string(parts[0].AsString().value()),
                                std::string(parts[1].AsString().value()), shape,
                                parts[3].AsInteger().value());
    }
    out.push_back(std::move(next));
  }
  return out;
}

void WriteCase(const HeaderCase& file, const ScratchFolder& folder) {
  folder.Write(file.file, file.bytes);
}

std::vector<Row> RowsOf(const Checkpoint& checkpoint) {
  std::vector<Row> out;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    out.emplace_back(tensor.name, tensor.dtype, tensor.shape, tensor.bytes);
  }
  std::ranges::sort(out);
  return out;
}

TEST(CheckpointHeaders, AreReadAsTheirOwnLibrariesReadThem) {
  const std::vector<HeaderCase> cases = Cases();
  EXPECT_GE(cases.size(), 25u);
  for (const HeaderCase& file : cases) {
    if (file.name == "split") continue;
    SCOPED_TRACE(file.name + ", " + file.format);
    const ScratchFolder folder;
    WriteCase(file, folder);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.Path(file.file));
    EXPECT_EQ(NameOf(checkpoint.format), file.format);
    std::vector<Row> expected = file.tensors;
    std::ranges::sort(expected);
    EXPECT_EQ(RowsOf(checkpoint), expected);
    // The folder holds that file alone, so that it is the same checkpoint.
    EXPECT_EQ(ReadCheckpointAt(folder.path()).tensors, checkpoint.tensors);
  }
}

TEST(CheckpointHeaders, ReadAllFilesOfASet) {
  const ScratchFolder folder;
  std::vector<Row> expected;
  std::string last;
  int files = 0;
  for (const HeaderCase& file : Cases()) {
    if (file.name != "split") continue;
    WriteCase(file, folder);
    expected.insert(expected.end(), file.tensors.begin(), file.tensors.end());
    last = file.file;
    ++files;
  }
  std::ranges::sort(expected);
  ASSERT_EQ(files, 3);
  EXPECT_EQ(RowsOf(ReadCheckpointAt(folder.Path(last))), expected);
  EXPECT_EQ(RowsOf(ReadCheckpointAt(folder.path())), expected);
}

TEST(CheckpointHeaders, KeepTheMetadataOfGguf) {
  for (const HeaderCase& file : Cases()) {
    if (file.format != "GGUF" || file.name == "split") continue;
    SCOPED_TRACE(file.name);
    const ScratchFolder folder;
    WriteCase(file, folder);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
    std::map<std::string, std::string> values;
    for (const CheckpointEntry& entry : checkpoint.metadata) {
      values[entry.key] = entry.value.ToJson();
    }
    EXPECT_EQ(values["general.architecture"], "\"llama\"");
    EXPECT_EQ(values["llama.block_count"], "2");
    EXPECT_EQ(values["a.uint8"], "200");
    EXPECT_EQ(values["a.int8"], "-100");
    EXPECT_EQ(values["a.uint16"], "60000");
    EXPECT_EQ(values["a.int16"], "-30000");
    EXPECT_EQ(values["a.uint32"], "4000000000");
    EXPECT_EQ(values["a.int32"], "-2000000000");
    EXPECT_EQ(values["a.uint64"], "1152921504606846976");
    EXPECT_EQ(values["a.int64"], "-1152921504606846976");
    EXPECT_EQ(values["a.float32"], "0.5");
    EXPECT_EQ(values["a.float64"], "1e-300");
    EXPECT_EQ(values["a.bool"], "true");
    EXPECT_EQ(values["a.string"], "\"text \xCE\xB1\"");
    EXPECT_EQ(values["a.numbers"], "[8,8,4]");
    EXPECT_EQ(values["a.bools"], "[true,false]");
    ASSERT_NE(checkpoint.Find("a.texts"), nullptr);
    EXPECT_EQ(checkpoint.Find("a.texts")->items, 2);
    EXPECT_TRUE(checkpoint.Find("a.texts")->value.is_null());
  }
}

TEST(CheckpointHeaders, TellsTiedTensorsByTheirPlace) {
  for (const HeaderCase& file : Cases()) {
    if (file.format != "PyTorch" || file.file != "types.bin") continue;
    const ScratchFolder folder;
    WriteCase(file, folder);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
    std::map<std::string, int64_t> offsets;
    for (const StoredTensor& tensor : checkpoint.tensors) {
      offsets[tensor.name] = tensor.offset;
    }
    EXPECT_EQ(offsets["tied"], offsets["a.float32"]);
    // The second column of three rows, in elements of two bytes.
    EXPECT_EQ(offsets["view"], offsets["a.bfloat16"] + 2);
    return;
  }
  FAIL() << "no case with ties";
}

}  // namespace
}  // namespace foretell
