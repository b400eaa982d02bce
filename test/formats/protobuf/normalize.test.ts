import { describe, expect, it } from 'vitest'
import { normalizeProto } from '../../../src/formats/protobuf/normalize.ts'
import { parseProto } from '../../../src/formats/protobuf/parser.ts'
import { printProto } from '../../../src/formats/protobuf/printer.ts'

const normal = (text: string, ...imports: string[]) =>
  printProto(
    normalizeProto(
      parseProto(text),
      imports.map((file, at) => ({ path: `${at}.proto`, file: parseProto(file) })),
    ),
  )

describe('normalizing a .proto file', () => {
  it('has the same result for files that differ only in notation', () => {
    const one = `syntax = "proto3"; package p; import "b.proto"; import "a.proto"; import "b.proto";
      option java_package = "x"; option csharp_namespace = "y";
      message M { string b = 2 [deprecated = true, ctype = CORD]; M.In a = 1; map<string, In> m = 3;
        oneof late { int32 z = 9; int32 y = 8; } oneof early { int32 x = 5; } oneof none {}
        reserved 20 to 20, "old", 11; message In {} enum E { B = 1; A = 0; } }`
    const other = `syntax = "proto3"; package p; import "a.proto"; import "b.proto";
      option csharp_namespace = "y"; option java_package = "x";
      message M { .p.M.In a = 1; repeated MEntry m = 3; string b = 2 [ctype = CORD, deprecated = true];
        oneof early { int32 x = 5; } oneof late { int32 y = 8; int32 z = 9; }
        reserved 11; reserved 20; reserved "old"; message In {} enum E { A = 0; B = 1; }
        message MEntry { option map_entry = true; string key = 1; In value = 2; } }`
    expect(normal(one)).toBe(normal(other))
    expect(normal(one)).toContain('  .p.M.In a = 1;\n')
    expect(normal(one)).toContain('  map<string, .p.M.In> m = 3;\n')
    expect(normal(one)).toContain('  reserved 11;\n  reserved 20;\n  reserved "old";\n')
  })

  it('preserves the order of messages, and omits the proto2 syntax statement', () => {
    expect(normal('syntax = "proto2"; message B {} message A {}')).toBe('\nmessage B {}\nmessage A {}\n')
  })

  it('merges several statements of an option under its full name', () => {
    const text = `package p; extend google.protobuf.FileOptions { optional O o = 50000; } message O { optional int32 b = 1; optional int32 a = 2; }
      option (o).b = 0x10; option (p.o).a = 1;`
    const descriptor = 'package google.protobuf; message FileOptions {}'
    expect(normal(text, descriptor)).toContain('option (p.o) = {\n  a: 1,\n  b: 16\n};\n')
  })

  it('does not change a normalized file', () => {
    const once = normal('package p; message M { optional M m = 1; extensions 4 to max; }')
    expect(normal(once)).toBe(once)
  })

  it('throws an error that names an undeclared type', () => {
    expect(() => normal('package p; message M { Gone g = 1; }')).toThrow("the type 'Gone' in p.M is declared neither")
  })
})
