#include "estimator/training/hooks/graph_writer_hook.h"

#include <memory>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/graph_size.h"
#include "estimator/summary/event_file_writer.h"
#include "glog/logging.h"

namespace estimator {

absl::Status GraphWriterHook::AfterCreateSession(Session& session) {
  const std::string path = JoinPath(session.model_dir(), "graph.pbtxt");
  const std::string text = GraphToText(session.graph());
  const absl::StatusOr<std::string> present = ReadFile(path, static_cast<int64_t>(text.size()));
  if (!present.ok() || *present != text) EST_RETURN_IF_ERROR(WriteDerivedFile(path, text));
  const absl::Status fits =
      CheckConstantBytes(session.graph(), max_constant_bytes_, "an event file");
  if (!fits.ok()) {
    LOG(WARNING) << "TensorBoard will not show the graph: " << fits.message();
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<EventFileWriter> writer,
                       EventFileWriter::ForDirectory(session.model_dir()));
  EST_RETURN_IF_ERROR(writer->AddGraph(GraphToGraphDef(session.graph()), session.global_step()));
  // Without summaries, nothing else flushes the file.
  return writer->Flush();
}

}  // namespace estimator
