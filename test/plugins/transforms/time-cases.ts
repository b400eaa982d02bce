import { AT, type Case, DAY, NOTHING, plain, sink, struct, TIME, TIMESTAMP, typed } from './case-data.ts'

const PATTERNS = [
  'yyyy-MM-dd',
  "yyyy-MM-dd'T'HH:mm:ss.SSSX",
  'EEE, d MMM yyyy HH:mm:ss Z',
  'yyyyMMddHHmmss',
  'M/d/yy h:mm a',
  'D yyyy',
  "''y",
  '',
  'b',
  "'open",
]
const TEXTS = [
  '2021-03-04',
  '2021-03-04T05:06:07.089Z',
  '2021-03-04T05:06:07.5+0130',
  'Thu, 4 Mar 2021 05:06:07 +0100',
  '20210304050607',
  '3/4/21 5:06 PM',
  '63 2021',
  '25',
  '2021-13-40 tail',
  "'12",
  '',
  'x',
]

const MOMENTS = [0, AT, -1, 86_399_999, -86_400_001, 951_782_400_000, 1_609_372_800_000]
const AS_TIMESTAMP = { type: 'int64', name: TIMESTAMP, version: 1 }
const FORMS = MOMENTS.flatMap((ms) => [typed(AS_TIMESTAMP, ms), typed('int64', ms, { optional: true }), plain(ms)])
const OTHERS = [
  typed({ type: 'int32', name: DAY, version: 1 }, 18_690),
  typed({ type: 'int32', name: TIME, version: 1 }, 18_367_089),
  typed('int32', 1),
  plain(1.5),
  plain(true),
  null,
]
const PRECISE = [typed('int64', 1_614_834_367), typed('int64', -1_999), typed(AS_TIMESTAMP, -1_999)]
const WITH_FIELDS = [
  struct(
    { at: { type: 'int64', optional: true, default: 86_400_000 }, b: { type: 'string' } },
    { at: null, b: 'x' },
    { optional: true },
  ),
  plain({ at: AT, b: 'x' }),
  plain({ b: 'x' }),
  NOTHING,
  plain('x'),
]

/** Of TimestampConverter. */
export function* timeCases(): Generator<Case> {
  for (const target of ['string', 'unix', 'Date', 'Time', 'Timestamp', 'date']) {
    yield* targetCases({ 'target.type': target, format: PATTERNS[1] ?? '' })
  }
  for (const format of PATTERNS) {
    for (const text of TEXTS) yield converted({ 'target.type': 'unix', format }, typed('string', text))
    for (const ms of MOMENTS) yield converted({ 'target.type': 'string', format }, typed('int64', ms))
  }
}

function* targetCases(config: Readonly<Record<string, string>>): Generator<Case> {
  for (const value of [...FORMS, ...OTHERS]) yield converted(config, value)
  for (const precision of ['seconds', 'microseconds', 'nanoseconds']) {
    for (const value of PRECISE) yield converted({ ...config, 'unix.precision': precision }, value)
  }
  for (const value of WITH_FIELDS) {
    yield converted({ ...config, field: 'at' }, value)
    const asKey = { ...config, field: 'at', 'replace.null.with.default': 'false' }
    yield { class: 'TimestampConverter$Key', config: asKey, record: sink(null, { key: value }) }
  }
}

function converted(config: Readonly<Record<string, string>>, value: object | null): Case {
  return { class: 'TimestampConverter$Value', config, record: sink(value) }
}
