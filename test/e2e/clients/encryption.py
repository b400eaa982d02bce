"""Confluent's client for Python with encryption of fields, as a program would use it.

usage: encryption.py PACKAGES REGISTRY JOBS

JOBS, JSON: {"secret": text or null, "days": by how many days its clock is ahead, "jobs": [{"topic", "type": AVRO|JSON|PROTOBUF,
"message": a compiled message for PROTOBUF, "write": [values]  or  "read": [data in base64]}]}. Writes with the latest schema of the subject. Prints a JSON
array: of each job the data in base64 or the values, or {"error": text}.
"""

import base64
import json
import sys
import time

sys.path.insert(0, sys.argv[1])

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import (
    Clock,
    EncryptionExecutor,
    FieldEncryptionExecutor,
)
from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

_, _, registry_url, request = sys.argv
request = json.loads(request)


class ClockAhead(Clock):
    def now(self):
        return int((time.time() + request["days"] * 86_400) * 1000)


LocalKmsDriver.register()
FieldEncryptionExecutor.register_with_clock(ClockAhead())
EncryptionExecutor.register_with_clock(ClockAhead())
registry = SchemaRegistryClient({"url": registry_url})
rule_conf = {} if request["secret"] is None else {"secret": request["secret"]}
WRITE = {"auto.register.schemas": False, "use.latest.version": True}


def message_class(job):
    pool = descriptor_pool.DescriptorPool()
    pool.Add(json_format.ParseDict(job["message"]["file"], descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(job["message"]["name"]))


def serializer(job):
    if job["type"] == "AVRO":
        return AvroSerializer(registry, None, conf=WRITE, rule_conf=rule_conf)
    if job["type"] == "JSON":
        return JSONSerializer(None, registry, conf=WRITE, rule_conf=rule_conf)
    message = message_class(job)
    conf = {**WRITE, "use.deprecated.format": False}
    serialize = ProtobufSerializer(message, registry, conf, rule_conf=rule_conf)
    return lambda value, where: serialize(json_format.ParseDict(value, message()), where)


def deserializer(job):
    if job["type"] == "AVRO":
        return AvroDeserializer(registry, rule_conf=rule_conf)
    if job["type"] == "JSON":
        return JSONDeserializer(None, schema_registry_client=registry, rule_conf=rule_conf)
    conf = {"use.deprecated.format": False}
    deserialize = ProtobufDeserializer(message_class(job), conf, registry, rule_conf=rule_conf)
    return lambda data, where: json_format.MessageToDict(deserialize(data, where))


def chain(error):
    texts = []
    while error is not None:
        texts.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return " / ".join(texts)


def run(job):
    context = SerializationContext(job["topic"], MessageField.VALUE)
    if "write" in job:
        serialize = serializer(job)
        return [base64.b64encode(serialize(value, context)).decode() for value in job["write"]]
    deserialize = deserializer(job)
    return [deserialize(base64.b64decode(data), context) for data in job["read"]]


def outcome(job):
    try:
        return run(job)
    except Exception as error:
        return {"error": chain(error)}


print(json.dumps([outcome(job) for job in request["jobs"]]))
