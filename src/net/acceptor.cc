#include "net/acceptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "net/connection_set.h"

namespace gyre::net {

Acceptor::Acceptor(ConnectionSet& set, int listener)
    : set_(set),
      listener_(listener),
      accept_(runtime::bind<&Acceptor::on_accept>(*this)),
      retry_(runtime::bind_timer<&Acceptor::on_retry>(*this)) {
  take_reserve();
}

Acceptor::~Acceptor() {
  set_.timers.cancel(retry_);
  give_up_reserve();
}

void Acceptor::start() {
  GYRE_ASSERT(!is_stopping_);
  set_.io.submit_accept(listener_, accept_);
}

void Acceptor::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  set_.timers.cancel(retry_);
  if (accept_.is_armed) {
    set_.io.cancel(accept_);
  } else {
    end();
  }
}

void Acceptor::on_accept(const runtime::CompletionResult& result) {
  if (result.result >= 0) {
    if (is_stopping_ || reserve_ < 0) {
      set_.io.close(result.result);
      take_reserve();
    } else {
      set_.on_accepted(result.result);
    }
  }
  if (result.more) return;
  if (is_stopping_) {
    end();
  } else if (result.result >= 0) {
    start();  // A multishot may end with any result.
  } else {
    on_error(-result.result);
  }
}

void Acceptor::on_error(std::int32_t error) {
  if (error == EMFILE || error == ENFILE) {
    if (reserve_ >= 0) {
      GYRE_LOG(kWarning, "out of file descriptors: turning clients away; raise RLIMIT_NOFILE");
    }
    give_up_reserve();
  }
  // Others (ECONNABORTED, ENOBUFS, ENOMEM, EPERM from a packet filter) pass by themselves.
  set_.timers.set(retry_, set_.read_now_ns() + kRetryNs);
}

// Without the reserve: it would take the one descriptor that lets a client be turned away.
void Acceptor::on_retry() { start(); }

void Acceptor::end() {
  set_.io.close(std::exchange(listener_, -1));
  give_up_reserve();
}

void Acceptor::take_reserve() {
  if (reserve_ < 0 && !is_stopping_) reserve_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Acceptor::give_up_reserve() {
  if (reserve_ >= 0) ::close(std::exchange(reserve_, -1));
}

}  // namespace gyre::net
