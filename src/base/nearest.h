// The names closest to one that was mistyped, for "did you mean".
//
// In: a name and those that exist. Out: at most a few, nearest first; nothing
// where none is near. Time grows with the number of names times their length.
#ifndef FORETELL_BASE_NEAREST_H_
#define FORETELL_BASE_NEAREST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// Edits (insert, delete, replace, swap of neighbours; case is ignored) that
// lead from `a` to `b`. Both are read up to 128 bytes.
int EditDistance(std::string_view a, std::string_view b);

// Up to `limit` of `names`, nearest first, equal distances in their order;
// only those that share enough with `name` to be worth showing.
std::vector<std::string> NearestNames(std::string_view name,
                                      std::span<const std::string_view> names,
                                      size_t limit = 3);

}  // namespace foretell

#endif  // FORETELL_BASE_NEAREST_H_
