// FrameConverter: the loops of TensorFlow 1, as loops of a FlatGraph.
//
// TensorFlow 1 writes tf.while_loop without functions. The nodes of a loop are in a frame:
//   Enter           takes a tensor of outside into the frame; all of a frame have one frame_name
//   Merge           a loop variable: the first value from an Enter, then that of a NextIteration
//   LoopCond        whether there is one more trip
//   Switch          of a Merge by the LoopCond: output 1 is read by the body, output 0 by the Exit
//   Exit            the last value, outside
// Here the LoopCond becomes a kLoopOp, the Merges become kLoopArgOps of its condition and its body,
// and an Exit is an output of the loop.
//
// A TensorArray is a handle and a tensor `flow`, which orders its reads and writes. The flow
// becomes a TensorList. The array of a gradient (TensorArrayGradV3) starts with zeros where the
// flow is that of the forward array. TensorFlow then adds the flows of several gradients, and
// lists are added.
// A stack, which keeps a value of each trip for the gradient, becomes a TensorList that is one more
// variable of the two loops: the forward loop appends to it, and the backward loop takes from it.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_CONVERTER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_CONVERTER_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

class FrameConverter {
 public:
  //   nodes: resolved, all that the graph has. loops: receives the converted ones, by their node.
  FrameConverter(std::vector<FlatNode>& nodes, std::map<int, FlatLoop>& loops)
      : nodes_(nodes), loops_(loops) {}

  // Converts all loops, TensorArrays and stacks. Those that cannot be converted get a
  // FlatNode::problem.
  void Run();

 private:
  struct Variable {
    int arg = -1;  // the Merge, or the Enter of the handle of a stack
    FlatTensor first, next;
    bool constant = false;  // the body returns it unchanged
    bool is_stack = false;
  };
  struct Frame {
    int parent = -1;
    int depth = 0;
    std::vector<int> enters, exits, members;  // an Exit is a member of the parent
    int cond = -1;
    std::vector<Variable> variables;
    std::string problem;
  };
  struct Stack {
    std::vector<int> pushes, pops;
  };
  // What a tensor is that orders the accesses to a TensorArray.
  struct Flow {
    int array = -1;  // the TensorArrayV3
    bool of_gradient = false;
  };

  FlatNode& node(int i) { return nodes_[static_cast<size_t>(i)]; }
  const FlatNode& node(int i) const { return nodes_[static_cast<size_t>(i)]; }
  int frame_of(int i) const { return frame_[static_cast<size_t>(i)]; }

  // find_frames.cc
  void FindReaders();
  void FindFrames();
  int FrameOfInputs(int i);
  void SplitFrames();
  //   component: as component_; 0 if there is none.
  int FrameNamed(int parent, const std::string& name, int component);
  bool IsWithin(int frame, int outer) const;
  // Where the value of a tensor comes from, through what passes it on.
  FlatTensor Origin(FlatTensor at) const;
  // Whether a node computes with the tensor.
  bool IsUsed(FlatTensor at) const;

  // tensor_arrays.cc
  void FindStacks();
  void FindFlows();
  void AddFlow(FlatTensor at, Flow flow, std::vector<FlatTensor>& pending);
  const Flow* FlowOf(FlatTensor at) const;
  void ConvertArrays();
  void ConvertGradient(int i);
  void ConvertAccess(int i);
  void ReplaceZeroFlows(int i);

  // frame_loops.cc
  void ReadFrame(int f);
  std::string ReadVariables(int f);
  FlatTensor BehindIdentities(FlatTensor at) const;
  std::string CheckReaders(int f) const;
  bool IsConstant(const Frame& frame, const Variable& variable) const;
  void ConvertStacks();
  std::string ConvertStack(int stack, const Stack& of);
  std::vector<int> EntersOf(FlatTensor handle) const;
  int AddNode(int i, size_t depth);
  void ConvertFrame(int f);
  void Refuse(const Frame& frame);
  void Rename();
  FlatTensor Renamed(FlatTensor at) const;

  std::vector<FlatNode>& nodes_;
  std::map<int, FlatLoop>& loops_;
  std::vector<std::vector<int>> readers_;  // nodes with the node as an input or control input
  std::vector<int> frame_;                 // in which the outputs of the node are; -1: none
  std::vector<int> component_;             // of each node, if SplitFrames found some; else empty
  std::vector<Frame> frames_;
  std::map<std::tuple<int, std::string, int>, int> frame_names_;
  std::map<int, Stack> stacks_;
  std::map<int, int> stack_of_;  // a push or pop -> its stack
  std::map<FlatTensor, Flow> flows_;
  std::map<FlatTensor, FlatTensor> renamed_;
};

// Whether a graph with this op is converted.
bool IsFrameOp(absl::string_view op);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_CONVERTER_H_
