// Writes the generated pages of docs/, or says where they differ.
//
//   docgen docs           writes them
//   docgen --check docs   exit status 1 where a file differs or is left over
//
// Runs in the root of the repository: pages of families count the recordings
// under tests/truth.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "front/command_docs.h"
#include "front/command_table.h"
#include "tools/docgen/family_docs.h"

namespace foretell {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good();
}

// Files in the generated folders that the tables no longer make.
std::vector<std::filesystem::path> LeftOver(const std::filesystem::path& docs,
                                            const std::vector<DocFile>& files) {
  std::set<std::filesystem::path> made;
  for (const DocFile& file : files) made.insert(docs / file.path);
  std::vector<std::filesystem::path> left;
  for (const char* folder : {"commands", "families", "json"}) {
    if (!std::filesystem::exists(docs / folder)) continue;
    for (const auto& entry :
         std::filesystem::directory_iterator(docs / folder)) {
      if (!made.contains(entry.path())) left.push_back(entry.path());
    }
  }
  return left;
}

int Check(const std::filesystem::path& docs,
          const std::vector<DocFile>& files) {
  int status = 0;
  for (const DocFile& file : files) {
    if (ReadFile(docs / file.path) == file.text) continue;
    std::cerr << (docs / file.path).string() << ": differs from the tables\n";
    status = 1;
  }
  for (const auto& path : LeftOver(docs, files)) {
    std::cerr << path.string() << ": is no longer made\n";
    status = 1;
  }
  if (status != 0) std::cerr << "cure: run docgen " << docs.string() << "\n";
  return status;
}

int Write(const std::filesystem::path& docs,
          const std::vector<DocFile>& files) {
  for (const DocFile& file : files) {
    if (!WriteFile(docs / file.path, file.text)) {
      std::cerr << (docs / file.path).string() << ": cannot be written\n";
      return 2;
    }
  }
  for (const auto& path : LeftOver(docs, files)) {
    std::filesystem::remove(path);
  }
  return 0;
}

int Main(const std::vector<std::string>& words) {
  const bool check = !words.empty() && words[0] == "--check";
  const bool is_folder = !words.empty() && !words.back().starts_with('-');
  if (words.size() != (check ? 2u : 1u) || !is_folder) {
    std::cerr << "usage: docgen [--check] DOCS\n";
    return 2;
  }
  std::vector<DocFile> files = CommandDocs(Commands());
  for (DocFile& page : FamilyDocs("tests/truth")) {
    files.push_back(std::move(page));
  }
  return check ? Check(words[1], files) : Write(words[0], files);
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) {
  try {
    return foretell::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
