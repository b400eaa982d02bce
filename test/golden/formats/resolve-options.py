"""Prints the descriptor of each .proto file of a folder, with the values of custom options, as Google's Protobuf library reads them.

PACKAGES FOLDER. Writes a line of JSON for each. A file `x.proto.descriptor` has a descriptor in base64, which is read beside that of protoc.
"""

import base64
import json
import os
import sys
import tempfile

packages, folder = sys.argv[1:]
sys.path.insert(0, packages)

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory  # noqa: E402
from grpc_tools import protoc  # noqa: E402

FILE = "google.protobuf.FileDescriptorProto"
builtin = os.path.join(packages, "grpc_tools", "_proto")


def resolved(pool, data):
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(FILE)).FromString(data)
    return json_format.MessageToDict(message, preserving_proto_field_name=True, descriptor_pool=pool)


for root, _, names in os.walk(folder):
    for name in sorted(names):
        if not name.endswith(".proto"):
            continue
        path = os.path.relpath(os.path.join(root, name), folder)
        with tempfile.NamedTemporaryFile() as out:
            options = ["--include_imports", "--retain_options", f"--descriptor_set_out={out.name}"]
            code = protoc.main(["protoc", f"-I{folder}", f"-I{builtin}", *options, path])
            files = descriptor_pb2.FileDescriptorSet.FromString(out.read()).file if code == 0 else []
        if not files:
            print(json.dumps({"path": path, "protoc": None}))
            continue
        pool = descriptor_pool.DescriptorPool()
        if not any(file.name == "google/protobuf/descriptor.proto" for file in files):
            pool.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
        for file in files:
            pool.AddSerializedFile(file.SerializeToString())
        line = {"path": path, "protoc": resolved(pool, files[-1].SerializeToString())}
        ours = os.path.join(folder, f"{path}.descriptor")
        if os.path.exists(ours):
            with open(ours) as text:
                line["ours"] = resolved(pool, base64.b64decode(text.read()))
        print(json.dumps(line))
