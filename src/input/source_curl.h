// libcurl, loaded when the network is first needed.
//
// Linked in the usual way it brings some thirty libraries along, and their
// start-up takes as long as the whole answer to a question about a model that
// the catalogue knows (5 ms of it, measured on Debian 12). So the program
// opens the library itself, under the declarations of <curl/curl.h>, and one
// that never asks a hub never loads it.
//
// Included by input/source_network.cc alone. Nothing where the machine has no
// libcurl: package libcurl4 of Debian, or its GnuTLS twin.
#ifndef FORETELL_INPUT_SOURCE_CURL_H_
#define FORETELL_INPUT_SOURCE_CURL_H_

#include <curl/curl.h>

namespace foretell {

struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

// Loaded and initialized at the first call; null where there is none.
const Curl* LoadedCurl();

}  // namespace foretell

#endif  // FORETELL_INPUT_SOURCE_CURL_H_
