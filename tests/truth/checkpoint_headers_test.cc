// Headers that the real libraries wrote (tools/checkpoints/make.py), read
// exactly: every name, element type, shape and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "input/checkpoint.h"
#include "input/source_scratch_folder.h"
#include "spec/checkpoint.h"
#include "tests/truth/checkpoint_case.h"

namespace foretell {
namespace {

using Row = std::tuple<std::string, std::string, std::vector<int64_t>, int64_t>;

std::vector<Row> ExpectedRows(const CheckpointCase& file) {
  std::vector<Row> out;
  for (const ConfigValue& tensor : file.tensors.items()) {
    const auto& parts = tensor.items();
    std::vector<int64_t> shape;
    for (const ConfigValue& extent : parts[2].items()) {
      shape.push_back(extent.AsInteger().value());
    }
    out.emplace_back(std::string(parts[0].AsString().value()),
                     std::string(parts[1].AsString().value()), shape,
                     parts[3].AsInteger().value());
  }
  std::ranges::sort(out);
  return out;
}

void WriteCase(const CheckpointCase& file, const ScratchFolder& folder) {
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
  const std::vector<CheckpointCase> cases = CheckpointCases();
  EXPECT_GE(cases.size(), 25u);
  for (const CheckpointCase& file : cases) {
    if (file.name == "split") continue;
    SCOPED_TRACE(file.name + ", " + file.format);
    const ScratchFolder folder;
    WriteCase(file, folder);
    const Checkpoint checkpoint = ReadCheckpointAt(folder.Path(file.file));
    EXPECT_EQ(NameOf(checkpoint.format), file.format);
    EXPECT_EQ(RowsOf(checkpoint), ExpectedRows(file));
    // The folder holds that file alone, so that it is the same checkpoint.
    EXPECT_EQ(ReadCheckpointAt(folder.path()).tensors, checkpoint.tensors);
  }
}

TEST(CheckpointHeaders, ReadAllFilesOfASet) {
  const ScratchFolder folder;
  std::vector<Row> expected;
  std::string last;
  int files = 0;
  for (const CheckpointCase& file : CheckpointCases()) {
    if (file.name != "split") continue;
    WriteCase(file, folder);
    for (Row& row : ExpectedRows(file)) expected.push_back(std::move(row));
    last = file.file;
    ++files;
  }
  std::ranges::sort(expected);
  ASSERT_EQ(files, 3);
  EXPECT_EQ(RowsOf(ReadCheckpointAt(folder.Path(last))), expected);
  EXPECT_EQ(RowsOf(ReadCheckpointAt(folder.path())), expected);
}

TEST(CheckpointHeaders, KeepTheMetadataOfGguf) {
  for (const CheckpointCase& file : CheckpointCases()) {
    if (file.format != "GGUF" || !file.name.starts_with("every")) continue;
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
  for (const CheckpointCase& file : CheckpointCases()) {
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
