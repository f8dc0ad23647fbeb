// For tests: a small training graph as TensorFlow writes it, node by node.
#ifndef ESTIMATOR_GRAPHDEF_TESTING_SMALL_TRAINING_H_
#define ESTIMATOR_GRAPHDEF_TESTING_SMALL_TRAINING_H_

#include <string>
#include <vector>

#include "estimator/proto/meta_graph.pb.h"

namespace estimator::testing {

// Builds a MetaGraphDef. Small() is linear regression without a bias, with one input and one
// output:
//   IteratorGetNext -> x f32 [?,inputs], y f32 [?,outputs];  w f32 [inputs,outputs], at first 2
//   loss = mean((x w - y)^2), with its gradient in the scope `gradients`
//   train_op: ApplyGradientDescent(w, 0.1, gradient), then AssignAdd(global_step, 1)
// For one input and one output with x = 1 and y = 0 in every row, a step multiplies w by 0.8.
class SmallTraining {
 public:
  SmallTraining() = default;
  static SmallTraining Small(int inputs = 1, int outputs = 1);
  static SmallTraining WithCondition();  // Small() with a bool `pred`: loss < `limit`, which is 1

  // attrs: the text of AttrValues, such as those of the functions below.
  SmallTraining& Node(const std::string& name, const std::string& op,
                      const std::vector<std::string>& inputs, const std::string& attrs = "");
  SmallTraining& Float(const std::string& name, double value);
  // A reference variable with its Initializer, Assign and read, in the collection `variables`.
  //   shape: the sizes. All elements begin at `value`.
  SmallTraining& Variable(const std::string& name, const std::vector<int>& shape, double value,
                          bool trainable);
  SmallTraining& AddTo(const std::string& collection, const std::string& node);
  // Replaces the inputs of a node.
  SmallTraining& Rewire(const std::string& name, const std::vector<std::string>& inputs);

  const proto::MetaGraphDef& meta_graph() const { return meta_graph_; }
  proto::MetaGraphDef& meta_graph() { return meta_graph_; }
  std::string Bytes() const { return meta_graph_.SerializeAsString(); }

  static std::string TypeAttr(const std::string& name, const std::string& dtype = "DT_FLOAT");
  static std::string ShapeAttr(const std::string& name, const std::vector<int>& shape);

 private:
  proto::MetaGraphDef meta_graph_;
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_GRAPHDEF_TESTING_SMALL_TRAINING_H_
