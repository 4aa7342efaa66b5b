#include "net/acceptor.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "support/pool_fixture.h"

namespace gyre::net {
namespace {

class AcceptorTest : public test::PoolFixture {};

TEST_F(AcceptorTest, TurnsOneClientAwayWhenDescriptorsRanOutAndThenAcceptsAgain) {
  io_.fail_accept(EMFILE);
  settle();
  EXPECT_FALSE(io_.is_accepting());
  pass_s(0.2);
  EXPECT_TRUE(io_.is_accepting());
  EXPECT_TRUE(is_closed(connect())) << "its descriptor becomes the new reserve";
  open();
  EXPECT_EQ(pool_.counters().accepted, 1u);
}

TEST_F(AcceptorTest, TurnsNobodyAwayAfterOtherErrors) {
  io_.fail_accept(ECONNABORTED);
  pass_s(0.2);
  open();
}

TEST_F(AcceptorTest, StopsListeningWhileItWaitsForDescriptors) {
  io_.fail_accept(ENFILE);
  settle();
  pool_.stop_listening();
  EXPECT_TRUE(io_.is_listener_closed());
  pass_s(0.3);
  EXPECT_FALSE(io_.is_accepting());
}

}  // namespace
}  // namespace gyre::net
