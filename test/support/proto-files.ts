import fc from 'fast-check'
import type {
  Enum,
  Extend,
  Group,
  Label,
  Message,
  OneOf,
  Option,
  OptionValue,
  ProtoField,
  ProtoFile,
  Range,
  Service,
  TypeElement,
} from '../../src/formats/protobuf/proto-file.ts'

/** Random parsed .proto files with all language elements. They are syntactically valid, but names may be unresolved. */
const word = fc.constantFrom('a', 'b', 'option', 'message', 'stream', 'reserved', 'B_2', 'map', 'to', 'extend')
const typeName = fc.constantFrom(
  'int32',
  'string',
  'bytes',
  'M',
  '.p.q.M',
  'M.Inner',
  'map<string, M>',

  'stream',
)
const text = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom(
    '',
    '\udcff',
    'a\udc80\udcc3',
    "'",
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u2028x',
    'é',
    'a b',
    '\x07\v',
    '//',
    '/*',
    '\r\n',
  ),
)
const literal = fc.constantFrom('1', '-1', '1.5e+3', 'true', 'inf', '-inf', 'NAME', '0x10', '.5', 'nan')

const optionValue: fc.Arbitrary<OptionValue> = fc.letrec<{ value: OptionValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text.map((one): OptionValue => ({ kind: 'string', text: one })),
    literal.map((one): OptionValue => ({ kind: 'word', text: one })),
    fc.array(tie('value'), { maxLength: 3 }).map((items): OptionValue => ({ kind: 'list', items })),
    fc
      .array(fc.tuple(fc.oneof(word, fc.constant('[p.q.ext]')), tie('value')), { maxLength: 3 })
      .map((entries): OptionValue => ({ kind: 'map', entries: new Map(entries) })),
  ),
})).value

/** `name.…`; without parentheses, a name has no dots. */
function nested(value: OptionValue, { name, parenthesized }: Pick<Option, 'name' | 'parenthesized'>): OptionValue {
  return { kind: 'option', option: { name: parenthesized ? name : 'deep', parenthesized, value } }
}

const option: fc.Arbitrary<Option> = fc.oneof(
  fc.record({
    name: fc.constantFrom('java_package', 'deprecated', 'packed'),
    parenthesized: fc.constant(false),
    value: optionValue,
  }),
  fc.record({ name: fc.constantFrom('p.q.ext', '.x'), parenthesized: fc.constant(true), value: optionValue }),
  fc.record({
    name: fc.constant('x'),
    parenthesized: fc.constant(true),
    value: fc
      .array(fc.record({ name: fc.constantFrom('deep', 'p.q.ext'), parenthesized: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      })
      .chain((names) => optionValue.map((value) => names.reduce(nested, value))),
  }),
)
const options = fc.array(option, { maxLength: 2 })

const tag = fc.integer({ min: 1, max: 20 })
const range: fc.Arbitrary<string | number | Range> = fc.oneof(
  tag,
  fc.tuple(tag, fc.constantFrom(30, 536_870_911)).map(([from, to]) => ({ from, to })),
)
const reserved = fc.array(fc.array(fc.oneof(range, fc.constantFrom('old', 'older')), { minLength: 1, maxLength: 3 }), {
  maxLength: 2,
})

type Syntax = ProtoFile['syntax']

const field = (label: fc.Arbitrary<Label | undefined>): fc.Arbitrary<ProtoField> =>
  fc
    .record({
      label,
      type: typeName,
      name: word,
      tag,
      options,
      defaultValue: fc.option(fc.oneof(text, literal), { nil: undefined, freq: 4 }),
      jsonName: fc.option(text, { nil: undefined, freq: 4 }),
    })
    .map((one) => (one.type.startsWith('map<') ? { ...one, label: undefined } : one))
const group = (label: fc.Arbitrary<Label | undefined>, one: fc.Arbitrary<ProtoField>): fc.Arbitrary<Group> =>
  fc.record({ label, name: fc.constantFrom('G', 'H'), tag, fields: fc.array(one, { maxLength: 2 }) })

const enumeration: fc.Arbitrary<Enum> = fc.record({
  kind: fc.constant('enum'),
  name: word,
  reserved,
  options,
  constants: fc.array(
    fc.record({ name: fc.constantFrom('A', 'B', 'rpc'), tag: fc.integer({ min: -2, max: 3 }), options }),
    { maxLength: 3 },
  ),
})

function message(syntax: Syntax): fc.Arbitrary<Message> {
  const isProto3 = syntax === 'proto3'
  const label = fc.constantFrom<(Label | undefined)[]>(
    undefined,
    'optional',
    'repeated',
    ...(isProto3 ? [] : (['required'] as const)),
  )
  const none = fc.constant(undefined)
  const groups = (of: fc.Arbitrary<Label | undefined>) =>
    isProto3 ? fc.constant<Group[]>([]) : fc.array(group(of, field(label)), { maxLength: 1 })
  const oneof: fc.Arbitrary<OneOf> = fc.record({
    name: word,
    options,
    fields: fc.array(field(none), { maxLength: 2 }),
    groups: groups(none),
  })
  return fc.letrec<{ message: Message }>((tie) => ({
    message: fc.record(
      {
        kind: fc.constant('message' as const),
        name: word,
        reserved,
        options,
        fields: fc.array(field(label), { maxLength: 3 }),
        oneofs: fc.array(oneof, { maxLength: 2 }),
        groups: groups(label),
        extensions: fc.array(fc.record({ ranges: fc.array(range, { minLength: 1, maxLength: 2 }), options }), {
          maxLength: 1,
        }),
        extends: fc.array(extend(label, groups(label)), { maxLength: 1 }),
        types: fc.oneof(
          { maxDepth: 2 },
          fc.constant<TypeElement[]>([]),
          fc.array(tie('message'), { maxLength: 2 }),
          enumeration.map((one) => [one]),
        ),
      },
      { noNullPrototype: true },
    ),
  })).message
}

function extend(
  label: fc.Arbitrary<Label | undefined>,
  groups: fc.Arbitrary<Group[]> = fc.constant([]),
): fc.Arbitrary<Extend> {
  return fc.record({
    name: fc.constantFrom('M', 'google.protobuf.FieldOptions'),
    fields: fc.array(field(label), { maxLength: 2 }),
    groups,
  })
}

const service: fc.Arbitrary<Service> = fc.record({
  name: word,
  options,
  rpcs: fc.array(
    fc.record({
      name: word,
      requestType: fc.constantFrom('M', 'stream', '.p.q.M'),
      requestStreaming: fc.boolean(),
      responseType: fc.constantFrom('M', 'stream.M'),
      responseStreaming: fc.boolean(),
      options,
    }),
    { maxLength: 2 },
  ),
})

export const protoFile: fc.Arbitrary<ProtoFile> = fc
  .constantFrom<Syntax[]>(undefined, 'proto2', 'proto3')
  .chain((syntax) => {
    const types = fc.tuple(fc.array(message(syntax), { maxLength: 2 }), fc.array(enumeration, { maxLength: 1 }))
    return fc.record({
      syntax: fc.constant(syntax),
      packageName: fc.constantFrom(undefined, 'p', 'p.q'),
      imports: fc.uniqueArray(fc.constantFrom('a.proto', 'b/c.proto'), { maxLength: 2 }),
      publicImports: fc.uniqueArray(fc.constantFrom('d.proto'), { maxLength: 1 }),
      options,
      // The printed text has messages before enums.
      types: types.map(([messages, enums]) => [...messages, ...enums]),
      extends: fc.array(extend(fc.constantFrom(undefined, 'optional', 'repeated')), { maxLength: 1 }),
      services: fc.array(service, { maxLength: 1 }),
    })
  })
