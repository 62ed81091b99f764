#include "tests/hub/test_certificate.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/check.h"

namespace foretell {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// What OpenSSL's functions take.
using SslLong = long;  // NOLINT(google-runtime-int): the library's own type

constexpr SslLong kDay = 24L * 60 * 60;

Key MakeKey() {
  Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  FORETELL_CHECK(key != nullptr, "no key");
  return key;
}

void SetName(X509* certificate, const std::string& name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  FORETELL_CHECK(
      X509_NAME_add_entry_by_txt(
          subject, "CN", MBSTRING_UTF8,
          reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1,
      "no name");
}

void AddExtension(X509* certificate, X509* issuer, int kind,
                  const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  FORETELL_CHECK(extension != nullptr, "no extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate Begin(EVP_PKEY* key, const std::string& name, SslLong serial) {
  Certificate out(X509_new(), &X509_free);
  X509_set_version(out.get(), 2);  // counts from 0: X.509 version 3
  ASN1_INTEGER_set(X509_get_serialNumber(out.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), 9 * kDay);
  X509_set_pubkey(out.get(), key);
  SetName(out.get(), name);
  return out;
}

template <typename Write>
std::string Pem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()),
                                                         &BIO_free);
  FORETELL_CHECK(write(memory.get()) == 1, "no PEM");
  char* bytes = nullptr;
  const SslLong size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

std::string PemOf(X509* certificate) {
  return Pem(
      [certificate](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

}  // namespace

TestCertificate MakeTestCertificate() {
  const Key authority_key = MakeKey();
  const Certificate authority =
      Begin(authority_key.get(), "Foretell's tests", 1);
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  AddExtension(authority.get(), authority.get(), NID_basic_constraints,
               "critical,CA:TRUE");
  X509_sign(authority.get(), authority_key.get(), EVP_sha256());

  const Key key = MakeKey();
  const Certificate server = Begin(key.get(), "localhost", 2);
  X509_set_issuer_name(server.get(), X509_get_subject_name(authority.get()));
  AddExtension(server.get(), authority.get(), NID_subject_alt_name,
               "DNS:localhost,IP:127.0.0.1");
  X509_sign(server.get(), authority_key.get(), EVP_sha256());

  TestCertificate out;
  out.authority = PemOf(authority.get());
  out.certificate = PemOf(server.get());
  out.key = Pem([&key](BIO* memory) {
    return PEM_write_bio_PrivateKey(memory, key.get(), nullptr, nullptr, 0,
                                    nullptr, nullptr);
  });
  return out;
}

}  // namespace foretell
