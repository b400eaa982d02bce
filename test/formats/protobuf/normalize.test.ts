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

  const OPTIONS = `syntax = "proto2"; package o; import "google/protobuf/descriptor.proto";
    message O {
      optional O one = 1; repeated O many = 2; repeated string texts = 3; map<string, int32> counts = 4;
      oneof choice { int32 a = 5; O b = 6; } optional group G = 7 { optional int32 x = 1; } extensions 100 to 200;
    }
    extend O { optional bool flag = 100; repeated string marks = 101; }
    extend google.protobuf.FileOptions { optional O file = 50000; repeated string all = 50001; }`
  const DESCRIPTOR = 'package google.protobuf; message FileOptions {}'
  const optionsOf = (text: string) => {
    const [, options] = /^(?:import [^\n]*\n|\n)*([\s\S]*)$/.exec(normal(text, OPTIONS, DESCRIPTOR)) ?? []
    return options?.replace(/\s+/g, ' ').trim()
  }

  it.each([
    [
      'option (o.file).texts = "a"; option (o.file).texts = "b"; option (o.file).texts = "a";',
      'texts: [ "a", "b", "a" ]',
    ],
    ['option (o.file) = { texts: "a" }; option (o.file).texts = "b";', 'texts: [ "a", "b" ]'],
    ['option (o.file).many = { a: 1 }; option (o.file).many = { a: 1, texts: [] };', 'many: [ { a: 1 }, { a: 1 } ]'],
    [
      'option (o.file).counts = { key: "b", value: 0x10 }; option (o.file).counts = { key: "a" value: 1 };',
      'counts: [ { key: "b", value: 16 }, { key: "a", value: 1 } ]',
    ],
    [
      'option (o.file).one.texts = "b"; option (o.file).one.one.a = 1; option (o.file).one.texts = "a";',
      'one: { one: { a: 1 }, texts: [ "b", "a" ] }',
    ],
    [
      'option (o.file).(o.flag) = true; option (o.file).one.(o.marks) = "m";',
      '[o.flag]: true, one: { [o.marks]: "m" }',
    ],
    ['option (o.file) = { [marks]: "a" [o.marks]: "b" };', '[o.marks]: [ "a", "b" ]'],
    ['option (o.file).a = 1; option (o.file).b.a = 2;', 'b: { a: 2 }'],
    ['option (o.file).g.x = 1;', 'G: { x: 1 }'],
  ])('keeps each value of an option: %s', (text, merged) => {
    expect(optionsOf(text)).toBe(`option (o.file) = { ${merged} };`)
    expect(optionsOf(`option (o.file) = { ${merged} };`)).toBe(`option (o.file) = { ${merged} };`)
  })

  it('keeps each statement of a repeated option, and a oneof that has groups only', () => {
    expect(optionsOf('option (o.all) = "b"; option (.o.all) = "a"; option (o.all) = "b";')).toBe(
      'option (o.all) = "b"; option (o.all) = "a"; option (o.all) = "b";',
    )
    const text = 'message M { oneof o { group G = 2 { optional int32 x = 1; } } optional G other = 1; }'
    expect(normal(text)).toContain('group G = 2 {')
  })

  it.each([
    ['0x10', '16'],
    ['-0x7F', '-127'],
    ['017', '15'],
    ['0xFFFFFFFFFFFFFFFF', '18446744073709551615'],
    ['9007199254740993', '9007199254740993'],
    ['1.50', '1.5'],
    ['1e3', '1000'],
    ['-0.0', '-0.0'],
    ['0.0001', '0.0001'],
    ['-inf', '-inf'],
  ])('converts the number %s to %s', (written, decimal) => {
    expect(optionsOf(`option (p) = ${written};`)).toBe(`option (p) = ${decimal};`)
    expect(normal(`message M { optional double d = 1 [default = ${written}]; }`)).toContain(`[default = ${decimal}]`)
  })

  it('does not change a normalized file', () => {
    const once = normal('package p; message M { optional M m = 1; extensions 4 to max; }')
    expect(normal(once)).toBe(once)
  })

  it('throws an error that names an undeclared type', () => {
    expect(() => normal('package p; message M { Gone g = 1; }')).toThrow("the type 'Gone' in p.M is declared neither")
  })
})
