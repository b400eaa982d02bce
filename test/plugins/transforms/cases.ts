import {
  ALL_PLAIN,
  ALL_TYPES,
  type Case,
  NESTED,
  NOTHING,
  PERSON,
  PLAIN_PERSON,
  plain,
  SCALARS,
  sink,
  source,
  TYPES,
  typed,
} from './case-data.ts'
import { randomCases } from './random-cases.ts'
import { timeCases } from './time-cases.ts'

function* castCases(): Generator<Case> {
  for (const type of TYPES) {
    const spec = SCALARS.map((name) => `${name}:${type}`).join(',')
    yield { class: 'Cast$Value', config: { spec }, record: sink(ALL_TYPES) }
    for (const name of ['bytes', 'list', 'inner']) {
      yield { class: 'Cast$Value', config: { spec: `${name}:${type}` }, record: sink(ALL_TYPES) }
    }
    yield {
      class: 'Cast$Value',
      config: { spec: `int:${type},double: ${type},bool:${type},text:${type}` },
      record: sink(ALL_PLAIN),
    }
    yield { class: 'Cast$Value', config: { spec: `nowhere:${type}` }, record: sink(ALL_PLAIN) }
    yield { class: 'Cast$Key', config: { spec: type }, record: sink(null, { key: typed('string', '-129') }) }
    yield { class: 'Cast$Key', config: { spec: type }, record: sink(null, { key: plain(300) }) }
    yield { class: 'Cast$Key', config: { spec: type }, record: sink(null, { key: plain({}) }) }
    yield { class: 'Cast$Value', config: { spec: type }, record: sink(typed('double', 1e20)) }
    yield { class: 'Cast$Value', config: { spec: type }, record: sink(typed('int64', 4_294_967_299)) }
    yield { class: 'Cast$Value', config: { spec: type }, record: sink(typed('string', ' 1e2 ')) }
    yield { class: 'Cast$Value', config: { spec: type }, record: sink(typed('string', 'TRUE')) }
    yield { class: 'Cast$Value', config: { spec: type }, record: sink(typed({ type: 'int32', default: 9 }, 8)) }
  }
  for (const spec of ['', 'a:b:c', 'a:int33', 'bytes', 'a:bytes', 'int8,a:int8', 'a:', ' a : INT8 ']) {
    yield { class: 'Cast$Value', config: { spec }, record: sink(plain({ a: 5 })) }
  }
  yield {
    class: 'Cast$Value',
    config: { spec: 'defaulted:int64', 'replace.null.with.default': 'false' },
    record: sink(ALL_TYPES),
  }
  yield { class: 'Cast$Value', config: { spec: 'a:int8' }, record: sink(NOTHING) }
  yield { class: 'Cast$Value', config: { spec: 'a:int8' }, record: sink(typed('string', 'x')) }
  yield { class: 'Cast$Value', config: { spec: 'a:int8' }, record: sink(plain('x')) }
}

/** Configurations beside the data they are tried on. */
const TABLE: readonly (readonly [
  names: string,
  configs: readonly Record<string, string>[],
  values: readonly (object | null)[],
])[] = [
  [
    'ExtractField$Value',
    [
      { field: 'name' },
      { field: 'name', 'replace.null.with.default': 'false' },
      { field: 'nowhere' },
      { field: 'at.city' },
      { field: 'at.city', 'field.syntax.version': 'v2' },
      { field: 'at.city', 'field.syntax.version': 'V2', 'replace.null.with.default': 'false' },
      { field: '`dot.ted`', 'field.syntax.version': 'V2' },
      { field: 'deep.more.leaf', 'field.syntax.version': 'V2' },
      { field: 'id.x', 'field.syntax.version': 'V2' },
      { field: '`a', 'field.syntax.version': 'V2' },
      { field: 'id', 'field.syntax.version': 'V3' },
    ],
    [PERSON, PLAIN_PERSON, NESTED, NOTHING, null, plain('x'), typed('int32', 1)],
  ],
  [
    'Flatten$Value',
    [{}, { delimiter: '_' }, { delimiter: ' ' }],
    [NESTED, ALL_PLAIN, PERSON, ALL_TYPES, NOTHING, null, plain(5), typed('int32', 1)],
  ],
  ['HoistField$Value', [{ field: 'all' }], [PERSON, PLAIN_PERSON, typed('int32', 1), NOTHING, null, plain([1])]],
  [
    'HeaderFrom$Value',
    [
      { fields: 'id,name', headers: 'h1,h2', operation: 'move' },
      { fields: 'id,name', headers: 'h1,h2', operation: 'copy', 'replace.null.with.default': 'false' },
      { fields: 'id', headers: 'h1,h2', operation: 'copy' },
      { fields: 'id', headers: 'h1', operation: 'MOVE' },
      { fields: '', headers: 'h1', operation: 'move' },
    ],
    [PERSON, PLAIN_PERSON, null, plain('x')],
  ],
  [
    'InsertField$Value',
    [
      { 'topic.field': 't!', 'partition.field': 'p', 'offset.field': 'o?', 'timestamp.field': 'at' },
      { 'static.field': 's', 'static.value': ' fixed ' },
      { 'static.field': 's!', 'static.value': 'x', 'replace.null.with.default': 'false' },
      { 'topic.field': 'id' },
      { 'timestamp.field': 'ts!', 'partition.field': 'part!' },
      {},
    ],
    [PERSON, PLAIN_PERSON, NOTHING, null, plain('x'), typed('string', 'x')],
  ],
  [
    'MaskField$Value',
    [
      { fields: 'i8,i16,i32,i64,f32,f64,bool,text,list,map,day,time,at,missing,defaulted' },
      { fields: 'int,double,bool,text,list,map,missing,nowhere' },
      { fields: 'i8,i16,i32,i64,f32,f64,text,defaulted', replacement: '5' },
      { fields: 'int,double,text', replacement: '7' },
      { fields: 'text', replacement: '***' },
      { fields: 'bool', replacement: '1' },
      { fields: 'at', replacement: '1' },
      { fields: 'bytes' },
      { fields: 'inner' },
      { fields: 'defaulted', 'replace.null.with.default': 'false' },
      { fields: 'text,text' },
      { fields: '' },
      { fields: 'text', replacement: '' },
    ],
    [ALL_TYPES, ALL_PLAIN, null],
  ],
  [
    'ReplaceField$Value',
    [
      { exclude: 'id' },
      { include: 'id,name', exclude: 'name' },
      { renames: 'id:key,name:title' },
      { renames: 'id:name,name:id' },
      { include: 'name', 'replace.null.with.default': 'false' },
      { renames: 'id' },
      { exclude: 'id,id' },
      {},
    ],
    [PERSON, PLAIN_PERSON, NOTHING, null, typed('string', 'x'), plain('x')],
  ],
  [
    'SetSchemaMetadata$Value',
    [
      { 'schema.name': 'New' },
      { 'schema.version': '9' },
      { 'schema.name': 'N', 'schema.version': '1', 'replace.null.with.default': 'false' },
      { 'schema.version': 'x' },
      {},
    ],
    [
      PERSON,
      PLAIN_PERSON,
      NOTHING,
      null,
      typed('string', 'x'),
      typed({ type: 'array', items: { type: 'int32' } }, [1]),
    ],
  ],
  [
    'ValueToKey',
    [
      { fields: 'id,name' },
      { fields: 'name', 'replace.null.with.default': 'false' },
      { fields: 'nowhere' },
      { fields: '' },
    ],
    [PERSON, PLAIN_PERSON, NOTHING, null, typed('string', 'x')],
  ],
  [
    'RegexRouter',
    [
      { regex: '(.*)ers', replacement: '$1er' },
      { regex: 'or', replacement: 'x' },
      { regex: 'o|orders', replacement: 'x' },
      { regex: '(?i)ORD(?<rest>.*)', replacement: '${rest}\\$$1' },
      { regex: 'o(\\p{Alpha}+)', replacement: 'a.$11' },
      { regex: '\\Qorders\\E', replacement: '$0-b' },
      { regex: 'ord[\\w\\-\\_]+', replacement: 'n' },
      { regex: 'orders', replacement: '$1' },
    ],
    [null],
  ],
  [
    'TimestampRouter',
    [
      {},
      { 'topic.format': '${timestamp}_${topic}$1', 'timestamp.format': "yy-MMM-d'T'HH.mm.ss.SSS" },
      { 'timestamp.format': 'YYYY ww D EEEE u a hh kk KK F W z Z X G yyyyy L' },
    ],
    [null],
  ],
  [
    'InsertHeader',
    [
      { header: 'h', 'value.literal': '12' },
      { header: 'h', 'value.literal': 'text' },
      { header: 'h', 'value.literal': '[1,2]' },
    ],
    [null],
  ],
  ['DropHeaders', [{ headers: 'a' }, { headers: 'a,b' }, { headers: '' }], [null]],
  ['Filter', [{}], [null]],
  ['predicates.HasHeaderKey', [{ name: 'a' }, { name: 'c' }, { name: '' }], [null]],
  ['predicates.RecordIsTombstone', [{}], [null, PERSON, NOTHING, typed('string', '')]],
  ['predicates.TopicNameMatches', [{ pattern: 'ord.*' }, { pattern: 'ord' }, { pattern: '.+s$' }], [null]],
]

function* tableCases(): Generator<Case> {
  const headers = [
    { key: 'a', value: typed('int32', 1) },
    { key: 'b', value: null },
    { key: 'a', value: plain('x') },
  ]
  for (const [name, configs, values] of TABLE) {
    for (const config of configs) {
      for (const value of values) {
        yield { class: name, config, record: sink(value, { headers }) }
        if (name.startsWith('Insert') || name.startsWith('Timestamp'))
          yield { class: name, config, record: source(value) }
      }
    }
  }
}

/**
 * What the transforms are held to; transforms.golden.json is what Java's classes made of it. A side is an envelope of the
 * JSON converter, `{plain}` without a schema, or null.
 */
export function allCases(): readonly Case[] {
  return [...castCases(), ...tableCases(), ...timeCases(), ...randomCases()]
}
