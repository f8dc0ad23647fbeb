// Writes an event file with every kind of event, for the check against TensorBoard
// (tools/verify_interop.sh): event_tool DIRECTORY
#include <string>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/summary/event_file_writer.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

absl::Status Run(const std::vector<std::string>& arguments) {
  EST_ASSIGN_OR_RETURN(const auto writer, EventFileWriter::Open(arguments[0]));
  proto::GraphDef graph;
  graph.add_node()->set_name("x");
  graph.mutable_node(0)->set_op("NoOp");
  EST_RETURN_IF_ERROR(writer->AddSessionLog(SessionStatus::kStart, 0));
  EST_RETURN_IF_ERROR(writer->AddGraph(graph.SerializeAsString()));
  EST_RETURN_IF_ERROR(writer->AddScalar("loss", 0.5f, 1));
  EST_RETURN_IF_ERROR(writer->AddScalar("loss", 0.25f, 2));
  EST_RETURN_IF_ERROR(writer->AddHistogram(
      "weights", Array::Of<float>({8}, {-1e30f, -2, -1e-13f, 0, 0, 1, 1, 5}), 2));
  EST_RETURN_IF_ERROR(
      writer->AddImage("digit", Array::Of<float>({2, 2, 1}, {-1, 0, 0.25f, 0.5f}), 3));
  EST_RETURN_IF_ERROR(writer->AddText("note", "**hello**", 4));
  EST_RETURN_IF_ERROR(writer->AddTensor("vector", Array::Of<float>({2}, {1, 2}), 5));
  EST_RETURN_IF_ERROR(writer->AddSessionLog(SessionStatus::kCheckpoint, 5, "model.ckpt"));
  return writer->Flush();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "event_tool DIRECTORY", estimator::Run);
}
