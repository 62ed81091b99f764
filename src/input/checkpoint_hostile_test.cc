// Headers that lie: each is an error that says where and what, and none of
// them takes memory or time by what it claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/input_error.h"
#include "input/checkpoint.h"
#include "input/checkpoint_gguf.h"
#include "input/checkpoint_index.h"
#include "input/checkpoint_onnx.h"
#include "input/checkpoint_pytorch.h"
#include "input/checkpoint_safetensors.h"
#include "input/memory_bytes.h"
#include "input/source_scratch_folder.h"

namespace foretell {
namespace {

using testing::HasSubstr;

// The corpus of the fuzzers holds the hostile files, and whole ones.
std::string Corpus(const std::string& name) {
  std::ifstream file(
      std::string(FORETELL_SOURCE_DIR) + "/tests/fuzz/corpus/" + name,
      std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Read>
std::string ErrorOf(const Read& read) {
  try {
    read();
  } catch (const InputErrors& errors) {
    EXPECT_FALSE(errors.errors().front().cure.empty());
    return ToString(errors.errors().front());
  }
  return "";
}

std::string Safetensors(const std::string& name) {
  MemoryBytes source("f", Corpus("checkpoint_safetensors/" + name));
  return ErrorOf([&] { ReadSafetensorsHeader(source); });
}
std::string Gguf(const std::string& name) {
  MemoryBytes source("f", Corpus("checkpoint_gguf/" + name));
  return ErrorOf([&] { ReadGgufHeader(source); });
}
std::string PyTorch(const std::string& name) {
  MemoryBytes source("f", Corpus("checkpoint_pytorch/" + name));
  return ErrorOf([&] { ReadPyTorchHeader(source); });
}
std::string Onnx(const std::string& name) {
  MemoryBytes source("f", Corpus("checkpoint_onnx/" + name));
  return ErrorOf([&] { ReadOnnxHeader(source); });
}
std::string Index(const std::string& name) {
  const std::string text = Corpus("checkpoint_index/" + name);
  return ErrorOf([&] { ParseCheckpointIndex(text, "f"); });
}

TEST(HostileSafetensors, AreRefused) {
  EXPECT_EQ(Safetensors("two"), "");
  EXPECT_THAT(Safetensors("huge_header"),
              HasSubstr("the header's length would be 1152921504606846976 "
                        "bytes; safetensors refuses more than 100,000,000"));
  EXPECT_THAT(Safetensors("overlap"),
              HasSubstr("(tensor b): overlaps the tensor before it"));
  EXPECT_THAT(Safetensors("gap"),
              HasSubstr("(tensor a): leaves a gap of 1 bytes before it"));
  EXPECT_THAT(Safetensors("past"), HasSubstr("of which the file has 0"));
  EXPECT_THAT(Safetensors("deep"), HasSubstr("more than 16 deep"));
}

TEST(HostileGguf, AreRefused) {
  EXPECT_EQ(Gguf("one"), "");
  EXPECT_EQ(Gguf("one_v1"), "");
  EXPECT_EQ(Gguf("big"), "");
  EXPECT_THAT(Gguf("strings"),
              HasSubstr("an array's length would be 1152921504606846976"));
  EXPECT_THAT(Gguf("entries"),
              HasSubstr("the number of entries would be 1152921504606846976"));
  EXPECT_THAT(Gguf("nested"), HasSubstr("is an array of arrays"));
  EXPECT_THAT(Gguf("offset"),
              HasSubstr("would begin at byte 1152921504606846976"));
}

TEST(HostilePyTorch, AreRefused) {
  EXPECT_EQ(PyTorch("one"), "");
  EXPECT_EQ(PyTorch("deflated"), "");
  EXPECT_THAT(PyTorch("system"),
              HasSubstr("would call os.system, which is none of the names that "
                        "tensors are made of"));
  EXPECT_THAT(PyTorch("inst"), HasSubstr("holds the pickle operation 0x69"));
  EXPECT_THAT(PyTorch("deep"), HasSubstr("empty stack"));
  EXPECT_THAT(PyTorch("stride"), HasSubstr("ends behind its storage"));
  EXPECT_THAT(PyTorch("legacy_cut"), HasSubstr("would end behind the file's"));
  EXPECT_NE(PyTorch("lying_count"), "");
}

// Each list holds the one before it eight times: 8^29 paths to walk.
TEST(HostilePyTorch, SharedValuesAreNotWalkedForever) {
  EXPECT_EQ(PyTorch("memo_bomb"), "");
  EXPECT_THAT(PyTorch("memo_bomb_of_tensors"),
              HasSubstr("too many values, or too deep"));
}

TEST(HostileOnnx, AreRefused) {
  EXPECT_EQ(Onnx("one"), "");
  EXPECT_THAT(Onnx("lie"), HasSubstr("would end behind its message"));
  EXPECT_THAT(Onnx("group"), HasSubstr("is no field of a protobuf message"));
}

TEST(HostileIndex, IsRefused) {
  EXPECT_EQ(Index("one"), "");
  EXPECT_THAT(Index("outside"), HasSubstr("names a file outside the folder"));
  EXPECT_THAT(Index("twice"), HasSubstr("is there twice"));
}

TEST(StaysInFolder, TellsNamesThatLeave) {
  EXPECT_TRUE(StaysInFolder("a.bin"));
  EXPECT_TRUE(StaysInFolder("part/a.bin"));
  for (const char* name : {"", "/a", "../a", "a/../b", "a//b", ".", "a/."}) {
    EXPECT_FALSE(StaysInFolder(name)) << name;
  }
}

std::string GgufFile(int index, int count, int tensors) {
  const auto number = [](uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) {
      out += static_cast<char>(value >> (8 * i) & 0xff);
    }
    return out;
  };
  const auto text = [&](const std::string& value) {
    return number(value.size(), 8) + value;
  };
  const auto u16 = [&](const std::string& key, int value) {
    return text(key) + number(2, 4) + number(static_cast<uint64_t>(value), 2);
  };
  return "GGUF" + number(3, 4) + number(0, 8) + number(3, 8) +
         u16("split.no", index) + u16("split.count", count) +
         text("split.tensors.count") + number(5, 4) +
         number(static_cast<uint64_t>(tensors), 4);
}

std::string FolderError(const ScratchFolder& folder, const std::string& name) {
  return folder.Shown(ErrorOf([&] { ReadCheckpointAt(folder.Path(name)); }));
}

TEST(CheckpointSet, RefusesCountsThatLie) {
  const ScratchFolder folder;
  folder.Write("m-00001-of-00002.gguf", GgufFile(0, 2, 7));
  EXPECT_THAT(FolderError(folder, "m-00001-of-00002.gguf"),
              HasSubstr("DIR/m-00002-of-00002.gguf: does not exist"));
  folder.Write("m-00002-of-00002.gguf", GgufFile(1, 3, 7));
  EXPECT_THAT(FolderError(folder, "m-00001-of-00002.gguf"),
              HasSubstr("belongs to a set of 3 files, the first to one of 2"));
  folder.Write("m-00002-of-00002.gguf", GgufFile(1, 2, 7));
  EXPECT_THAT(FolderError(folder, "m-00001-of-00002.gguf"),
              HasSubstr("has 2 files and 7 tensors; read were 2 files with 0"));
  folder.Write("alone.gguf", GgufFile(0, 2, 0));
  EXPECT_THAT(FolderError(folder, "alone.gguf"),
              HasSubstr("keep the names that gguf-split gave"));
}

TEST(Checkpoint, ReadsNamesWhereOnlyTheIndexIsThere) {
  const ScratchFolder folder;
  folder.Write("model.safetensors.index.json", Corpus("checkpoint_index/one"));
  const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
  EXPECT_TRUE(checkpoint.names_only);
  EXPECT_EQ(checkpoint.tensors.size(), 2u);
  EXPECT_EQ(checkpoint.stated_bytes, 12);
  folder.Write("m-00001-of-00002.safetensors",
               Corpus("checkpoint_safetensors/two"));
  EXPECT_THAT(FolderError(folder, ""),
              HasSubstr("names 2 files of which 1 are not there: m-00002"));
}

TEST(Checkpoint, AsksWhichOfSeveralIsMeant) {
  const ScratchFolder folder;
  folder.Write("a.gguf", GgufFile(0, 1, 0));
  folder.Write("b.gguf", GgufFile(0, 1, 0));
  EXPECT_THAT(FolderError(folder, ""),
              HasSubstr("holds 2 checkpoints: a.gguf, b.gguf"));
  EXPECT_EQ(FolderError(folder, "a.gguf"), "");
}

// Ten gigabytes of which the header alone exists.
TEST(Checkpoint, ReadsASparseFileOfTenGigabytes) {
  const ScratchFolder folder;
  const std::string header =
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[10000000000],"
      "\"data_offsets\":[0,10000000000]}}";
  std::string start(8, '\0');
  start[0] = static_cast<char>(header.size());
  const std::string path = folder.Write("model.safetensors", start + header);
  std::filesystem::resize_file(path, 8 + header.size() + 10'000'000'000u);
  const Checkpoint checkpoint = ReadCheckpointAt(folder.path());
  ASSERT_EQ(checkpoint.tensors.size(), 1u);
  EXPECT_EQ(checkpoint.tensors[0].bytes, 10'000'000'000);
  std::filesystem::resize_file(path, 1000);
  EXPECT_THAT(FolderError(folder, ""), HasSubstr("the file is cut short"));
}

}  // namespace
}  // namespace foretell
