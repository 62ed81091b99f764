#include "input/source_curl.h"

#include <dlfcn.h>

#include <array>

namespace foretell {
namespace {

// By the names that Debian gives the library with OpenSSL and with GnuTLS;
// both keep libcurl's interface number 4.
constexpr std::array<const char*, 2> kLibraries = {"libcurl.so.4",
                                                   "libcurl-gnutls.so.4"};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  // POSIX lets a data pointer of dlsym be called as a function.
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool FindAll(void* library, Curl& curl) {
  return Find(library, "curl_global_init", curl.global_init) &&
         Find(library, "curl_easy_init", curl.easy_init) &&
         Find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
         Find(library, "curl_easy_reset", curl.easy_reset) &&
         Find(library, "curl_easy_setopt", curl.easy_setopt) &&
         Find(library, "curl_easy_perform", curl.easy_perform) &&
         Find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
         Find(library, "curl_easy_strerror", curl.easy_strerror) &&
         Find(library, "curl_slist_append", curl.slist_append) &&
         Find(library, "curl_slist_free_all", curl.slist_free_all);
}

const Curl* Load() {
  for (const char* name : kLibraries) {
    // Never closed: it holds threads' and TLS libraries' state.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    static Curl curl;
    if (FindAll(library, curl) &&
        curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
      return &curl;
    }
  }
  return nullptr;
}

}  // namespace

const Curl* LoadedCurl() {
  static const Curl* const loaded = Load();
  return loaded;
}

}  // namespace foretell
