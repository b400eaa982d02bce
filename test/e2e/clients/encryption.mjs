// Confluent's serializers for JavaScript with encryption of fields, as a program would use them.
//
// usage: encryption.mjs MODULES REGISTRY JOBS; arguments and output are those of encryption.py.

import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, registryUrl, request] = process.argv.slice(2)
const require = createRequire(join(modules, 'package.json'))
const confluent = require('@confluentinc/schemaregistry')
const { createFileRegistry, create, fromJson, toJson } = require('@bufbuild/protobuf')
const { FileDescriptorProtoSchema, FileDescriptorSetSchema } = require('@bufbuild/protobuf/wkt')
const { secret, days, jobs } = JSON.parse(request)

confluent.LocalKmsDriver.register()
const clock = { now: () => Date.now() + days * 86_400_000 }
confluent.FieldEncryptionExecutor.registerWithClock(clock)
confluent.EncryptionExecutor.registerWithClock(clock)
const registry = new confluent.SchemaRegistryClient({ baseURLs: [registryUrl], maxRetries: 0 })
const ruleConfig = secret === null ? {} : { secret }
const VALUE = confluent.SerdeType.VALUE

function messageRegistry({ message }) {
  const file = fromJson(FileDescriptorProtoSchema, message.file)
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [file] }))
}

function serializerFor(job) {
  const config = { useLatestVersion: true, autoRegisterSchemas: false, ruleConfig }
  if (job.type === 'AVRO') return new confluent.AvroSerializer(registry, VALUE, config)
  if (job.type === 'JSON') return new confluent.JsonSerializer(registry, VALUE, config)
  return new confluent.ProtobufSerializer(registry, VALUE, { ...config, registry: messageRegistry(job) })
}

function deserializerFor(job) {
  const config = { ruleConfig }
  if (job.type === 'AVRO') return new confluent.AvroDeserializer(registry, VALUE, config)
  if (job.type === 'JSON') return new confluent.JsonDeserializer(registry, VALUE, config)
  return new confluent.ProtobufDeserializer(registry, VALUE, config)
}

async function run(job) {
  const results = []
  const schema = job.type === 'PROTOBUF' ? messageRegistry(job).getMessage(job.message.name) : undefined
  if (job.write) {
    const serializer = serializerFor(job)
    for (const value of job.write) {
      const written = schema ? fromJson(schema, value) : value
      results.push((await serializer.serialize(job.topic, written)).toString('base64'))
    }
    return results
  }
  const deserializer = deserializerFor(job)
  for (const data of job.read) {
    const value = await deserializer.deserialize(job.topic, Buffer.from(data, 'base64'))
    results.push(schema ? toJson(schema, value) : value)
  }
  return results
}

const outcomes = []
for (const job of jobs) outcomes.push(await run(job).catch((error) => ({ error: String(error) })))
console.log(JSON.stringify(outcomes))
