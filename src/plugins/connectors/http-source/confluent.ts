import {
  type ConfigProblem,
  defineSource,
  field,
  parseConfig,
  type RawConfig,
  validateConfig,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { addProblems, connectionFields, httpUrl } from '../http/connection.ts'
import { RETRIED_STATUSES } from '../http/retriable-status.ts'
import { httpSource } from './http-source.ts'

/** Placeholder for the offset. */
const OFFSET_PLACEHOLDER = '${offset}'

const config = z
  .object({
    url: httpUrl({ doc: 'URL that returns JSON.', importance: 'HIGH' }),
    'topic.name.pattern': field.text({
      reaches: 'written topic',
      doc: 'Topic to write to.',
      importance: 'HIGH',
      nonEmpty: true,
    }),
    'entity.names': field
      .list({ doc: 'Must be empty: a connector polls a single URL.', importance: 'HIGH' })
      .default([]),
    'http.request.method': field.oneOf(['GET'], { doc: 'HTTP method of requests.', importance: 'LOW' }).default('GET'),
    'http.request.headers': field
      .text({ doc: 'Headers of every request as NAME:VALUE, separated by http.request.headers.separator.' })
      .default(''),
    'http.request.headers.separator': field.text({ doc: 'Separator of headers.', nonEmpty: true }).default('|'),
    'http.request.parameters': field
      .text({
        doc: `Query parameters of every request as NAME=VALUE. The parameter for the position is NAME=${OFFSET_PLACEHOLDER}.`,
      })
      .default(''),
    'http.request.parameters.separator': field
      .text({ doc: 'Separator of query parameters.', nonEmpty: true })
      .default('&'),
    'http.offset.mode': field
      .oneOf(['SIMPLE_INCREMENTING', 'CHAINING', 'CURSOR_PAGINATION', 'SNAPSHOT_PAGINATION'], {
        doc: 'How the position advances: by the number of records, by a value in the records, or by a cursor in the response.',
        importance: 'HIGH',
      })
      .default('SIMPLE_INCREMENTING'),
    'http.initial.offset': field.text({ doc: 'Initial position.' }).default(''),
    'http.offset.json.pointer': field
      .text({ doc: 'With CHAINING: JSON pointer to the value in a record that is its position.' })
      .default(''),
    'http.next.page.json.pointer': field
      .text({ doc: 'With CURSOR_PAGINATION: JSON pointer to the next cursor or URL in the response.' })
      .default(''),
    'http.response.data.json.pointer': field.text({ doc: 'JSON pointer to the records in the response.' }).default(''),
    'request.interval.ms': field.int({ doc: 'Delay between two rounds of requests, in ms.', min: 1 }).default(15_000),
    'retry.on.status.codes': field
      .text({ doc: 'Response statuses and ranges of statuses for which a request is retried.' })
      .default(RETRIED_STATUSES),
    ...connectionFields,
  })
  .superRefine((settings, context) => addProblems(problemsOf(settings), context))

type Config = z.infer<typeof config>

/** The HTTP source with the configuration keys of Confluent's connector. */
export const confluentHttpSource = defineSource({
  class: 'ConfluentHttpSource',
  aliases: ['io.confluent.connect.http.HttpSourceConnector'],
  version: SHIPPED_VERSION,
  summary: "Polls an HTTP server for JSON, with the configuration keys of Confluent's HTTP source.",
  notes: `
**Each record of a page that the server returned is written at least once, in the order of the pages.** The connector is
[HttpSource](http-source.md) with other configuration keys, and behaves as described there. Its offsets are not compatible with those of
Confluent's connector.

The position must be the complete value of a query parameter: \`http.request.parameters=limit=100&from=\${offset}\`. \`CHAINING\` continues
after the highest value. The following are not supported and are rejected: \`SNAPSHOT_PAGINATION\`, \`entity.names\`, methods other than GET, and
\`\${offset}\` in the URL or within a parameter. Retries are unlimited (\`max.retries\` and \`retry.backoff.ms\` have no effect) with growing
delays.
`,
  config,
  poll: ({ config: settings, ...context }) =>
    httpSource.poll({ ...context, config: parseConfig(httpSource.config, toHttpSource(settings)) }),
  alterOffsets: (settings, offsets) =>
    httpSource.alterOffsets?.(parseConfig(httpSource.config, toHttpSource(settings)), offsets),
})

/** Converts the configuration to that of `HttpSource`. */
function toHttpSource(settings: Config): RawConfig {
  const { constant, offsetParameter } = parametersOf(settings)
  const connection = Object.keys(connectionFields).flatMap((key) => {
    const value = settings[key as keyof typeof connectionFields]
    return value === undefined ? [] : [[key, String(value)] as const]
  })
  return {
    ...Object.fromEntries(connection),
    url: addressWith(settings.url, constant),
    topic: settings['topic.name.pattern'],
    'http.request.headers': settings['http.request.headers']
      .split(settings['http.request.headers.separator'])
      .join('|'),
    'records.pointer': settings['http.response.data.json.pointer'],
    'poll.interval.ms': String(settings['request.interval.ms']),
    'retry.on.status.codes': settings['retry.on.status.codes'],
    ...pagingOf(settings, offsetParameter),
  }
}

function pagingOf(settings: Config, offsetParameter: string | undefined): RawConfig {
  const initial = settings['http.initial.offset']
  switch (settings['http.offset.mode']) {
    case 'CHAINING':
      return {
        'since.parameter': offsetParameter ?? '',
        'since.pointer': settings['http.offset.json.pointer'],
        'since.initial': initial,
      }
    case 'CURSOR_PAGINATION':
      return {
        paging: 'cursor',
        'cursor.pointer': settings['http.next.page.json.pointer'],
        'cursor.parameter': offsetParameter ?? 'cursor',
      }
    default:
      return offsetParameter === undefined
        ? {}
        : { paging: 'offset', 'offset.parameter': offsetParameter, 'offset.first': initial || '0' }
  }
}

function addressWith(url: string, parameters: readonly (readonly [string, string])[]): string {
  const address = new URL(url)
  for (const [name, value] of parameters) address.searchParams.append(name, value)
  return address.href
}

/** Splits the request parameters into constant ones and the name of the one that contains the offset. */
function parametersOf(settings: Config) {
  const pairs = settings['http.request.parameters']
    .split(settings['http.request.parameters.separator'])
    .flatMap((text) => (text.trim() === '' ? [] : [nameAndValue(text.trim())]))
  return {
    constant: pairs.filter(([, value]) => value !== OFFSET_PLACEHOLDER),
    offsetParameter: pairs.find(([, value]) => value === OFFSET_PLACEHOLDER)?.[0],
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

function problemsOf(settings: Config): readonly ConfigProblem[] {
  const own = ownProblems(settings)
  if (own.length > 0) return own
  return validateConfig(httpSource.config, toHttpSource(settings)).flatMap(({ name, errors }) => {
    const key = NAMES[name] ?? name
    return errors.map((message) => ({ key, message: message.replace(`configuration ${name}`, `configuration ${key}`) }))
  })
}

function ownProblems(settings: Config): readonly ConfigProblem[] {
  const { constant, offsetParameter } = parametersOf(settings)
  const mode = settings['http.offset.mode']
  const problem = (isWrong: boolean, key: keyof Config, message: string) => (isWrong ? [{ key, message }] : [])
  const isWithin = [settings.url, ...constant.flat()].some((text) => text.includes('${'))
  return [
    ...problem(
      mode === 'SNAPSHOT_PAGINATION',
      'http.offset.mode',
      'SNAPSHOT_PAGINATION is not supported: use CHAINING',
    ),
    ...problem(
      settings['entity.names'].length > 0,
      'entity.names',
      'entity.names is not supported: create a connector for each entity',
    ),
    ...problem(
      isWithin,
      'http.request.parameters',
      `a placeholder is allowed only in http.request.parameters, as the complete value of a parameter: NAME=${OFFSET_PLACEHOLDER}`,
    ),
    ...problem(
      mode === 'CHAINING' && (offsetParameter === undefined || settings['http.offset.json.pointer'] === ''),
      'http.offset.json.pointer',
      `CHAINING requires http.offset.json.pointer, and NAME=${OFFSET_PLACEHOLDER} in http.request.parameters`,
    ),
    ...problem(
      mode === 'CURSOR_PAGINATION' && settings['http.next.page.json.pointer'] === '',
      'http.next.page.json.pointer',
      'CURSOR_PAGINATION requires http.next.page.json.pointer',
    ),
    ...problem(
      mode === 'CURSOR_PAGINATION' && settings['http.initial.offset'] !== '',
      'http.initial.offset',
      'http.initial.offset is not supported with CURSOR_PAGINATION: add the first cursor to url',
    ),
  ]
}
