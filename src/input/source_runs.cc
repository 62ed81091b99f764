#include "input/source_runs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/input_error.h"

namespace foretell {
namespace {

// In the file's header, so that no other program's file is taken for one of
// these (https://sqlite.org/pragma.html#pragma_application_id): "4tel".
constexpr int kApplication = 0x3474656c;
constexpr int kLayout = 1;         // PRAGMA user_version
constexpr int kPatience = 30'000;  // milliseconds that a writer waits
// A job of a few hundred words; nothing that anybody types is longer.
constexpr int kMostBytes = 1 << 16;
constexpr int kMostWords = 1 << 10;

// Jobs are kept word by word, figures one by one: nothing is parsed again.
constexpr char kTables[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " added TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ','now')),"
    " command TEXT NOT NULL, model TEXT NOT NULL, card TEXT NOT NULL,"
    " manner TEXT NOT NULL, parameters REAL NOT NULL, cards INTEGER NOT NULL,"
    " note TEXT NOT NULL);"
    "CREATE TABLE word (run INTEGER NOT NULL, place INTEGER NOT NULL,"
    " word TEXT NOT NULL, PRIMARY KEY (run, place)) WITHOUT ROWID;"
    "CREATE TABLE figure (run INTEGER NOT NULL, place INTEGER NOT NULL,"
    " name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (run, place))"
    " WITHOUT ROWID;";

[[noreturn]] void Fail(const std::string& path, std::string what,
                       std::string cure) {
  Place place;
  place.source = path;
  throw InputErrors(InputError{place, std::move(what), std::move(cure)});
}

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};

// One open file. Every error of SQLite becomes an InputError of the file.
class Connection {
 public:
  Connection(const std::string& path, int flags) : path_(path) {
    sqlite3* raw = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);
    if (status != SQLITE_OK) Refuse();
    sqlite3_busy_timeout(raw, kPatience);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMostBytes);
    // A hostile file can make a plain SELECT run what it holds: views and
    // triggers are off (https://sqlite.org/security.html).
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    Run("PRAGMA cell_size_check=1");
    // On the disk before COMMIT returns
    // (https://sqlite.org/pragma.html#pragma_synchronous).
    Run("PRAGMA synchronous=FULL");
  }

  void Run(const char* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) !=
        SQLITE_OK) {
      Refuse();
    }
  }

  std::unique_ptr<sqlite3_stmt, CloseStatement> Prepared(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql, -1, &statement, nullptr) !=
        SQLITE_OK) {
      Refuse();
    }
    return std::unique_ptr<sqlite3_stmt, CloseStatement>(statement);
  }

  // Whether there is a row; false at the end.
  bool Step(sqlite3_stmt* statement) {
    const int status = sqlite3_step(statement);
    if (status != SQLITE_ROW && status != SQLITE_DONE) Refuse();
    return status == SQLITE_ROW;
  }

  int64_t Number(const char* sql) {
    const auto statement = Prepared(sql);
    Step(statement.get());
    return sqlite3_column_int64(statement.get(), 0);
  }

  int64_t LastId() { return sqlite3_last_insert_rowid(handle_.get()); }
  int Changes() { return sqlite3_changes(handle_.get()); }

  // Fails where the file is not of this kind; `is_new` for one without
  // anything in it.
  void CheckKind(bool* is_new) {
    const int64_t application = Number("PRAGMA application_id");
    const int64_t layout = Number("PRAGMA user_version");
    *is_new = application == 0 && layout == 0 &&
              Number("SELECT count(*) FROM sqlite_schema") == 0;
    if (*is_new) return;
    if (application != kApplication) {
      Fail(path_, "this database holds no runs of Foretell",
           "name another file with --runs, or in FORETELL_RUNS");
    }
    if (layout != kLayout) {
      Fail(path_,
           fmt::format("the runs are kept in layout {}, this program knows {}",
                       layout, kLayout),
           "use the newer Foretell, or another file with --runs");
    }
  }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };

  [[noreturn]] void Refuse() {
    const int code = sqlite3_extended_errcode(handle_.get());
    const int kind = code & 0xff;
    const char* cure = "check the file and its folder";
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
      cure = "another process holds the file: try again";
    } else if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT) {
      cure = "it is no database, or a broken one: move it away";
    } else if (kind == SQLITE_READONLY || kind == SQLITE_PERM ||
               kind == SQLITE_CANTOPEN) {
      cure =
          "make the folder and the file writable, or name another with "
          "--runs";
    } else if (kind == SQLITE_FULL || kind == SQLITE_IOERR) {
      cure = "check the disk's free space";
    }
    Fail(path_, fmt::format("SQLite: {}", sqlite3_errmsg(handle_.get())), cure);
  }

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(),
                    static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string TextOf(sqlite3_stmt* statement, int column) {
  const auto* text = sqlite3_column_text(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  if (text == nullptr) return {};
  // SQLite's text is unsigned bytes.
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

void MakeTables(Connection& file) {
  file.Run(kTables);
  file.Run(fmt::format("PRAGMA application_id={}", kApplication).c_str());
  file.Run(fmt::format("PRAGMA user_version={}", kLayout).c_str());
}

void AddRun(Connection& file, const MeasuredRun& run) {
  const auto statement = file.Prepared(
      "INSERT INTO run (command, model, card, manner, parameters, cards, note)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)");
  Bind(statement.get(), 1, run.facts.command);
  Bind(statement.get(), 2, run.facts.model);
  Bind(statement.get(), 3, run.facts.card);
  Bind(statement.get(), 4, run.facts.manner);
  sqlite3_bind_double(statement.get(), 5, run.facts.parameters);
  sqlite3_bind_int64(statement.get(), 6, run.facts.cards);
  Bind(statement.get(), 7, run.note);
  file.Step(statement.get());
}

void AddParts(Connection& file, const MeasuredRun& run, int64_t id) {
  const auto word = file.Prepared("INSERT INTO word VALUES (?, ?, ?)");
  for (size_t i = 0; i < run.job.size(); ++i) {
    sqlite3_bind_int64(word.get(), 1, id);
    sqlite3_bind_int64(word.get(), 2, static_cast<int64_t>(i));
    Bind(word.get(), 3, run.job[i]);
    file.Step(word.get());
    sqlite3_reset(word.get());
  }
  const auto figure = file.Prepared("INSERT INTO figure VALUES (?, ?, ?, ?)");
  for (size_t i = 0; i < run.figures.size(); ++i) {
    sqlite3_bind_int64(figure.get(), 1, id);
    sqlite3_bind_int64(figure.get(), 2, static_cast<int64_t>(i));
    Bind(figure.get(), 3, run.figures[i].name);
    sqlite3_bind_double(figure.get(), 4, run.figures[i].value);
    file.Step(figure.get());
    sqlite3_reset(figure.get());
  }
}

// The words and figures of one run.
void ReadParts(Connection& file, MeasuredRun& run) {
  const auto word = file.Prepared(
      "SELECT word FROM word WHERE run = ? ORDER BY place LIMIT ?");
  sqlite3_bind_int64(word.get(), 1, run.id);
  sqlite3_bind_int64(word.get(), 2, kMostWords);
  while (file.Step(word.get())) run.job.push_back(TextOf(word.get(), 0));
  const auto figure = file.Prepared(
      "SELECT name, value FROM figure WHERE run = ? ORDER BY place LIMIT ?");
  sqlite3_bind_int64(figure.get(), 1, run.id);
  sqlite3_bind_int64(figure.get(), 2, kMostWords);
  while (file.Step(figure.get())) {
    const double value = sqlite3_column_double(figure.get(), 1);
    if (!(value > 0) || !std::isfinite(value)) continue;
    run.figures.push_back({TextOf(figure.get(), 0), value});
  }
}

bool IsThere(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

void MakeFolder(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    Fail(folder.string(), "the folder cannot be made: " + error.message(),
         "make it, or name another file with --runs");
  }
}

}  // namespace

std::optional<std::string> UsualRunStore() {
  const auto named = [](const char* variable) -> std::string_view {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  if (!named("FORETELL_RUNS").empty()) {
    return std::string(named("FORETELL_RUNS"));
  }
  // A relative XDG_DATA_HOME is to be ignored
  // (specifications.freedesktop.org/basedir-spec).
  if (named("XDG_DATA_HOME").starts_with('/')) {
    return fmt::format("{}/foretell/runs.sqlite", named("XDG_DATA_HOME"));
  }
  if (named("HOME").empty()) return std::nullopt;
  return fmt::format("{}/.local/share/foretell/runs.sqlite", named("HOME"));
}

int64_t RunStore::Add(const MeasuredRun& run) const {
  MakeFolder(path_);
  Connection file(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // Takes the lock before anything is read, so that two first writers do not
  // both make the tables.
  file.Run("BEGIN IMMEDIATE");
  bool is_new = false;
  file.CheckKind(&is_new);
  if (is_new) MakeTables(file);
  AddRun(file, run);
  const int64_t id = file.LastId();
  AddParts(file, run, id);
  file.Run("COMMIT");
  return id;
}

std::vector<MeasuredRun> RunStore::Runs(const std::string& command,
                                        const std::string& card) const {
  std::vector<MeasuredRun> out;
  if (!IsThere(path_)) return out;
  // A journal that a killed writer left must be rolled back, so not read-only
  // where that can be helped; SQLite falls back by itself.
  Connection file(path_, SQLITE_OPEN_READWRITE);
  file.Run("BEGIN");
  bool is_new = false;
  file.CheckKind(&is_new);
  if (is_new) return out;
  const auto statement = file.Prepared(
      "SELECT id, added, command, model, card, manner, parameters, cards, note"
      " FROM run WHERE (?1 = '' OR command = ?1) AND (?2 = '' OR card = ?2)"
      " ORDER BY id DESC LIMIT ?3");
  Bind(statement.get(), 1, command);
  Bind(statement.get(), 2, card);
  sqlite3_bind_int64(statement.get(), 3, kMostRunsRead);
  while (file.Step(statement.get())) {
    MeasuredRun run;
    run.id = sqlite3_column_int64(statement.get(), 0);
    run.added = TextOf(statement.get(), 1);
    run.facts.command = TextOf(statement.get(), 2);
    run.facts.model = TextOf(statement.get(), 3);
    run.facts.card = TextOf(statement.get(), 4);
    run.facts.manner = TextOf(statement.get(), 5);
    run.facts.parameters = sqlite3_column_double(statement.get(), 6);
    run.facts.cards = sqlite3_column_int64(statement.get(), 7);
    run.note = TextOf(statement.get(), 8);
    out.push_back(std::move(run));
  }
  for (MeasuredRun& run : out) ReadParts(file, run);
  file.Run("COMMIT");
  return {out.rbegin(), out.rend()};
}

bool RunStore::Remove(int64_t id) const {
  if (!IsThere(path_)) return false;
  Connection file(path_, SQLITE_OPEN_READWRITE);
  file.Run("BEGIN IMMEDIATE");
  bool is_new = false;
  file.CheckKind(&is_new);
  if (is_new) return false;
  int removed = 0;
  for (const char* sql :
       {"DELETE FROM word WHERE run = ?", "DELETE FROM figure WHERE run = ?",
        "DELETE FROM run WHERE id = ?"}) {
    const auto statement = file.Prepared(sql);
    sqlite3_bind_int64(statement.get(), 1, id);
    file.Step(statement.get());
    removed = file.Changes();
  }
  file.Run("COMMIT");
  return removed > 0;
}

}  // namespace foretell
