import { describe, expect, it } from 'vitest'
import { type ProtoUnit, protobufChanges } from '../../../src/formats/protobuf/compatibility.ts'
import { parseProto } from '../../../src/formats/protobuf/parser.ts'

const unit = (body: string, imports: Record<string, number> = {}): ProtoUnit => ({
  file: parseProto(`syntax = "proto3"; package shop; ${body}`),
  dependencies: Object.entries(imports).map(([text, version]) => ({
    path: `${version}.proto`,
    file: parseProto(text),
    reference: { subject: 'dependency', version },
  })),
})
const changes = (original: ProtoUnit, update: ProtoUnit) =>
  protobufChanges(original, update).map(({ type, path }) => `${type} ${path}`)
const between = (original: string, update: string) => changes(unit(original), unit(update))
const message = (fields: string) => `message M { ${fields} }`

describe('a .proto change is compatible if', () => {
  it.each([
    ['a field is added or removed', 'int32 a = 1;', 'string b = 2;'],
    ['a field is renamed', 'int32 a = 1;', 'int32 z = 1;'],
    [
      'a scalar type changes to one with the same wire format',
      'int32 a = 1; sint32 s = 2; fixed32 f = 3;',
      'bool a = 1; sint64 s = 2; sfixed32 f = 3;',
    ],
    ['a string becomes bytes, with another label', 'optional string a = 1;', 'repeated bytes a = 1;'],
    ['an enum becomes an integer', 'E a = 1; enum E { Z = 0; }', 'int64 a = 1;'],
    ['a label is removed', 'optional int32 a = 1;', 'int32 a = 1;'],
    ['a oneof is removed with all its fields', 'oneof o { int32 a = 1; string b = 2; }', ''],
    ['a oneof is renamed', 'oneof o { int32 a = 1; string b = 2; }', 'oneof p { int32 a = 1; string b = 2; }'],
    [
      'a field moves out of a oneof',
      'oneof o { int32 a = 1; string b = 2; }',
      'oneof o { int32 a = 1; } string b = 2;',
    ],
    ['a single field moves into a new oneof', 'int32 a = 1;', 'oneof o { int32 a = 1; string b = 2; }'],
    [
      'a map is replaced by its entry message',
      'map<string, int32> m = 1;',
      'repeated E m = 1; message E { option map_entry = true; string key = 1; int32 value = 2; }',
    ],
    ['a field is added to a recursive type', 'M next = 1;', 'M next = 1; int32 a = 2;'],
  ])('%s', (_, original, update) => {
    expect(between(message(original), message(update))).toEqual([])
  })
})

describe('a .proto change is incompatible if', () => {
  it.each([
    ['int32 a = 1;', 'string a = 1;', ['FIELD_SCALAR_KIND_CHANGED #/M/1']],
    ['int32 a = 1;', 'map<string, int32> a = 1;', ['FIELD_KIND_CHANGED #/M/1']],
    ['map<string, int32> a = 1;', 'map<string, string> a = 1;', ['FIELD_SCALAR_KIND_CHANGED #/M/1']],
    ['optional int32 a = 1;', 'repeated int32 a = 1;', ['FIELD_NUMERIC_LABEL_CHANGED #/M/1']],
    ['A a = 1; message A {} message B {}', 'B a = 1; message A {} message B {}', ['FIELD_NAMED_TYPE_CHANGED #/M/1']],
    ['message A {}', '', ['MESSAGE_REMOVED #/M/A']],
    ['oneof o { int32 a = 1; string b = 2; }', 'oneof o { int32 a = 1; }', ['ONEOF_FIELD_REMOVED #/M/o/2']],
    ['int32 a = 1; int32 b = 2;', 'oneof o { int32 a = 1; int32 b = 2; }', ['MULTIPLE_FIELDS_MOVED_TO_ONEOF #/M/o']],
    [
      'oneof o { int32 a = 1; } int32 b = 2;',
      'oneof o { int32 a = 1; int32 b = 2; }',
      ['FIELD_MOVED_TO_EXISTING_ONEOF #/M/o'],
    ],
    ['oneof o { int32 a = 1; }', 'oneof p { string a = 1; }', ['FIELD_SCALAR_KIND_CHANGED #/M/p/1']],
  ])('%s becomes %s', (original, update, expected) => {
    expect(between(message(original), message(update))).toEqual(expected)
  })

  it('a required field is added or removed in proto2', () => {
    const proto2 = (fields: string): ProtoUnit => ({
      file: parseProto(`syntax = "proto2"; ${message(fields)}`),
      dependencies: [],
    })
    expect(changes(proto2('required int32 a = 1;'), proto2('required int32 b = 2;'))).toEqual([
      'REQUIRED_FIELD_REMOVED #/M/1',
      'REQUIRED_FIELD_ADDED #/M/2',
    ])
  })

  it('the package changes', () => {
    const other: ProtoUnit = { file: parseProto('syntax = "proto3"; package mart; message M {}'), dependencies: [] }
    expect(changes(unit(message('')), other)).toEqual(['PACKAGE_CHANGED #/'])
  })

  it('the structure of an imported type changes incompatibly', () => {
    const body = 'import "d.proto"; message M { dep.D d = 1; }'
    const imported = (fields: string, version: number) =>
      unit(body, { [`package dep; message D { ${fields} }`]: version })
    expect(changes(imported('int32 a = 1;', 1), imported('int32 a = 1; int32 b = 2;', 2))).toEqual([])
    expect(changes(imported('int32 a = 1;', 1), imported('string a = 1;', 2))).toEqual([
      'FIELD_SCALAR_KIND_CHANGED #/D/1',
      'FIELD_NAMED_TYPE_CHANGED #/M/1',
    ])
  })
})
