import {
  type ConfigProblem,
  defineSource,
  field,
  parseConfig,
  type RawConfig,
  validateConfig,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { addProblems, connectionFields, httpUrl } from '../http/connection.ts'
import { httpSource } from './source.ts'

/** Placeholder for the offset. */
const PLACE = '${offset}'

const config = z
  .object({
    url: httpUrl({ doc: 'URL that returns JSON.', importance: 'HIGH' }),
    'topic.name.pattern': field.text({ doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    'entity.names': field.list({ doc: 'Must be empty: a connector polls one URL.', importance: 'HIGH' }).default([]),
    'http.request.method': field.oneOf(['GET'], { doc: 'HTTP method of requests.', importance: 'LOW' }).default('GET'),
    'http.request.headers': field
      .text({ doc: 'Headers of every request, NAME:VALUE, separated by http.request.headers.separator.' })
      .default(''),
    'http.request.headers.separator': field.text({ doc: 'Separator of headers.', nonEmpty: true }).default('|'),
    'http.request.parameters': field
      .text({ doc: `Parameters of every request, NAME=VALUE. The parameter for the position is NAME=${PLACE}.` })
      .default(''),
    'http.request.parameters.separator': field.text({ doc: 'Separator of parameters.', nonEmpty: true }).default('&'),
    'http.offset.mode': field
      .oneOf(['SIMPLE_INCREMENTING', 'CHAINING', 'CURSOR_PAGINATION', 'SNAPSHOT_PAGINATION'], {
        doc: 'How the position advances: by counting records, by a value in them, or by a cursor in the response.',
        importance: 'HIGH',
      })
      .default('SIMPLE_INCREMENTING'),
    'http.initial.offset': field.text({ doc: 'Initial position.' }).default(''),
    'http.offset.json.pointer': field
      .text({ doc: 'With CHAINING: JSON pointer in a record to the value that is its position.' })
      .default(''),
    'http.next.page.json.pointer': field
      .text({ doc: 'With CURSOR_PAGINATION: JSON pointer in the response to the next cursor or URL.' })
      .default(''),
    'http.response.data.json.pointer': field.text({ doc: 'JSON pointer in the response to the records.' }).default(''),
    'request.interval.ms': field.int({ doc: 'Pause between two rounds, in ms.', min: 1 }).default(15_000),
    'retry.on.status.codes': field
      .text({ doc: 'Statuses and ranges of statuses that are retried.' })
      .default('408,425,429,500-'),
    ...connectionFields,
  })
  .superRefine((written, context) => addProblems(problemsOf(written), context))

type Config = z.infer<typeof config>

/** The HTTP source with the configuration keys of Confluent's connector. */
export const confluentHttpSource = defineSource({
  class: 'ConfluentHttpSource',
  aliases: ['io.confluent.connect.http.HttpSourceConnector'],
  version: SHIPPED_VERSION,
  summary: "Polls an HTTP server for JSON, with the configuration keys of Confluent's HTTP source.",
  notes: `
**Each record of a page that the server returned is written at least once, in the order of the pages.** It is [HttpSource](http-source.md)
with other configuration keys, and behaves as described there. Its offsets have their own format, not that of the original.

The position is a parameter of its own: \`http.request.parameters=limit=100&from=\${offset}\`. \`CHAINING\` continues after the highest
value. The following are refused because they have no counterpart: \`SNAPSHOT_PAGINATION\`, \`entity.names\`, methods other than GET, and
\`\${offset}\` in the URL or within a parameter. Retries are unlimited (\`max.retries\` and \`retry.backoff.ms\` have no effect) with growing
delays.
`,
  config,
  poll: ({ config: written, ...context }) =>
    httpSource.poll({ ...context, config: parseConfig(httpSource.config, toHttpSource(written)) }),
  alterOffsets: (written, offsets) =>
    httpSource.alterOffsets?.(parseConfig(httpSource.config, toHttpSource(written)), offsets),
})

/** Converts the configuration to that of `HttpSource`. */
function toHttpSource(written: Config): RawConfig {
  const { fixed, place } = parametersOf(written)
  const connection = Object.keys(connectionFields).flatMap((key) => {
    const value = written[key as keyof typeof connectionFields]
    return value === undefined ? [] : [[key, String(value)] as const]
  })
  return {
    ...Object.fromEntries(connection),
    url: addressWith(written.url, fixed),
    topic: written['topic.name.pattern'],
    'http.request.headers': written['http.request.headers'].split(written['http.request.headers.separator']).join('|'),
    'records.pointer': written['http.response.data.json.pointer'],
    'poll.interval.ms': String(written['request.interval.ms']),
    'retry.on.status.codes': written['retry.on.status.codes'],
    ...pagingOf(written, place),
  }
}

function pagingOf(written: Config, place: string | undefined): RawConfig {
  const initial = written['http.initial.offset']
  switch (written['http.offset.mode']) {
    case 'CHAINING':
      return {
        'since.parameter': place ?? '',
        'since.pointer': written['http.offset.json.pointer'],
        'since.initial': initial,
      }
    case 'CURSOR_PAGINATION':
      return {
        paging: 'cursor',
        'cursor.pointer': written['http.next.page.json.pointer'],
        'cursor.parameter': place ?? 'cursor',
      }
    default:
      return place === undefined ? {} : { paging: 'offset', 'offset.parameter': place, 'offset.first': initial || '0' }
  }
}

function addressWith(url: string, parameters: readonly (readonly [string, string])[]): string {
  const address = new URL(url)
  for (const [name, value] of parameters) address.searchParams.append(name, value)
  return address.href
}

/** Splits the request parameters into constant ones and the name of the one that contains the offset. */
function parametersOf(written: Config) {
  const pairs = written['http.request.parameters']
    .split(written['http.request.parameters.separator'])
    .flatMap((text) => (text.trim() === '' ? [] : [nameAndValue(text.trim())]))
  return {
    fixed: pairs.filter(([, value]) => value !== PLACE),
    place: pairs.find(([, value]) => value === PLACE)?.[0],
  }
}

function nameAndValue(text: string): readonly [string, string] {
  const [name = '', ...value] = text.split('=')
  return [name, value.join('=')]
}

/** Keys of `HttpSource` that validation may report, with the corresponding keys of this connector. */
const NAMES: Readonly<Record<string, string>> = {
  'records.pointer': 'http.response.data.json.pointer',
  'since.pointer': 'http.offset.json.pointer',
  'cursor.pointer': 'http.next.page.json.pointer',
  'offset.first': 'http.initial.offset',
}

function problemsOf(written: Config): readonly ConfigProblem[] {
  const own = ownProblems(written)
  if (own.length > 0) return own
  return validateConfig(httpSource.config, toHttpSource(written)).flatMap(({ name, errors }) => {
    const key = NAMES[name] ?? name
    return errors.map((message) => ({ key, message: message.replace(`configuration ${name}`, `configuration ${key}`) }))
  })
}

function ownProblems(written: Config): readonly ConfigProblem[] {
  const { fixed, place } = parametersOf(written)
  const mode = written['http.offset.mode']
  const problem = (isWrong: boolean, key: keyof Config, message: string) => (isWrong ? [{ key, message }] : [])
  const isWithin = [written.url, ...fixed.flat()].some((text) => text.includes('${'))
  return [
    ...problem(
      mode === 'SNAPSHOT_PAGINATION',
      'http.offset.mode',
      'SNAPSHOT_PAGINATION is not supported: use CHAINING',
    ),
    ...problem(
      written['entity.names'].length > 0,
      'entity.names',
      'entity.names is not supported: make a connector for each of them',
    ),
    ...problem(
      isWithin,
      'http.request.parameters',
      `a placeholder stands only in http.request.parameters, as the whole value: NAME=${PLACE}`,
    ),
    ...problem(
      mode === 'CHAINING' && (place === undefined || written['http.offset.json.pointer'] === ''),
      'http.offset.json.pointer',
      `CHAINING needs http.offset.json.pointer, and NAME=${PLACE} in http.request.parameters`,
    ),
    ...problem(
      mode === 'CURSOR_PAGINATION' && written['http.next.page.json.pointer'] === '',
      'http.next.page.json.pointer',
      'CURSOR_PAGINATION needs http.next.page.json.pointer',
    ),
    ...problem(
      mode === 'CURSOR_PAGINATION' && written['http.initial.offset'] !== '',
      'http.initial.offset',
      'http.initial.offset is not supported with CURSOR_PAGINATION: put the first cursor into url',
    ),
  ]
}
