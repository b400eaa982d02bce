import fc from 'fast-check'

/** The messages and elements with options. `All` has a field of each kind. */
const TARGETS = [
  'File',
  'Message',
  'Field',
  'Oneof',
  'Enum',
  'EnumValue',
  'ExtensionRange',
  'Service',
  'Method',
] as const
export type OptionTarget = (typeof TARGETS)[number]

const SCALARS = {
  double: ['1.5', '-2.25', '1e3', 'inf', '-inf', 'nan', '-0.0', '0.1', '1e-7', '3'],
  float: ['1.5', '-2.25', '0.1', 'inf', '16777216', '1e-3'],
  int32: ['1', '-1', '0x10', '017', '-2147483648', '-0x7f'],
  int64: ['9007199254740993', '-9223372036854775808', '0x7FFFFFFFFFFFFFFF', '5'],
  uint32: ['0', '4294967295', '0xff'],
  uint64: ['18446744073709551615', '0xFFFFFFFFFFFFFFFF', '7'],
  sint32: ['-7', '2147483647'],
  sint64: ['-9223372036854775808', '1'],
  fixed32: ['4294967295', '0'],
  fixed64: ['18446744073709551615', '1'],
  sfixed32: ['-2147483648', '1'],
  sfixed64: ['-9223372036854775808', '0x10'],
  bool: ['true', 'false'],
  string: ['"a"', '"a" \'b\'', '"é\\u00e9\\U0001F600"', '"\\303\\251"', '"\\n\\t\\\\\\""', '""', '"# { } ; //"'],
  bytes: ['"\\000\\xff\\377a"', '"\\xc3" "\\xa9"', '"\\xf0\\x28\\x8c"', '"é"', '""', '"\\x41\\0101"'],
} as const
const ENUM = ['NONE', 'ONE', 'NEGATIVE']

/** `options.proto`: extensions of all options messages, which can be set to any value. */
export const OPTIONS_FILE = `syntax = "proto2";
package opts;
import "google/protobuf/any.proto";
import "google/protobuf/descriptor.proto";
enum Kind { NONE = 0; ONE = 1; NEGATIVE = -1; }
message All {
  ${Object.keys(SCALARS)
    .map((type, at) => `optional ${type} a_${type} = ${at + 1}; repeated ${type} many_${type} = ${at + 21};`)
    .join('\n  ')}
  optional Kind kind = 50; repeated Kind kinds = 51 [packed = true];
  optional All all = 52; repeated All alls = 53;
  map<string, int32> counts = 54; map<int32, All> by_number = 55;
  oneof choice { string text = 56; All nested = 57; }
  optional group Box = 58 { optional int32 size = 1; repeated string labels = 2; }
  repeated group Item = 59 { optional int32 size = 1; }
  optional google.protobuf.Any any = 60;
  extensions 100 to max [
    verification = DECLARATION,
    declaration = { number: 100, full_name: ".opts.note", type: "string" },
    declaration = { number: 101, full_name: ".opts.All.more", type: ".opts.All", repeated: true },
    declaration = { number: 102, reserved: true }
  ];
  extend All { repeated All more = 101; }
}
extend All { optional string note = 100; }
${TARGETS.map(
  (target, at) => `extend google.protobuf.${target}Options {
  optional All ${target.toLowerCase()}_all = ${50_000 + at}; repeated All ${target.toLowerCase()}_alls = ${51_000 + at};
  repeated string ${target.toLowerCase()}_texts = ${52_000 + at}; optional Kind ${target.toLowerCase()}_kind = ${53_000 + at};
  optional group ${target}Group = ${54_000 + at} { optional All all = 1; }
}`,
).join('\n')}
`

/** A value of `All`, by key. A list is a repeated field. */
type Value = string | readonly Value[] | { readonly [key: string]: Value }
type Entries = { readonly [key: string]: Value }

type Member = readonly [key: string, value: fc.Arbitrary<Value>]

const scalars = Object.entries(SCALARS).flatMap(([type, texts]): readonly Member[] => {
  const text: fc.Arbitrary<Value> = fc.constantFrom(...texts)
  return [
    [`a_${type}`, text],
    [`many_${type}`, fc.array(text, { minLength: 1, maxLength: 3 })],
  ]
})

const NOTES = ['[opts.note]', '[note]']

function entries(depth: number): fc.Arbitrary<Entries> {
  const text = fc.constantFrom(...SCALARS.string)
  const number = fc.constantFrom(...SCALARS.int32)
  const kind = fc.constantFrom(...ENUM)
  const leaves: readonly Member[] = [
    ...scalars,
    ['kind', kind],
    ['kinds', fc.array(kind, { minLength: 1, maxLength: 3 })],
    ['counts', fc.array(fc.record({ key: text, value: number }), { minLength: 1, maxLength: 2 })],
    ['text', text],
    ['Box', fc.record({ size: number, labels: fc.array(text, { minLength: 1, maxLength: 2 }) })],
    ['Item', fc.array(fc.record({ size: number }), { minLength: 1, maxLength: 2 })],
    ['[note]', text],
  ]
  const inner: readonly Member[] =
    depth === 0
      ? []
      : [
          ['all', entries(depth - 1)],
          ['nested', entries(depth - 1)],
          ['alls', fc.array(entries(depth - 1), { minLength: 1, maxLength: 2 })],
          ['[more]', fc.array(entries(depth - 1), { minLength: 1, maxLength: 2 })],
          [
            'by_number',
            fc.array(fc.record({ key: number, value: entries(depth - 1) }), { minLength: 1, maxLength: 2 }),
          ],
          ['any', entries(depth - 1).map((value): Value => ({ '[type.googleapis.com/opts.All]': value }))],
        ]
  const members = fc.subarray([...leaves, ...inner], { minLength: 1, maxLength: 5 })
  return members.chain((chosen) => {
    // One member of the oneof only: the text format rejects two.
    const kept = chosen.filter(([key]) => key !== 'text' || !chosen.some(([other]) => other === 'nested'))
    return fc.record(Object.fromEntries(kept)) as fc.Arbitrary<Entries>
  })
}

/** Chooses one of several notations. */
type Choose = (count: number) => number

const chooser: fc.Arbitrary<Choose> = fc.infiniteStream(fc.nat(999)).map((stream) => {
  return (count) => (stream.next().value ?? 0) % count
})

/** Prints a value in the text format. Only inside of another one can it have angle brackets. */
function printValue(value: Value, choose: Choose, isInside = true): string {
  if (typeof value === 'string') return value
  if (!isEntries(value)) return `[${value.map((item) => printValue(item, choose)).join(', ')}]`
  const separator = [' ', ', ', '; '][choose(3)]
  const [open, close] = isInside && choose(4) === 0 ? '<>' : '{}'
  const printed = Object.entries(value).flatMap(([key, inner]): string[] => {
    const name = writtenKey(key, choose)
    const colon = typeof inner === 'string' || choose(2) === 0 ? ': ' : ' '
    if (isList(inner) && choose(2) === 0) return inner.map((item) => `${name}: ${printValue(item, choose)}`)
    return [`${name}${isList(inner) ? ': ' : colon}${printValue(inner, choose)}`]
  })
  return `${open} ${printed.join(separator)} ${close}`
}

/** In the value of a message of the package `opts`, names of extensions are resolved in that. */
function writtenKey(key: string, choose: Choose): string {
  if (key === '[note]') return NOTES[choose(NOTES.length)] ?? key
  return key === '[more]' ? (['[opts.All.more]', '[All.more]'][choose(2)] ?? key) : key
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function isEntries(value: Value): value is Entries {
  return typeof value === 'object' && !isList(value)
}

/** Statements `(opts.x_all).… = …` that together set the value: one in braces, then paths. */
function statements(name: string, value: Entries, choose: Choose): readonly string[] {
  if (choose(3) === 0) return [`${name} = ${printValue(value, choose, false)}`]
  return Object.entries(value).flatMap(([key, inner]): readonly string[] => {
    // The name of an option is resolved where it is written, and has the field of a group instead of its type.
    const part = key.startsWith('[') ? `(opts.${key === '[more]' ? 'All.more' : 'note'})` : key.toLowerCase()
    const path = `${name}.${part}`
    if (isList(inner)) return inner.map((item) => `${path} = ${printValue(item, choose, false)}`)
    if (typeof inner === 'string' || key === 'any' || choose(2) === 0)
      return [`${path} = ${printValue(inner, choose, false)}`]
    return statements(path, inner, choose)
  })
}

const optionsOf = (target: OptionTarget) => {
  const lower = target.toLowerCase()
  return fc
    .record({
      all: entries(2),
      alls: fc.array(entries(1), { maxLength: 2 }),
      texts: fc.array(fc.constantFrom(...SCALARS.string), { maxLength: 2 }),
      kind: fc.constantFrom(...ENUM),
      group: entries(1),
      choose: chooser,
      order: fc.nat(4),
    })
    .map(({ all, alls, texts, kind, group, choose, order }): readonly string[] => {
      const each = [
        statements(`(opts.${lower}_all)`, all, choose),
        alls.map((value) => `(opts.${lower}_alls) = ${printValue(value, choose, false)}`),
        texts.map((text) => `(.opts.${lower}_texts) = ${text}`),
        [`(opts.${lower}_kind) = ${kind}`],
        statements(`(opts.${lower}group).all`, group, choose),
      ]
      return [...each.slice(order), ...each.slice(0, order)].flat()
    })
}

/** A random file with custom options on each kind of element. */
export const fileWithOptions: fc.Arbitrary<string> = fc
  .record({
    File: optionsOf('File'),
    Message: optionsOf('Message'),
    Field: optionsOf('Field'),
    Oneof: optionsOf('Oneof'),
    Enum: optionsOf('Enum'),
    EnumValue: optionsOf('EnumValue'),
    ExtensionRange: optionsOf('ExtensionRange'),
    Service: optionsOf('Service'),
    Method: optionsOf('Method'),
  })
  .map((options) => {
    const inBlock = (target: OptionTarget) => options[target].map((option) => `option ${option};`).join('\n')
    const inBrackets = (target: OptionTarget) => `[${options[target].join(', ')}]`
    return `syntax = "proto2";
package user;
import "options.proto";
${inBlock('File')}
message M {
  ${inBlock('Message')}
  optional int32 a = 1 ${inBrackets('Field')};
  oneof o { ${inBlock('Oneof')} string b = 2; }
  extensions 10 to 20 ${inBrackets('ExtensionRange')};
}
enum E { ${inBlock('Enum')} ZERO = 0 ${inBrackets('EnumValue')}; }
service S { ${inBlock('Service')} rpc Get (M) returns (M) { ${inBlock('Method')} } }
`
  })

/** Files with built-in options that are messages or lists, and with what only these options can have. */
export const BUILT_IN_OPTIONS: Readonly<Record<string, string>> = {
  'features.proto': `syntax = "proto2";
    package features;
    import "google/protobuf/descriptor.proto";
    message MyFeatures {
      enum Way { WAY_UNKNOWN = 0; ROUND = 1; SQUARE = 2; }
      optional Way way = 1 [
        retention = RETENTION_RUNTIME, targets = TARGET_TYPE_FILE, targets = TARGET_TYPE_FIELD,
        feature_support = { edition_introduced: EDITION_2023, edition_deprecated: EDITION_2024, deprecation_warning: "old" },
        edition_defaults = { edition: EDITION_LEGACY, value: "ROUND" },
        edition_defaults = { edition: EDITION_2024, value: "SQUARE" }
      ];
    }
    extend google.protobuf.FeatureSet { optional MyFeatures mine = 9990; }`,
  'declared.proto': `syntax = "proto2";
    package declared;
    message M {
      extensions 4 to 1000 [
        declaration = { number: 4, full_name: ".declared.a", type: "int32" },
        declaration = { number: 5, reserved: true }, verification = DECLARATION
      ];
      extensions 2000, 3000 to max [verification = UNVERIFIED];
    }
    extend M { optional int32 a = 4; }`,
  'groups.proto': `syntax = "proto2";
    package groups;
    message M {
      oneof o { group InOneof = 1 { optional int32 a = 1; map<string, M> b = 2; } }
      optional InOneof other = 2;
      repeated group Many = 3 { required bytes raw = 1 [default = "\\xff\\000a"]; optional string text = 2 [default = ""]; }
      extensions 100 to 200;
    }
    extend M { repeated group Added = 100 { optional M.Many many = 1; } }`,
}
