import { describe, expect, it } from 'vitest'
import type { KeyRecord, StoredDek, StoredKek } from '../../../src/registry/dek/key.ts'
import { KeyRecordCodec, markerRecord } from '../../../src/registry/dek/key-record-codec.ts'
import type { Subject } from '../../../src/registry/model/subject.ts'

const KEK: StoredKek = {
  name: 'kek1',
  kmsType: 'test-kms',
  kmsKeyId: 'myid',
  kmsProps: {},
  doc: undefined,
  shared: false,
  deleted: false,
}
const DEK: StoredDek = {
  kekName: 'kek1',
  subject: 'orders' as Subject,
  algorithm: 'AES256_GCM',
  version: 1,
  encryptedKeyMaterial: 'AQID',
  deleted: false,
}
const kek = (changes: Partial<StoredKek> = {}): KeyRecord => {
  const value = { ...KEK, ...changes }
  return { kind: 'kek', name: value.name, value }
}
const dek = (changes: Partial<StoredDek> = {}): KeyRecord => {
  const value = { ...DEK, ...changes }
  const { encryptedKeyMaterial: _, deleted: __, ...id } = value
  return { kind: 'dek', id, value }
}

// Written by the classes of Confluent's DEK registry 8.5 with Jackson 2.20.
const WRITTEN: readonly (readonly [what: string, record: KeyRecord, key: string, value: string])[] = [
  [
    'a KEK',
    kek(),
    '{"tenant":"default","name":"kek1","type":"KEK"}',
    '{"name":"kek1","kmsType":"test-kms","kmsKeyId":"myid","kmsProps":{},"shared":false,"deleted":false,"type":"KEK"}',
  ],
  [
    'a KEK with all members',
    kek({
      name: 'kek2',
      kmsType: 'aws-kms',
      kmsKeyId: 'arn:aws:kms:1',
      kmsProps: { region: 'eu', Zone: '1', 'a"ä': '\n' },
      doc: 'why ä',
      shared: true,
      deleted: true,
    }),
    '{"tenant":"default","name":"kek2","type":"KEK"}',
    '{"name":"kek2","kmsType":"aws-kms","kmsKeyId":"arn:aws:kms:1","kmsProps":{"Zone":"1","a\\"ä":"\\n","region":"eu"},"doc":"why ä","shared":true,"deleted":true,"type":"KEK"}',
  ],
  [
    'a DEK',
    dek(),
    '{"tenant":"default","kekName":"kek1","subject":"orders","algorithm":"AES256_GCM","version":1,"type":"DEK"}',
    '{"kekName":"kek1","subject":"orders","algorithm":"AES256_GCM","version":1,"encryptedKeyMaterial":"AQID","deleted":false,"type":"DEK"}',
  ],
  [
    'a DEK in a context without key material',
    dek({
      subject: ':.c:orders/1' as Subject,
      algorithm: 'AES256_SIV',
      version: 2,
      encryptedKeyMaterial: undefined,
      deleted: true,
    }),
    '{"tenant":"default","kekName":"kek1","subject":":.c:orders/1","algorithm":"AES256_SIV","version":2,"type":"DEK"}',
    '{"kekName":"kek1","subject":":.c:orders/1","algorithm":"AES256_SIV","version":2,"deleted":true,"type":"DEK"}',
  ],
]

describe('records of the DEK registry', () => {
  it.each(WRITTEN)('are encoded as Confluent’s registry does: %s', (_, record, key, value) => {
    const written = new KeyRecordCodec().encode(record)
    expect([String(written.key), String(written.value)]).toEqual([key, value])
  })

  it.each(WRITTEN)('are decoded as Confluent’s registry encoded them: %s', (_, record, key, value) => {
    expect(new KeyRecordCodec().decode(Buffer.from(key), Buffer.from(value))).toEqual(record)
  })

  it.each([kek(), dek()])('without a value remove a key', (record) => {
    const codec = new KeyRecordCodec()
    const written = codec.encode({ ...record, value: null } as KeyRecord)
    expect(written.value).toBeNull()
    expect(codec.decode(written.key, null)).toEqual({ ...record, value: null })
    expect(codec.decode(written.key, Buffer.alloc(0))).toEqual({ ...record, value: null })
  })

  it('are parsed without fields that have defaults, and with unknown fields', () => {
    const key = Buffer.from('{"type":"KEK","tenant":"default","name":"kek1","more":1}')
    const value = Buffer.from('{"type":"KEK","kmsType":"test-kms","kmsKeyId":"myid","ts":5,"more":1}')
    expect(new KeyRecordCodec().decode(key, value)).toEqual(kek())
  })

  it('may have properties without a value, which have no effect', () => {
    const value = Buffer.from('{"type":"KEK","kmsType":"test-kms","kmsKeyId":"myid","kmsProps":{"a":null,"b":"c"}}')
    expect(new KeyRecordCodec().decode(Buffer.from(WRITTEN[0]![2]), value)).toEqual(kek({ kmsProps: { b: 'c' } }))
  })

  it('are written with the key text that was read', () => {
    const codec = new KeyRecordCodec()
    const key =
      '{"type":"DEK","tenant":"default","kekName":"kek1","subject":":.:orders","algorithm":"AES256_GCM","version":1}'
    expect(codec.decode(Buffer.from(key), null)).toMatchObject({ id: { subject: 'orders' } })
    expect(String(codec.encode(dek()).key)).toBe(key)
  })

  it.each([
    ['of another tenant', { key: Buffer.from('{"tenant":"t1","name":"kek1","type":"KEK"}'), value: null }],
    ['that marks a new leader', markerRecord()],
  ])('have no effect: a record %s', (_, { key, value }) => {
    expect(new KeyRecordCodec().decode(key, value)).toBeUndefined()
  })

  const SECRET = 'AQIDBAUGBwgJ'
  it.each([
    ['a key that is not JSON', SECRET, null, 'its key is not a JSON object'],
    ['a record without key', null, null, 'its key is not a JSON object'],
    ['a key that is not an object', '[]', null, 'its key is not a JSON object'],
    [
      'a key of an unknown type',
      '{"tenant":"default","type":"NEW"}',
      null,
      "the member 'type' of its key is missing or invalid",
    ],
    [
      'a KEK without a name',
      '{"tenant":"default","type":"KEK"}',
      null,
      "the member 'name' of its key is missing or invalid",
    ],
    [
      'a DEK of an unknown algorithm',
      WRITTEN[2]![2].replace('AES256_GCM', SECRET),
      null,
      "the member 'algorithm' of its key",
    ],
    [
      'a value that is not JSON',
      WRITTEN[2]![2],
      `{"encryptedKeyMaterial":"${SECRET}"`,
      'its value is not a JSON object',
    ],
    [
      'a value of another type',
      WRITTEN[2]![2],
      `{"type":"KEK","encryptedKeyMaterial":"${SECRET}"}`,
      "the member 'type' of its value",
    ],
    [
      'a KEK without a KMS',
      WRITTEN[0]![2],
      `{"type":"KEK","kmsProps":{"secret":"${SECRET}"}}`,
      "the member 'kmsType' of its value",
    ],
    [
      'a KEK with invalid properties',
      WRITTEN[0]![2],
      `{"type":"KEK","kmsType":"a","kmsKeyId":"b","kmsProps":{"${SECRET}":{"secret":"${SECRET}"}}}`,
      "the member 'kmsProps' of its value",
    ],
  ])('are rejected with an error that contains no values: %s', (_, key, value, message) => {
    const decode = () =>
      new KeyRecordCodec().decode(key === null ? null : Buffer.from(key), value === null ? null : Buffer.from(value))
    expect(decode).toThrow(message)
    expect(decode).not.toThrow(SECRET)
  })
})
