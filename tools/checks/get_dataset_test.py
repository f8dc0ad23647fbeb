#!/usr/bin/env python3
"""Tests of tools/get_dataset with small data sets, from a folder and from a server of this process.

    get_dataset_test.py TO_TFRECORD
"""

import contextlib
import gzip
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import socketserver
import sys
import tarfile
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOWERS = ("daisy", "dandelion", "roses", "sunflowers", "tulips")


def load():
    """The script as a module, with tables of its own."""
    loader = importlib.machinery.SourceFileLoader("get_dataset", str(ROOT / "tools/get_dataset"))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("get_dataset", loader))
    loader.exec_module(module)
    return module


def tar_of(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


class Server(socketserver.ThreadingTCPServer):
    """Serves `files` on the loopback address. Ends a reply after `limit` bytes."""

    daemon_threads = True

    def __init__(self):
        self.files, self.limit, self.ranges = {}, None, []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802, the name that http.server calls
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        data = self.server.files.get(self.path.lstrip("/"))
        if data is None:
            return self.send_error(404)
        begin = int(wanted[len("bytes="):-1]) if wanted else 0
        if begin >= len(data):
            return self.send_error(416)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin:][:self.server.limit])

    def log_message(self, *_):
        pass


class GetDatasetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.module = load()
        os.environ["no_proxy"] = "127.0.0.1"
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def use(self, name, files):
        """Lets the data set have these files, on the server too; sums are of what is not packed."""
        old = self.module.DATASETS[name]
        table = [self.module.File(n, hashlib.sha256(
            gzip.decompress(data) if n.endswith("ubyte.gz") else data).hexdigest(), 1)
            for n, data in files.items()]
        self.module.DATASETS[name] = old._replace(urls=[self.server.url + "/"], files=table)
        self.server.files = dict(files)

    def get(self, *arguments):
        """The exit code, and what was printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = self.module.main([*arguments, f"--to_tfrecord={TO_TFRECORD}"])
        return code, output.getvalue()

    def use_flowers(self):
        files = {"flower_photos/LICENSE.txt": b"by the photographers"}
        for label, name in enumerate(FLOWERS):
            for i in range(8):
                pixels = bytes([50 * label + i] * 3 * 16)
                files[f"flower_photos/{name}/{i}.png"] = self.module.png(pixels, 4)
        self.use("flowers", {"flower_photos.tgz": tar_of(files)})

    def names(self, folder):
        return sorted(path.name for path in pathlib.Path(folder).iterdir())

    def test_flowers_become_records_with_counts_in_their_names(self):
        self.use_flowers()
        out = self.folder / "flowers"
        code, text = self.get("flowers", str(out))
        self.assertEqual(code, 0, text)
        records = sorted(out.glob("*.tfrec"))
        self.assertEqual(len(records), 16)
        self.assertEqual(sum(int(p.stem.rsplit("-", 1)[1]) for p in records), 40)
        self.assertEqual((out / "labels.txt").read_text().split(), list(FLOWERS))
        everything = b"".join(path.read_bytes() for path in records)
        for key in (b"image", b"class"):
            self.assertEqual(everything.count(b"\n" + bytes([len(key)]) + key), 40, key)
        # Nothing is fetched or written by a second call, not even without the download.
        (out / "download/flower_photos.tgz").unlink()
        before = {path: path.stat().st_mtime_ns for path in records}
        self.server.ranges.clear()
        self.assertEqual(self.get("flowers", str(out))[0], 0)
        self.assertEqual(self.server.ranges, [])
        self.assertEqual({path: path.stat().st_mtime_ns for path in records}, before)
        code, text = self.get("cifar10", str(out))
        self.assertEqual(code, 1)
        self.assertIn("has the data set flowers; give another folder", text)

    def test_cifar10_becomes_records_with_the_classes_names(self):
        files = {"cifar-10-batches-bin/batches.meta.txt": b"airplane\nautomobile\n\n"}
        for i in range(1, 6):
            files[f"cifar-10-batches-bin/data_batch_{i}.bin"] = (
                bytes([0]) + bytes([i] * 3072) + bytes([1]) + bytes(range(96)) * 32)
        files["cifar-10-batches-bin/test_batch.bin"] = bytes([1]) + bytes(3072)
        self.use("cifar10", {"cifar-10-binary.tar.gz": tar_of(files)})
        out = self.folder / "cifar"
        # The only image of the test is of the second class: the first folder is empty.
        code, text = self.get("cifar10", str(out))
        self.assertEqual(code, 1)
        self.assertIn("failed with exit code 1", text)
        self.assertFalse((out / self.module.DONE).exists())
        files["cifar-10-batches-bin/test_batch.bin"] += bytes(3073)
        self.use("cifar10", {"cifar-10-binary.tar.gz": tar_of(files)})
        out = self.folder / "cifar2"
        code, text = self.get("cifar10", str(out))
        self.assertEqual(code, 0, text)
        train = b"".join(path.read_bytes() for path in out.glob("train-*-of-*"))
        self.assertEqual(train.count(b"automobile"), 5)
        self.assertEqual(train.count(b"airplane"), 5)
        validation = b"".join(path.read_bytes() for path in out.glob("validation-*-of-*"))
        self.assertEqual(validation.count(b"\x89PNG"), 2)

    def test_mnist_is_taken_as_it_is_and_may_be_compressed_anew(self):
        names = [file.name for file in self.module.DATASETS["mnist"].files]
        self.use("mnist", {name: gzip.compress(name.encode()) for name in names})
        for name in names:  # the bytes differ, the contents do not
            self.server.files[name] = gzip.compress(name.encode(), mtime=1)
        out = self.folder / "mnist"
        code, text = self.get("mnist", str(out))
        self.assertEqual(code, 0, text)
        self.assertEqual(self.names(out), sorted(names))
        self.server.ranges.clear()
        self.assertEqual(self.get("mnist", str(out))[0], 0)
        self.assertEqual(self.server.ranges, [])

    def test_a_wrong_file_is_removed_before_it_is_used(self):
        self.use_flowers()
        self.server.files["flower_photos.tgz"] += b"x"
        out = self.folder / "flowers"
        code, text = self.get("flowers", str(out))
        self.assertEqual(code, 1)
        self.assertIn("the SHA-256 is ", text)
        self.assertIn("the download was removed", text)
        self.assertEqual(self.names(out / "download"), [])
        self.assertEqual(self.names(out), ["download"])

    def test_a_file_that_exists_is_never_replaced(self):
        self.use_flowers()
        archive = self.folder / "flowers/download/flower_photos.tgz"
        archive.parent.mkdir(parents=True)
        archive.write_bytes(b"mine")
        code, text = self.get("flowers", str(self.folder / "flowers"))
        self.assertEqual(code, 1)
        self.assertIn("exists, but is another file", text)
        self.assertEqual(archive.read_bytes(), b"mine")

    def test_a_download_that_broke_off_continues(self):
        self.use_flowers()
        self.server.limit = 100
        out = self.folder / "flowers"
        code, text = self.get("flowers", str(out))
        self.assertEqual(code, 1)
        self.assertIn("has the first 100 bytes; the same command continues", text)
        self.server.limit = None
        code, text = self.get("flowers", str(out))
        self.assertEqual(code, 0, text)
        self.assertEqual(self.server.ranges, [None, "bytes=100-"])
        self.assertNotIn("flower_photos.tgz.part", self.names(out / "download"))

    def test_a_part_of_another_file_is_removed(self):
        self.use_flowers()
        part = self.folder / "flowers/download/flower_photos.tgz.part"
        part.parent.mkdir(parents=True)
        for size in (10, 10**6):  # the second is longer than the file
            part.write_bytes(b"x" * size)
            self.assertEqual(self.get("flowers", str(self.folder / "flowers"))[0], 1)
            self.assertFalse(part.exists())
        self.assertEqual(self.get("flowers", str(self.folder / "flowers"))[0], 0)

    def test_a_server_that_is_not_reached_is_told_apart(self):
        self.use_flowers()
        silent = socketserver.TCPServer(("127.0.0.1", 0), None)  # it never answers
        self.module.TIMEOUT_S = 0.2
        dataset = self.module.DATASETS["flowers"]
        url = f"http://127.0.0.1:{silent.server_address[1]}/"
        self.module.DATASETS["flowers"] = dataset._replace(urls=[url])
        code, text = self.get("flowers", str(self.folder / "flowers"))
        self.assertEqual(code, 1)
        self.assertIn("no data for 0.2 seconds", text)
        self.assertNotIn("Without a network", text)
        silent.server_close()  # nothing listens there any more
        code, text = self.get("flowers", str(self.folder / "flowers"))
        self.assertEqual(code, 1)
        self.assertIn("Without a network, fetch this", text)

    def test_a_dir_that_cannot_be_made_is_named(self):
        (self.folder / "file").write_text("mine")
        code, text = self.get("mnist", str(self.folder / "file"))
        self.assertEqual(code, 1)
        self.assertIn("file is a file; give the folder for the data set", text)
        code, text = self.get("mnist", str(self.folder / "file/below"))
        self.assertEqual(code, 1)
        self.assertIn("cannot be made: Not a directory", text)

    def test_without_a_network_it_says_how_by_hand(self):
        self.use_flowers()
        data = self.server.files.pop("flower_photos.tgz")
        out = str(self.folder / "flowers")
        code, text = self.get("flowers", out)
        self.assertEqual(code, 1)
        self.assertIn(f"{self.server.url}/flower_photos.tgz: HTTP 404 Not Found", text)
        self.assertIn("If this machine cannot fetch it, fetch this on another machine", text)
        self.assertNotIn("Without a network", text)
        self.assertIn("fetch this on another machine", text)
        self.assertIn("tools/get_dataset flowers DIR --from=FOLDER", text)
        by_hand = self.folder / "by hand"
        by_hand.mkdir()
        (by_hand / "flower_photos.tgz").write_bytes(data)
        code, text = self.get("flowers", out, f"--from={by_hand}")
        self.assertEqual(code, 0, text)
        self.assertEqual((by_hand / "flower_photos.tgz").read_bytes(), data)

    def test_it_names_a_wrong_folder_and_a_missing_converter(self):
        code, text = self.get("flowers", str(self.folder / "x"), "--from=/nowhere")
        self.assertEqual((code, "--from=/nowhere is not a folder" in text), (1, True), text)
        code, text = self.get("flowers", str(self.folder / "x"), "--to_tfrecord=/nowhere")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    TO_TFRECORD = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
