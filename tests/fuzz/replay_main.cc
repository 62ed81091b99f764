// Runs a fuzz target on files, where libFuzzer is not linked in.
//
//   NAME_fuzz FILE-OR-FOLDER...
//
// Each file is given to the target once; a folder stands for the files in it.
// The target passes by returning. Exits with 1 where nothing was read: a
// corpus that is missing must not look like one that passed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

bool Replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return false;
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  // Of its own size, so that a read past the end is one past the allocation.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  std::fprintf(stderr, "%s\n", file.c_str());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    const fs::path path = argv[i];
    std::vector<fs::path> files;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    } else {
      files.push_back(path);
    }
    for (const fs::path& file : files) {
      if (!Replay(file)) {
        std::fprintf(stderr, "cannot read %s\n", file.c_str());
        return 1;
      }
      ++count;
    }
  }
  std::fprintf(stderr, "replayed %d inputs\n", count);
  return count == 0 ? 1 : 0;
}
