import { describe, expect, it } from 'vitest'
import { parseProto } from '../../../src/formats/protobuf/parser.ts'
import { printProto } from '../../../src/formats/protobuf/printer.ts'

const print = (text: string) => printProto(parseProto(text))

// A blank line inside a nested element is indented, as the original prints it.
describe('parsing and printing a .proto file', () => {
  it('preserves all statements, without comments and whitespace', () => {
    const text = `// a file
      syntax = 'proto3';  /* block */ package a.b ;
      import public "c.proto"; import "b.proto";
      import weak "w.proto";
      option java_package = "x" "y\\n"; option (my.opt).inner.deep = 12;
      enum E { option allow_alias = true; A = 0; B = 0x10 [deprecated=true, (e) = -1.5e+3]; reserved 5, 7 to max, "C"; }
      message M {
        int32 a = 1 [json_name = "AA", packed = true];
        map < string , .a.b.M > m = 2;
        oneof choice { option (o) = X; string s = 3; M child = 4; }
        reserved 10 to 12, "old"; repeated M.Inner message = 5;
        message Inner { enum Deep { Z = 0; } optional bool option = 1; }
        enum In { I = 0; }
        option (msg) = { name: "n" list: [1, 2] nested { x: true; y: Y } , rep: 1 rep: 2 };
      }
      service S { rpc Get (M) returns (stream M) { option deprecated = true; } rpc Put(stream M) returns (M); };`
    expect(print(text)).toBe(`syntax = "proto3";
package a.b;

import "b.proto";
import "w.proto";
import public "c.proto";

option java_package = "xy\\n";
option (my.opt).inner.deep = 12;

message M {
  reserved 10 to 12, "old";

  option (msg) = {
    name: "n",
    list: [
      1,
      2
    ],
    nested: {
      x: true,
      y: Y
    },
    rep: [
      1,
      2
    ]
  };

  int32 a = 1 [
    packed = true,
    json_name = "AA"
  ];
  map<string, .a.b.M> m = 2;
  repeated M.Inner message = 5;

  oneof choice {
    option (o) = X;
${'  '}
    string s = 3;
    M child = 4;
  }

  message Inner {
    optional bool option = 1;
${'  '}
    enum Deep {
      Z = 0;
    }
  }
  enum In {
    I = 0;
  }
}
enum E {
  reserved 5, 7 to max, "C";
  option allow_alias = true;
  A = 0;
  B = 16 [
    deprecated = true,
    (e) = -1.5e+3
  ];
}

service S {
  rpc Get (M) returns (stream M) {
    option deprecated = true;
  };
  rpc Put (stream M) returns (M);
}
`)
  })

  it('preserves labels, defaults, groups and extensions of proto2', () => {
    const text = `syntax = "proto2";

message M {
  required string s = 1 [default = "d"];
  optional E e = 2 [default = ONE];

  optional group G = 3 {
    required int32 x = 1;
  }

  extensions 100 to 199 [declaration = {
    number: 4
  }];

  extend Other {
    optional int32 y = 100;
  }
}

extend google.protobuf.FieldOptions {
  optional bool secret = 50000;

  repeated group Marks = 50001 {
    optional int32 z = 1;
  }
}
`
    expect(print(text)).toBe(text)
  })

  it('does not change its own output', () => {
    const once = print('message A { oneof o { A b = 1; } } message B {} enum C { X = -1; }')
    expect(print(once)).toBe(once)
    expect(once).toBe(
      '\nmessage A {\n\n  oneof o {\n    A b = 1;\n  }\n}\nmessage B {}\nenum C {\n  X = -1;\n}\n'.replace(
        '{\n\n',
        '{\n',
      ),
    )
  })

  it.each([
    'A.B\n.C c = 1;',
    'A // x\n .B/* y */.C c = 1;',
    'repeated A\t.B\r\n.C c = 1;',
    'A . B . C c = 1;',
    '.p\n.A .B.C c = 1;',
    'map < string , A\n.B .C > c = 1;',
    'oneof o { A\n.B.C c = 1; }',
  ])('accepts the name of a type with a break before a dot: %s', (field) => {
    const text = print(`syntax = "proto3"; package p; message M { ${field} }`)
    expect(text).toMatch(/(^| |\.)A\.B\.C[ >]/m)
    expect(print(text)).toBe(text)
  })

  it('accepts the types of a method with breaks before dots', () => {
    const text = print('service S { rpc Get (stream\n.p\n.A) returns (A .B); rpc Put (stream) returns (stream .A); }')
    expect(text).toContain('rpc Get (stream .p.A) returns (A.B);')
    expect(text).toContain('rpc Put (stream) returns (stream .A);')
  })

  // As Confluent's registry does (Wire 6.4.5). Compilers accept them.
  it.each([
    'message M { A. B c = 1; }',
    'message M { A.\nB c = 1; }',
    'package p\n.q;',
    'package p.\nq;',
    'extend A\n.B { optional int32 x = 1; }',
    'option (p\n.o) = 1;',
    'option features\n.x = 1;',
  ])('rejects a break after a dot, and in other names: %j', (text) => {
    expect(() => parseProto(text)).toThrow('expected')
  })

  it('reads extensions within the name of an option, with blanks around the dots', () => {
    const field =
      'int32 a = 1 [(x.field).string.(x.datetime) = true, (a) . b\n.c.( d.e ) = 2, features.(pb.cpp).string_type = VIEW];'
    expect(print(`message M { ${field} }`)).toContain(`int32 a = 1 [
    (x.field).string.(x.datetime) = true,
    (a).b.c.(d.e) = 2,
    features.(pb.cpp).string_type = VIEW
  ];`)
  })

  it('keeps the bytes of a string, and prints those that are no UTF-8 with escapes', () => {
    const value = (literal: string) => /= (".*");/.exec(print(`option (o) = ${literal};`))?.[1]
    expect([value('"\\xff\\0a"'), value('"\\303" "\\251\\u00e9\\U0001F600"'), value("'\\xf0\\x28'")]).toEqual([
      '"\\377\\000a"',
      '"éé😀"',
      '"\\360("',
    ])
    expect(print('message M { optional bytes b = 1 [default = "abc"]; }')).toContain('[default = "abc"]')
  })

  it.each([
    ['syntax = "proto4";', "1:10: expected the syntax 'proto2' or 'proto3', found 'proto4'"],
    ['message M {\n  int32 a 1;\n}', "2:11: expected '=', found '1'"],
    ['message M {', "1:12: expected '}', found the end of the file"],
    ['syntax = "proto3"; message M { required int32 a = 1; }', 'proto3 does not support required fields'],
    ['message M { oneof o { repeated int32 a = 1; } }', 'a member of a oneof cannot have a label'],
    ['message M { repeated map<int32, int32> a = 1; }', 'a map cannot have a label'],
    ['message M { int32 a = 99999999999; }', 'expected a field number'],
    ['enum E { A = 2147483648; }', '1:14: expected a number'],
    ['message M { optional group G = 1 { optional group H = 2 {} } }', '1:36: a group cannot contain a group'],
    ['edition = "2023";', '1:1: editions are not supported'],
    ['option (a)..b = 1;', '1:11: expected an option name'],
    ['option (a).b.(c = 1;', "expected ')'"],
    ['option (a).b. = 1;', 'expected an option name'],
    ['option features. b = 1;', 'expected an option name'],
    ['import "a', 'a string is not closed on its line'],
    ['hello', 'expected syntax, package, import'],
    ['message M {'.repeat(200), 'nested deeper than 100'],
    [`package ${'a.'.repeat(100)}a;`, '1:9: more than 100 parts'],
    [`option a = ${'{b:'.repeat(200)}`, 'nested deeper than 50'],
  ])('reports the location and the expected token of a syntax error: case %#', (text, message) => {
    expect(() => parseProto(text)).toThrow(message)
  })
})
