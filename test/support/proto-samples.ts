/** .proto files by path. Together they use all elements of the language. */
export const SAMPLES: Readonly<Record<string, string>> = {
  'proto3.proto': `syntax = "proto3";
    package shop.v1;
    import "google/protobuf/timestamp.proto";
    import "scopes.proto";
    option java_package = "com.shop"; option java_multiple_files = true; option optimize_for = SPEED;
    message Order {
      option deprecated = true;
      double d = 1; float f = 2; int32 i32 = 3; int64 i64 = 4; uint32 u32 = 5; uint64 u64 = 6; sint32 s32 = 7;
      sint64 s64 = 8; fixed32 f32 = 9; fixed64 f64 = 10; sfixed32 sf32 = 11; sfixed64 sf64 = 12; bool b = 13;
      string s = 14; bytes y = 15;
      optional int32 maybe = 16; optional Line maybe_line = 17;
      repeated Line lines = 18; repeated int32 packed = 19; repeated int32 unpacked = 20 [packed = false];
      map<string, Line> by_sku = 21; map<int64, google.protobuf.Timestamp> times = 22; map<bool, State> states = 23;
      oneof payment { string card = 24; bool cash = 25; Line line = 26; }
      oneof other { int32 a_b = 27; }
      .shop.v1.Order.Line absolute = 28; Order.Line relative = 29;
      google.protobuf.Timestamp at = 30 [deprecated = true];
      string under_score_name = 31; string Upper = 32; string x__y = 33; string _lead = 34; string num_1a = 35;
      string named = 36 [json_name = "other"];
      scopes.Outer.Inner foreign = 37;
      reserved 100 to 110, 120, 130 to max; reserved "gone", "lost";
      message Line { string sku = 1; State state = 2; enum State { NONE = 0; } message Deep { Line up = 1; Order top = 2; } }
      enum State { UNKNOWN = 0; OPEN = 1 [deprecated = true]; DONE = -1; reserved 5, 7 to 9, 20 to max; reserved "OLD"; }
    }
    message Empty {}
    enum Alias { option allow_alias = true; ZERO = 0; NULL = 0; HEX = 0x10; OCT = 010; }
    service Shop {
      option deprecated = true;
      rpc Get (Order) returns (Empty);
      rpc Watch (stream Order) returns (stream .shop.v1.Empty) { option deprecated = true; option idempotency_level = IDEMPOTENT; }
    }`,
  'scopes.proto': `syntax = "proto3"; package scopes;
    message Outer {
      message Inner { message Outer { int32 a = 1; } Outer near = 1; scopes.Outer far = 2; Inner self = 3; }
      Inner.Outer deep = 1; map<string, Inner.Outer> all = 2;
    }
    message Inner { Outer.Inner other = 1; }`,
  'proto2.proto': `syntax = "proto2";
    package old;
    import public "scopes.proto";
    message M {
      required int32 r = 1; optional int32 o = 2 [default = -7]; repeated int32 p = 3 [packed = true];
      optional double inf = 4 [default = inf]; optional double minus = 5 [default = -inf]; optional float nan = 6 [default = nan];
      optional double e = 7 [default = 1.5e10]; optional float small = 8 [default = 0.1];
      optional string text = 9 [default = "a\\"b\\n\\x41\\101é"]; optional bytes raw = 10 [default = "\\000\\xff\\\\a'"];
      optional bool yes = 11 [default = true]; optional E en = 12 [default = TWO]; optional uint64 big = 13 [default = 18446744073709551615];
      optional int32 hex = 14 [default = 0x7fFF]; optional int64 least = 15 [default = -9223372036854775808];
      optional string joined = 16 [default = "one " 'two'];
      optional group Box = 17 { optional int32 inside = 1; repeated M twice = 2; }
      oneof choice { string c = 18; int32 d = 19; }
      map<string, int32> counts = 20;
      extensions 100 to 199; extensions 500, 1000 to max;
      optional string piece = 21 [ctype = CORD]; optional string lazy_name = 22 [deprecated = true, json_name = "LN"];
      extend M { optional int32 nested_extension = 100; }
      enum E { ONE = 1; TWO = 2; NEGATIVE = -5; }
    }
    extend M { optional string ext = 101; repeated old.M many = 102; optional scopes.Outer through_public = 103; }
    enum First { NOT_ZERO = 3; }`,
  'nopackage.proto': `message A { optional A a = 1; optional .B b = 2; } message B { repeated A a = 1; }`,
}

/** Invalid proto3 declarations, each with a similar valid one. */
export const VERDICTS: Readonly<Record<string, readonly [wrong: string, right: string]>> = {
  'a tag twice': ['message M { int32 a = 1; int32 b = 1; }', 'message M { int32 a = 1; int32 b = 2; }'],
  'a tag of zero': ['message M { int32 a = 0; }', 'message M { int32 a = 536870911; }'],
  'a tag too large': ['message M { int32 a = 536870912; }', 'message M { int32 a = 18999; }'],
  'a tag of the implementation': ['message M { int32 a = 19000; }', 'message M { int32 a = 20000; }'],
  'a reserved tag': ['message M { reserved 1 to 3; int32 a = 2; }', 'message M { reserved 1 to 3; int32 a = 4; }'],
  'a reserved name': ['message M { reserved "a"; int32 a = 2; }', 'message M { reserved "b"; int32 a = 2; }'],
  'a name twice': ['message M { int32 a = 1; string a = 2; }', 'message M { int32 a = 1; string A = 2; }'],
  'a name in a oneof too': [
    'message M { int32 a = 1; oneof o { string a = 2; } }',
    'message M { oneof o { string a = 2; } }',
  ],
  'a message twice': ['message M {} message M {}', 'message M {} message N {}'],
  'a nested type twice': [
    'message M { message N {} enum N { A = 0; } }',
    'message M { message N {} enum O { A = 0; } }',
  ],
  'a field and a type of one name': [
    'message M { int32 N = 1; message N {} }',
    'message M { int32 n = 1; message N {} }',
  ],
  'an unknown type': ['message M { Gone g = 1; }', 'message M { M g = 1; }'],
  'a type that only an inner one hides': [
    'package a; message B { message a {} a.B x = 1; }',
    'package a; message B { message a {} .a.B x = 1; }',
  ],
  'an enum that does not begin with zero': ['enum E { A = 1; }', 'enum E { A = 0; }'],
  'an enum without constants': ['enum E {}', 'enum E { A = 0; B = 5; }'],
  'an alias that is not allowed': ['enum E { A = 0; B = 0; }', 'enum E { option allow_alias = true; A = 0; B = 0; }'],
  'a constant twice in one scope': [
    'enum E { A = 0; } enum F { A = 0; }',
    'enum E { A = 0; } message M { enum F { A = 0; } }',
  ],
  'a reserved constant': ['enum E { reserved 1; A = 0; B = 1; }', 'enum E { reserved 1; A = 0; B = 2; }'],
  'a required field in proto3': ['message M { required int32 a = 1; }', 'message M { optional int32 a = 1; }'],
  'a default in proto3': ['message M { int32 a = 1 [default = 3]; }', 'message M { int32 a = 1 [deprecated = true]; }'],
  'a group in proto3': ['message M { optional group G = 1 { } }', 'message M { message G {} optional G g = 1; }'],
  'extensions in proto3': ['message M { extensions 5 to 7; }', 'message M { reserved 5 to 7; }'],
  'a map in a oneof': ['message M { oneof o { map<int32, int32> a = 1; } }', 'message M { map<int32, int32> a = 1; }'],
  'a repeated map': ['message M { repeated map<int32, int32> a = 1; }', 'message M { map<int32, bytes> a = 1; }'],
  'a map with floats for keys': ['message M { map<float, int32> a = 1; }', 'message M { map<sint64, int32> a = 1; }'],
  'a map with messages for keys': ['message M { map<M, int32> a = 1; }', 'message M { map<string, M> a = 1; }'],
  'a label in a oneof': ['message M { oneof o { repeated int32 a = 1; } }', 'message M { oneof o { int32 a = 1; } }'],
  'an empty oneof': ['message M { oneof o { } }', 'message M { oneof o { M m = 1; } }'],
  'a range from high to low': ['message M { reserved 5 to 2; }', 'message M { reserved 2 to 5; }'],
  'ranges that overlap': ['message M { reserved 1 to 5, 3; }', 'message M { reserved 1 to 5, 6; }'],
  'packed strings': [
    'message M { repeated string a = 1 [packed = true]; }',
    'message M { repeated bool a = 1 [packed = true]; }',
  ],
  'names that are one in JSON': [
    'message M { int32 a_b = 1; int32 aB = 2; }',
    'message M { int32 a_b = 1; int32 aC = 2; }',
  ],
  'a method twice': [
    'message M {} service S { rpc A (M) returns (M); rpc A (M) returns (M); }',
    'message M {} service S { rpc A (M) returns (M); rpc B (M) returns (M); }',
  ],
  'a method of scalars': [
    'message M {} service S { rpc A (int32) returns (M); }',
    'message M {} service S { rpc A (stream M) returns (M); }',
  ],
  'an enum in a method': [
    'message M {} enum E { A = 0; } service S { rpc A (E) returns (M); }',
    'message M {} service S { rpc A (M) returns (stream M); }',
  ],
  'no semicolon': ['message M { int32 a = 1 }', 'message M { int32 a = 1; };'],
  'two packages': ['package a; package b;', 'package a.b;'],
  'a missing import': ['import "gone.proto";', 'import "google/protobuf/any.proto";'],
  'an import twice': [
    'import "google/protobuf/any.proto"; import "google/protobuf/any.proto";',
    'import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";',
  ],
  'a type of an import of an import': [
    'import "google/protobuf/type.proto"; message M { google.protobuf.Any a = 1; }',
    'import "google/protobuf/any.proto"; message M { google.protobuf.Any a = 1; }',
  ],
  'an unknown option': ['option nothing = 1;', 'option java_package = "x";'],
  'an option of another type': ['option java_package = 1;', 'option java_multiple_files = false;'],
  'an unknown escape': ['option java_package = "\\q";', 'option java_package = "\\t";'],
  'a string that does not end': ['option java_package = "x', 'option java_package = "x";'],
}

/**
 * Declarations that Weir accepts although protoc rejects them, for compatibility with Confluent's registry: its parser
 * (Wire) checks the syntax and resolves types, and leaves other checks to the compilers of the schema's users.
 */
export const TAKEN_ALL_THE_SAME: readonly string[] = [
  'a field and a type of one name',
  'a type that only an inner one hides',
  'a constant twice in one scope',
  'a reserved constant',
  'a default in proto3',
  'extensions in proto3',
  'a map in a oneof',
  'a map with floats for keys',
  'a map with messages for keys',
  'an empty oneof',
  'a range from high to low',
  'ranges that overlap',
  'packed strings',
  'names that are one in JSON',
  'a method twice',
  'an enum in a method',
  'an import twice',
  'a type of an import of an import',
  'an unknown option',
  'an option of another type',
  'an unknown escape',
]
