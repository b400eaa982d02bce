import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, it } from 'vitest'
import { protobufFormat } from '../../../src/formats/protobuf/protobuf-format.ts'
import { wellKnownFile } from '../../../src/formats/protobuf/well-known-types.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'

const parse = (text: string) => protobufFormat.parse({ text })

const ORDER = `syntax = "proto3";
package shop;

import "google/protobuf/timestamp.proto";

option java_package = "io.shop";

message Order {
  reserved 8, 10 to 12, "old";

  int64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, Kind> kinds = 4;
  google.protobuf.Timestamp at = 5 [deprecated = true];
  string other_name = 9 [json_name = "x"];

  oneof pay {
    string card = 6;
    Line line = 7;
  }

  message Line {
    int32 count = 1;
  }
}
enum Kind {
  NONE = 0;
}

service Orders {
  rpc Get (Order) returns (stream .shop.Order);
}
`

describe('parsing a Protobuf schema', () => {
  it('returns the name and the fields of the first message', () => {
    const order = parse(ORDER)
    expect([order.name, order.fields]).toEqual([
      'shop.Order',
      ['id', 'note', 'lines', 'kinds', 'at', 'other_name', 'card', 'line'],
    ])
  })

  it('produces a descriptor that @bufbuild/protobuf loads, and reads it back', () => {
    const order = parse(ORDER)
    const compiled = order.formatted('serialized') ?? ''
    const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(compiled, 'base64'))
    const timestamp = protobufFormat.parse({ text: wellKnownFile('google/protobuf/timestamp.proto') ?? '' })
    const imported = fromBinary(
      FileDescriptorProtoSchema,
      Buffer.from(timestamp.formatted('serialized') ?? '', 'base64'),
    )
    imported.name = 'google/protobuf/timestamp.proto'
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [imported, file] }))
    const message = registry.getMessage('shop.Order')
    expect(message?.fields.map(({ name, number, fieldKind }) => [name, number, fieldKind])).toContainEqual([
      'kinds',
      4,
      'map',
    ])
    expect(message?.oneofs.map(({ name }) => name)).toEqual(['pay'])
    expect(parse(compiled).normalized().canonical).toBe(order.normalized().canonical)
    expect(Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64')).toBe(compiled)
  })

  it.each([
    'message M { optional int32 a = 1 [deprecated = maybe]; }',
    'option java_package = 5; message M {}',
    'message M { optional int32 a = 1; reserved 2147483647; }',
  ])('reports what cannot be compiled as an error of the schema: %s', (text) => {
    expect(() => parse(text).formatted('serialized')).toThrow(
      expect.objectContaining({ name: 'SchemaError', message: expect.stringContaining('cannot be compiled') }),
    )
  })

  it('rejects a descriptor whose package name has too many parts, as in a text', () => {
    const compiled = (parts: number) =>
      Buffer.from(
        toBinary(
          FileDescriptorProtoSchema,
          create(FileDescriptorProtoSchema, { name: 'x', syntax: 'proto3', package: Array(parts).fill('a').join('.') }),
        ),
      ).toString('base64')
    expect(parse(compiled(100)).canonical).toContain('package a.a.')
    expect(() => parse(compiled(101))).toThrow(SchemaError)
  })

  it.each([
    'google/protobuf/any.proto',
    'google/protobuf/descriptor.proto',
    'google/protobuf/struct.proto',
    'google/protobuf/wrappers.proto',
    'google/type/datetime.proto',
    'google/type/phone_number.proto',
    'google/type/month.proto',
    'confluent/meta.proto',
    'confluent/type/decimal.proto',
  ])('resolves the import %s without a reference', (path) => {
    expect(parse(`syntax = "proto3"; import "${path}"; message M {}`).name).toBe('M')
    expect(parse(wellKnownFile(path) ?? '').canonical).toContain('syntax')
  })

  it('resolves types of references, and names a missing import', () => {
    const text = 'syntax = "proto3"; import "d.proto"; message M { dep.D d = 1; }'
    const dependencies = [
      { name: 'd.proto', subject: 'd', version: 1, text: 'syntax = "proto3"; package dep; message D {}' },
    ]
    expect(protobufFormat.parse({ text, dependencies }).fields).toEqual(['d'])
    expect(() => parse(text)).toThrow("the import 'd.proto' is neither among the references nor a well-known file")
  })

  it("reports incompatibilities with the messages of Confluent's registry", () => {
    const findings = parse('syntax = "proto3"; message M { string a = 1; }').incompatibilities(
      parse('syntax = "proto3"; message M { int32 a = 1; }'),
      {
        roles: { reader: 'new', writer: 'old' },
      },
    )
    expect(findings.map(({ message }) => message)).toEqual([
      `{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path '#/M/1' in the new schema does not match its kind in the old schema"}`,
    ])
  })

  it('accepts a normalized schema as a new one, also with a negative constant, which is sorted before 0', () => {
    const { canonical } = parse('syntax = "proto3"; enum E { ZERO = 0; ONE = 1; MINUS = -1; }').normalized()
    expect(canonical).toMatch(/MINUS = -1;\s+ZERO = 0;/)
    expect(parse(canonical).canonical).toBe(canonical)
  })

  it.each([
    ['message M { Gone g = 1; }', "the type 'Gone' in M is declared neither"],
    ['message M { int32 a = 1; int32 b = 1; }', 'two fields of M have the number 1'],
    ['message M { int32 a = 1; int32 a = 2; }', "two fields of M have the name 'a'"],
    ['message M { int32 a = 0; }', 'has the number 0'],
    ['message M { int32 a = 19000; }', 'are reserved for Protobuf'],
    ['message M { reserved 5 to 7; int32 a = 6; }', 'has the reserved number 6'],
    ['message M {} message M {}', "'M' is declared twice"],
    ['syntax = "proto3"; enum E { A = 1; }', 'must be 0 in proto3'],
    ['syntax = "proto3"; enum E { A = -1; }', 'must be 0 in proto3'],
    ['enum E { A = 0; B = 0; }', 'without allow_alias'],
    ['bm90IGEgZGVzY3JpcHRvcg==', 'expected syntax'],
  ])('rejects the invalid new schema %s', (text, message) => {
    expect(() => parse(text)).toThrow(SchemaError)
    expect(() => parse(text)).toThrow(message)
  })
})
