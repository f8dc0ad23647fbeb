#include "estimator/nn/replica_scope.h"

namespace estimator {
namespace {

thread_local ReplicaScope* current = nullptr;

}  // namespace

ReplicaScope::ReplicaScope(const Replicas& replicas) : replicas_(replicas), previous_(current) {
  current = this;
}
ReplicaScope::~ReplicaScope() { current = previous_; }

const Replicas& ReplicaScope::Current() {
  static const Replicas kOne;
  return current != nullptr ? current->replicas_ : kOne;
}

void ReplicaScope::NoteSummedBareOptimizer() {
  if (current != nullptr) current->summed_bare_optimizer_ = true;
}

}  // namespace estimator
