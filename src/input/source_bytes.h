// Ranges of files on a disk, for the readers of headers.
//
// In: a path. Out: a ByteSource, which holds the file open and reads with
// pread, so that a header of a file of 100 GB costs a few reads; or a
// ByteFolder. Never waits: what is no regular file is refused as
// source_disk.h does it.
//
// Throws InputErrors that name the path and the cure.
#ifndef FORETELL_INPUT_SOURCE_BYTES_H_
#define FORETELL_INPUT_SOURCE_BYTES_H_

#include <memory>
#include <string>

#include "input/byte_source.h"

namespace foretell {

std::unique_ptr<ByteSource> OpenDiskFile(const std::string& path);

std::unique_ptr<ByteFolder> OpenDiskFolder(const std::string& path);

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_BYTES_H_
