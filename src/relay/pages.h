// What the relay answers to plain HTTP on its port: the NIP-11 document, a landing page, /healthz.
#pragma once

#include <string>

#include "gyre/net/http.h"
#include "gyre/relay/settings.h"

namespace gyre::relay {

class Pages {
 public:
  explicit Pages(const Settings& settings);
  [[nodiscard]] net::HttpResponse answer(const net::HttpRequest& request) const;
  [[nodiscard]] const std::string& information_document() const { return document_; }

 private:
  std::string base_path_;
  std::string document_;
  std::string landing_page_;
};

}  // namespace gyre::relay
