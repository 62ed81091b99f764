// Any bytes as a row of the catalogue: a row, which can be written and read
// again, or InputErrors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/input_error.h"
#include "input/catalogue_row.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  try {
    const foretell::CatalogueRow row =
        foretell::ParseCatalogueRow(line, "fuzz");
    FORETELL_CHECK(row.hyper.is_object(), "hyper is no object");
    foretell::ParseCatalogueRow(foretell::ToLine(row), "again");
  } catch (const foretell::InputErrors& errors) {
    FORETELL_CHECK(!errors.errors().front().cure.empty(), "no cure");
  }
  try {
    foretell::ParseCatalogueHead(line, "fuzz");
  } catch (const foretell::InputErrors&) {
    // Refused as well.
  }
  return 0;
}
