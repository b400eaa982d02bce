import type { NewSchema, RegistryClient } from '../../src/clients/registry-client.ts'

/**
 * Registers this number of versions in two contexts: all formats in turn, twenty versions per subject, every second one
 * with a reference.
 */
export async function registerSchemas(client: RegistryClient, versions: number): Promise<void> {
  const lanes = 10
  for (const context of ['', ':.other:']) {
    await client.register(`${context}base-avro`, avroBase)
    await client.register(`${context}base-json`, jsonBase)
    await client.register(`${context}base-proto`, protoBase)
  }
  await client.putConfig({ compatibility: 'NONE' })
  await client.putConfig({ compatibility: 'NONE' }, ':.other:')
  const lane = async (from: number) => {
    for (let at = from; at < versions - 6; at += lanes) {
      const subject = `${at % 20 < 10 ? '' : ':.other:'}subject-${at % lanes}-${Math.floor(at / (lanes * 20))}`
      await client.register(subject, nthSchema(at))
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, from) => lane(from)))
}

const avroBase: NewSchema = { schema: '{"type":"record","name":"Base","namespace":"t","fields":[]}' }
const jsonBase: NewSchema = { schemaType: 'JSON', schema: '{"type":"string","maxLength":9}' }
const protoBase: NewSchema = { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; package t; message Base {}' }

function nthSchema(at: number): NewSchema {
  const isReferring = Math.floor(at / 3) % 2 === 0
  const references = (name: string, subject: string) =>
    isReferring ? { references: [{ name, subject, version: 1 }] } : {}
  if (at % 3 === 0) {
    const type = isReferring ? 't.Base' : 'long'
    return {
      schema: JSON.stringify({ type: 'record', name: `R${at}`, fields: [{ name: 'f', type }] }),
      ...references('t.Base', 'base-avro'),
    }
  }
  if (at % 3 === 1) {
    const property = isReferring ? { $ref: 'base.json' } : { type: 'integer' }
    return {
      schemaType: 'JSON',
      schema: JSON.stringify({ title: `J${at}`, type: 'object', properties: { p: property } }),
      ...references('base.json', 'base-json'),
    }
  }
  const [imported, type] = isReferring ? ['import "base.proto";', 't.Base'] : ['', 'int64']
  return {
    schemaType: 'PROTOBUF',
    schema: `syntax = "proto3"; ${imported} message P${at} { ${type} f = 1; }`,
    ...references('base.proto', 'base-proto'),
  }
}
