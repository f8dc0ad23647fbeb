// The chief's server: the other processes find each other through it, it answers their small
// collective calls, and it notices which of them died.
#ifndef ESTIMATOR_DISTRIBUTED_RENDEZVOUS_SERVER_H_
#define ESTIMATOR_DISTRIBUTED_RENDEZVOUS_SERVER_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "estimator/distributed/socket.h"
#include "estimator/distributed/wire.h"

namespace estimator {

// The first field of a hello. On the wire: change it with the protocol.
inline constexpr char kProtocol[] = "estimator process group 2";

// Seconds between two heartbeats, for a peer_timeout_secs.
double HeartbeatSecs(double peer_timeout_secs);
// Seconds of silence after which a process counts as stopped. The sum with the interval between two
// checks is less than peer_timeout_secs.
double SilenceSecs(double peer_timeout_secs);

// One thread serves all. Every process, also the chief, has one connection to it for the whole run.
// A process that does not know the token is refused, and learns nothing but that.
class RendezvousServer {
 public:
  struct Options {
    int size = 1;
    std::string token = {};
    double peer_timeout_secs = 30;
    std::function<void()> all_arrived = [] {};
  };
  RendezvousServer(Socket listener, Options options);
  // Sends what is not sent yet, and closes the connections.
  ~RendezvousServer();

 private:
  struct Peer;

  void Run();
  void AcceptAll();
  // Reads what has arrived and answers it. False: the connection ended.
  bool Read(Peer& peer);
  // False: the peer is refused.
  bool Handle(Peer& peer, const Frame& frame);
  std::string ReasonToRefuse(const Frame& hello) const;
  void AnswerCalls();
  void CheckTimes(Clock::time_point last_loop);
  void Fail(const absl::Status& status);
  void SendToAll(FrameType type, const Fields& fields);

  Peer* Find(int rank);

  const Options options_;
  const Clock::time_point start_ = Clock::now();
  Socket listener_;
  Socket wake_;  // an eventfd
  std::list<Peer> peers_;
  int num_arrived_ = 0;
  std::string left_;     // the message about the first process that left
  std::string refused_;  // the last peer that was refused, for the message about missing ones
  Clock::time_point next_heartbeat_ = start_;
  std::optional<Frame> failed_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_RENDEZVOUS_SERVER_H_
