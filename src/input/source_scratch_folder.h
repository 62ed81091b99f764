// A folder of its own below the system's temporary one, removed at the end;
// what tests of readers write their files into.
//
// `Shown` takes the folder's path out of a message, so that messages can be
// compared as whole texts. Fails with a filesystem_error where the system's
// temporary folder cannot be written to.
#ifndef FORETELL_INPUT_SOURCE_SCRATCH_FOLDER_H_
#define FORETELL_INPUT_SOURCE_SCRATCH_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace foretell {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name =
        std::filesystem::temp_directory_path() / "foretell-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw std::filesystem::filesystem_error(
          "no scratch folder", name,
          std::make_error_code(std::errc::permission_denied));
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // Folders on the way are made. Returns the file's path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = Path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  // `text` with "DIR" for the folder's path.
  std::string Shown(std::string text) const {
    for (size_t at = text.find(path_); at != std::string::npos;
         at = text.find(path_)) {
      text.replace(at, path_.size(), "DIR");
    }
    return text;
  }

 private:
  std::string path_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_SCRATCH_FOLDER_H_
