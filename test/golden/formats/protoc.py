"""Compiles each .proto file of a folder by itself, with protoc: PACKAGES INCLUDE... FOLDER. Writes a line of JSON for each."""

import base64
import json
import os
import sys
import tempfile

packages, *includes, folder = sys.argv[1:]
sys.path.insert(0, packages)

from grpc_tools import protoc  # noqa: E402

builtin = os.path.join(packages, "grpc_tools", "_proto")
# What protoc says of broken files is for nobody.
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

for root, _, names in os.walk(folder):
    for name in sorted(names):
        if not name.endswith(".proto"):
            continue
        path = os.path.relpath(os.path.join(root, name), folder)
        with tempfile.NamedTemporaryFile() as out:
            paths = [f"-I{include}" for include in [folder, *includes, builtin]]
            code = protoc.main(["protoc", *paths, f"--descriptor_set_out={out.name}", path])
            compiled = base64.b64encode(out.read()).decode() if code == 0 else None
        print(json.dumps({"path": path, "compiled": compiled}))
