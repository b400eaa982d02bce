"""Confluent's client for Python, as a program would use it.

usage: client.py PACKAGES BOOTSTRAP REGISTRY TOPIC AVRO|JSON|PROTOBUF SCHEMA [VALUES [HEADER]]

Writes VALUES, a JSON array, with HEADER the schema's guid in a header; without VALUES prints what the topic holds. Protobuf's 64-bit numbers are text there. SCHEMA is a
text, for Protobuf {"message": name, "files": compiled files in their JSON form, those that others import first}.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

_, _, bootstrap, registry_url, topic, schema_type, schema, *values = sys.argv
registry = SchemaRegistryClient({"url": registry_url})


def message_class():
    described = json.loads(schema)
    pool = descriptor_pool.DescriptorPool()
    for compiled in described["files"]:
        pool.Add(json_format.ParseDict(compiled, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(described["message"]))


def serializer():
    conf = {"schema.id.serializer": header_schema_id_serializer} if len(values) > 1 else {}
    if schema_type == "AVRO":
        return AvroSerializer(registry, schema, conf=conf)
    if schema_type == "JSON":
        return JSONSerializer(schema, registry, conf=conf)
    message = message_class()
    serialize = ProtobufSerializer(message, registry, {"use.deprecated.format": False, **conf})
    return lambda value, where: serialize(json_format.ParseDict(value, message()), where)


def deserializer():
    if schema_type == "AVRO":
        return AvroDeserializer(registry)
    if schema_type == "JSON":
        return JSONDeserializer(None, schema_registry_client=registry)
    deserialize = ProtobufDeserializer(message_class(), {"use.deprecated.format": False}, registry)
    return lambda data, where: json_format.MessageToDict(deserialize(data, where))


if values:
    producer = Producer({"bootstrap.servers": bootstrap})
    serialize = serializer()
    for value in json.loads(values[0]):
        context = SerializationContext(topic, MessageField.VALUE, headers=[])
        producer.produce(topic, value=serialize(value, context), headers=context.headers)
    sys.exit(producer.flush(30))

consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "enable.partition.eof": True})
consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
deserialize = deserializer()
while True:
    message = consumer.poll(30)
    if message is None:
        sys.exit("nothing came")
    if message.error():
        # The end of the only partition.
        consumer.close()
        sys.exit(0)
    context = SerializationContext(topic, MessageField.VALUE, headers=message.headers())
    print(json.dumps(deserialize(message.value(), context)))
