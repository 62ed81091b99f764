#include "front/model_options.h"

#include "base/dtype.h"
#include "base/input_error.h"

namespace foretell {

BuildOptions ReadBuildOptions(const Invocation& invocation) {
  BuildOptions options;
  options.class_name = invocation.Text("class");
  options.task = invocation.Text("task");
  if (options.class_name && options.task) {
    throw InputErrors({invocation.PlaceOf("task"),
                       "is given beside --class, which names the class already",
                       "leave out one of the two"});
  }
  if (const auto name = invocation.Text("dtype")) {
    options.dtype = ParseDType(*name);
    if (!options.dtype || !Describe(*options.dtype).is_floating) {
      throw InputErrors({invocation.PlaceOf("dtype"),
                         "names no floating dtype: \"" + *name + "\"",
                         "write float32, bfloat16, float16 or float8_e4m3fn"});
    }
  }
  return options;
}

}  // namespace foretell
