#include "input/source_runs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "base/input_error.h"

namespace foretell {
namespace {

class RunStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "runs.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const char* name = "below/runs.sqlite") const {
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

MeasuredRun Example(double value = 21.5) {
  MeasuredRun run;
  run.job = {"speed", "a/8b", "--gpu", "l40s", "--note", "it's \n odd"};
  run.facts = {.command = "speed",
               .model = "a/8b",
               .card = "NVIDIA L40S",
               .manner = "vllm",
               .parameters = 8.03e9,
               .cards = 2};
  run.figures = {{"tpot_ms", value}, {"ttft_ms", 180}};
  run.note = "at night";
  return run;
}

TEST_F(RunStoreTest, GivesBackWhatWasAdded) {
  const RunStore store(Path());
  EXPECT_TRUE(store.Runs().empty());
  EXPECT_FALSE(std::filesystem::exists(Path()));
  EXPECT_EQ(store.Add(Example()), 1);
  EXPECT_EQ(store.Add(Example(22)), 2);
  const auto runs = store.Runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].id, 1);
  EXPECT_EQ(runs[0].job, Example().job);
  EXPECT_EQ(runs[0].facts, Example().facts);
  EXPECT_EQ(runs[0].note, "at night");
  EXPECT_EQ(runs[0].added.size(), std::string("2026-12-01T02:04:00Z").size());
  ASSERT_EQ(runs[1].figures.size(), 2U);
  EXPECT_EQ(runs[1].figures[0].value, 22);
}

TEST_F(RunStoreTest, ReadsByCommandAndCard) {
  const RunStore store(Path());
  store.Add(Example());
  EXPECT_EQ(store.Runs("speed", "NVIDIA L40S").size(), 1U);
  EXPECT_TRUE(store.Runs("train", "NVIDIA L40S").empty());
  EXPECT_TRUE(store.Runs("speed", "NVIDIA L4").empty());
}

TEST_F(RunStoreTest, RemovesOneAndNeverReusesItsNumber) {
  const RunStore store(Path());
  store.Add(Example());
  store.Add(Example());
  EXPECT_TRUE(store.Remove(2));
  EXPECT_FALSE(store.Remove(2));
  EXPECT_EQ(store.Runs().size(), 1U);
  EXPECT_EQ(store.Add(Example()), 3);
}

TEST_F(RunStoreTest, RefusesFilesOfOthers) {
  const std::string text = Path("text");
  std::ofstream(text) << "no database at all, and long enough to be read";
  EXPECT_THROW(RunStore(text).Runs(), InputErrors);
  EXPECT_THROW(RunStore(text).Add(Example()), InputErrors);
  const std::string other = Path("other");
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(other.c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "CREATE TABLE run (id)", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_THROW(RunStore(other).Runs(), InputErrors);
  EXPECT_THROW(RunStore(other).Add(Example()), InputErrors);
  EXPECT_THROW(RunStore(folder_.string()).Runs(), InputErrors);
}

TEST_F(RunStoreTest, RefusesANewerLayoutAndViewsInPlaceOfTables) {
  RunStore(Path("newer")).Add(Example());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(Path("newer").c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "PRAGMA user_version=2", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_THROW(RunStore(Path("newer")).Runs(), InputErrors);
  RunStore(Path("view")).Add(Example());
  ASSERT_EQ(sqlite3_open(Path("view").c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle,
               "ALTER TABLE run RENAME TO was;"
               "CREATE VIEW run AS SELECT * FROM was",
               nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_THROW(RunStore(Path("view")).Runs(), InputErrors);
}

// Four processes add at once: each number that one of them was given is there
// afterwards, and none twice.
TEST_F(RunStoreTest, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kEach = 12;
  std::vector<pid_t> writers;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (int j = 0; j < kEach; ++j) RunStore(Path()).Add(Example(i + 1));
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    writers.push_back(child);
  }
  for (const pid_t child : writers) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const auto runs = RunStore(Path()).Runs();
  EXPECT_EQ(runs.size(), size_t{kWriters * kEach});
  std::set<int64_t> ids;
  for (const MeasuredRun& run : runs) {
    ids.insert(run.id);
    EXPECT_EQ(run.job.size(), Example().job.size());
    EXPECT_EQ(run.figures.size(), 2U);
  }
  EXPECT_EQ(ids.size(), runs.size());
}

// A writer tells each number through a pipe once it was given it, and is
// killed in the midst of its work: every number that was told is whole.
TEST_F(RunStoreTest, AKilledWriterLosesNothingThatItAcknowledged) {
  std::set<int64_t> told;
  for (int round = 0; round < 6; ++round) {
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      try {
        for (;;) {
          const int64_t id = RunStore(Path()).Add(Example());
          if (write(ends[1], &id, sizeof(id)) < 0) _exit(1);
        }
      } catch (...) {
        _exit(1);
      }
    }
    close(ends[1]);
    int64_t id = 0;
    // Not before it has begun, and each round at another moment.
    ASSERT_EQ(read(ends[0], &id, sizeof(id)), ssize_t{sizeof(id)});
    told.insert(id);
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &id, sizeof(id)) == ssize_t{sizeof(id)}) {
      told.insert(id);
    }
    close(ends[0]);
  }
  std::set<int64_t> kept;
  for (const MeasuredRun& run : RunStore(Path()).Runs()) {
    kept.insert(run.id);
    EXPECT_EQ(run.job, Example().job);
    EXPECT_EQ(run.figures.size(), 2U);
  }
  for (const int64_t id : told) EXPECT_TRUE(kept.contains(id)) << id;
}

}  // namespace
}  // namespace foretell
