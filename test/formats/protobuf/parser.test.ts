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
    ['syntax = "proto4";', "1:10: expected the syntax 'proto2' or 'proto3', found 'proto4'"],
    ['message M {\n  int32 a 1;\n}', "2:11: expected '=', found '1'"],
    ['message M {', "1:12: expected '}', found the end of the file"],
    ['syntax = "proto3"; message M { required int32 a = 1; }', 'proto3 does not support required fields'],
    ['message M { oneof o { repeated int32 a = 1; } }', 'a member of a oneof cannot have a label'],
    ['message M { repeated map<int32, int32> a = 1; }', 'a map cannot have a label'],
    ['message M { int32 a = 99999999999; }', 'expected a field number'],
    ['enum E { A = 2147483648; }', '1:14: expected a number'],
    ['message M { optional group G = 1 { optional group H = 2 {} } }', '1:36: a group cannot contain a group'],
    ['extend M { optional group G = 1 {} }', '1:12: the fields of an extension cannot contain a group'],
    ['import "a', 'a string is not closed on its line'],
    ['hello', 'expected syntax, package, import'],
    ['message M {'.repeat(200), 'nested deeper than 100'],
    [`package ${'a.'.repeat(100)}a;`, '1:9: more than 100 parts'],
    [`option a = ${'{b:'.repeat(200)}`, 'nested deeper than 50'],
  ])('reports the location and the expected token of a syntax error: case %#', (text, message) => {
    expect(() => parseProto(text)).toThrow(message)
  })
})
