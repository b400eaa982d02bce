import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { expect, it } from 'vitest'
import { protobufFormat } from '../../../src/formats/protobuf/protobuf-format.ts'

const TEXT = `syntax = "proto3";
package shop;

import "confluent/meta.proto";

message Customer {
  option (confluent.message_meta) = {
    doc: "who buys",
    params: [
      {
        key: "owner",
        value: "sales"
      }
    ]
  };

  int64 id = 1;
  string email = 2 [deprecated = true, (confluent.field_meta) = {
    tags: [
      "PII",
      "CONTACT"
    ]
  }];
  Kind kind = 3;
}
enum Kind {
  option (confluent.enum_meta) = {
    tags: "OPEN"
  };
  NONE = 0 [(confluent.enum_value_meta) = {
    doc: "nothing"
  }];
}
`

it('preserves tags, docs and params of confluent.Meta in the serialized schema', () => {
  const schema = protobufFormat.parse({ text: TEXT })
  const compiled = schema.formatted('serialized')!
  const again = protobufFormat.parse({ text: compiled })
  expect(again.tags()).toEqual(schema.tags())
  expect(schema.tags().flatMap(({ tags }) => tags)).toEqual(['PII', 'CONTACT'])
  expect(again.formatted('serialized')).toBe(compiled)
  expect(again.canonical).toContain('who buys')
  expect(again.canonical).toContain('"sales"')
  expect(again.canonical).toContain('nothing')
})

it('encodes confluent.Meta like a protoc extension', () => {
  const compiled = protobufFormat.parse({ text: TEXT }).formatted('serialized')!
  const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(compiled, 'base64'))
  const email = file.messageType[0]!.field[1]!
  // `deprecated`, then the extension with the number 1088: a message of 14 bytes with two texts in its field 3.
  const options = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('latin1')
  expect(options).toContain('\x18\x01\x82\x44\x0e\x1a\x03PII\x1a\x07CONTACT')
  expect(email.options?.deprecated).toBe(true)
})
