// How many replicas a model is for: what its optimizers have to know while model_fn builds it.
#ifndef ESTIMATOR_NN_REPLICA_SCOPE_H_
#define ESTIMATOR_NN_REPLICA_SCOPE_H_

namespace estimator {

struct Replicas {
  int num_replicas = 1;            // that run the graph in step
  bool dense_gradients = false;    // no updates of single rows: as on a TPU, be it one replica
  double learning_rate_scale = 1;  // optimizers multiply their rates by it
};

// Whoever calls model_fn puts this around the call. While it lives, the models that this thread
// builds run on `replicas`: optimizers sum their gradients over the replicas.
class ReplicaScope {
 public:
  explicit ReplicaScope(const Replicas& replicas);
  ~ReplicaScope();
  ReplicaScope(const ReplicaScope&) = delete;
  ReplicaScope& operator=(const ReplicaScope&) = delete;

  // Those of the innermost scope of this thread; without a scope, one replica.
  static const Replicas& Current();

  // Whether an optimizer that model_fn did not wrap in tpu::CrossShardOptimizer has summed its
  // gradients by itself.
  bool summed_bare_optimizer() const { return summed_bare_optimizer_; }
  // Optimizers report it with this.
  static void NoteSummedBareOptimizer();

 private:
  const Replicas replicas_;
  ReplicaScope* const previous_;
  bool summed_bare_optimizer_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_NN_REPLICA_SCOPE_H_
