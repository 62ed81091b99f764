// Certificates that a test makes for itself: an authority, and a server's
// certificate for this machine that it has signed.
//
// Out: both as PEM, with the server's key. Made anew each time, valid from
// yesterday for ten days. A check fails where OpenSSL cannot.
#ifndef FORETELL_TESTS_HUB_TEST_CERTIFICATE_H_
#define FORETELL_TESTS_HUB_TEST_CERTIFICATE_H_

#include <string>

namespace foretell {

struct TestCertificate {
  std::string authority;    // PEM, to be trusted
  std::string certificate;  // PEM, for localhost and 127.0.0.1
  std::string key;          // PEM
};

TestCertificate MakeTestCertificate();

}  // namespace foretell

#endif  // FORETELL_TESTS_HUB_TEST_CERTIFICATE_H_
