import { javaRegex, javaReplacement } from '../../../java-compat/regex.ts'
import { defineSink, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import {
  addProblems,
  connectionFields,
  connectionProblems,
  headerProblems,
  httpUrl,
  openConnection,
  parseHeaders,
} from '../http/connection.ts'
import { parseStatuses } from '../http/status-class.ts'
import { BACKOFF_MS_MAX, HttpDelivery, RESPONSE_BYTES_MAX } from './delivery.ts'
import type { HttpSinkSettings } from './settings.ts'

const config = z
  .object({
    'http.api.url': httpUrl({
      doc:
        'Where records are sent. May hold `${topic}`, `${key}`, `${partition}`, `${offset}`, `${timestamp}`, ' +
        '`${key.FIELD}` and `${FIELD}` of the value, `${FIELD.INNER}`.',
      importance: 'HIGH',
    }),
    'request.method': field
      .oneOf(['POST', 'PUT', 'PATCH'], { doc: 'How records are sent.', importance: 'HIGH' })
      .default('POST'),
    headers: field
      .text({
        doc: 'Headers of every request, NAME:VALUE, between header.separator. Values may hold what the URL may.',
        importance: 'HIGH',
      })
      .default(''),
    'header.separator': field.text({ doc: 'Stands between two headers.', nonEmpty: true }).default('|'),
    'request.body.format': field
      .oneOf(['string', 'json'], {
        doc: 'How a value becomes a body: as Java writes it as text, or as JSON. Texts that are JSON stay as they are.',
      })
      .default('string'),
    'batch.max.size': field
      .int({ doc: 'Records in one request, at most.', importance: 'HIGH', min: 1, max: 1_000_000 })
      .default(1),
    'batch.key.pattern': field
      .text({ doc: 'Only neighbours for which this is the same go together. May hold what the URL may.' })
      .default(''),
    'batch.prefix': field.text({ doc: 'Stands in front of the records of a request.', isVerbatim: true }).default(''),
    'batch.suffix': field.text({ doc: 'Stands behind the records of a request.', isVerbatim: true }).default(''),
    'batch.separator': field.text({ doc: 'Stands between the records of a request.', isVerbatim: true }).default(','),
    'batch.json.as.array': field
      .boolean({ doc: 'With request.body.format=json: every request is an array of records, also of one.' })
      .default(false),
    'regex.patterns': field
      .text({ doc: "Java expressions for what is replaced in a record's text, between regex.separator." })
      .default(''),
    'regex.replacements': field.text({ doc: 'What is put in place of each, between regex.separator.' }).default(''),
    'regex.separator': field.text({ doc: 'Stands between two expressions.', nonEmpty: true }).default('~'),
    'behavior.on.null.values': field
      .oneOf(['ignore', 'log', 'delete', 'fail'], {
        doc: 'Records without a value: left out, told in the log, sent as DELETE (to URL/KEY where the URL names no key), or refused.',
        importance: 'LOW',
      })
      .default('ignore'),
    'behavior.on.error': field
      .oneOf(['fail', 'log', 'ignore'], {
        doc: 'Records that the server refuses: as errors.tolerance says, told in the log, or left out.',
        importance: 'LOW',
      })
      .default('fail'),
    'max.retries': field
      .int({ doc: 'How often in a row nothing gets through before the task fails.', min: 0 })
      .default(10),
    'retry.backoff.ms': field
      .int({
        doc: 'Pause before the first retry, in ms. It grows up to a minute; a longer Retry-After is kept to.',
        min: 1,
      })
      .default(3000),
    'retry.backoff.policy': field
      .oneOf(['EXPONENTIAL_WITH_JITTER', 'CONSTANT_VALUE'], { doc: 'Whether pauses grow.', importance: 'LOW' })
      .default('EXPONENTIAL_WITH_JITTER'),
    'retry.on.status.codes': field
      .parsed(
        field.text({ doc: 'Statuses and ranges of them that are worth another try; other ones refuse a record.' }),
        parseStatuses,
      )
      .prefault('408,425,429,500-'),
    'max.in.flight.requests': field
      .int({
        doc: 'Requests on their way at once. Those of one key, or without keys of one partition, follow each other.',
        min: 1,
        max: 256,
      })
      .default(1),
    'oauth2.jwt.enabled': field
      .boolean({ doc: 'Tokens by a JWT of our own, which is not supported: only false.', importance: 'LOW' })
      .default(false),
    ...connectionFields,
  })
  .superRefine((settings, context) => {
    addProblems([...connectionProblems(settings), ...ownProblems(settings)], context)
  })

type Config = z.infer<typeof config>

const NO_REPORTER =
  'answers are not written to topics: what the server refuses is where errors.deadletterqueue.topic.name says, with the reason'

/** Records to an HTTP server. Answers to the keys of Confluent's HTTP sink. */
export const httpSink = defineSink({
  class: 'HttpSink',
  aliases: ['io.confluent.connect.http.HttpSinkConnector'],
  version: SHIPPED_VERSION,
  summary: 'Sends the records of its topics to an HTTP server, singly or in batches.',
  notes: `
**Each record is delivered at least once, in order per key; what the server refuses is in the dead-letter topic, and nothing
else is.** A record counts as delivered when the server has answered 2xx in whole. No answer, a connection that was cut, and the
statuses of \`retry.on.status.codes\` are tried again, after a pause that grows, or that the server asked for with \`Retry-After\`
(a date is measured by the server's clock). After \`max.retries\` in vain the task fails; nothing is skipped.

Other statuses refuse the record: it goes where \`errors.tolerance\` and \`errors.deadletterqueue.topic.name\` say. A batch that is
refused is halved until the refused records are found, so the server may see the others of it more than once. 401, 403, 407 and
redirects fail the task: they are about us, not about a record. A token of OAuth2 is renewed before it ends, and once at a 401.

Not as the original: 4xx are not tried again unless \`retry.on.status.codes\` says so, and answers are not written to topics: a
configuration with \`reporter.*\` runs, and the log says so. What was refused, and why, is in the dead-letter topic. Tokens by a JWT
(\`oauth2.jwt.*\`) are refused: use client credentials.
`,
  config,
  start: async ({ config: written, raw, log, signal, reject, ...access }) => {
    const reporter = Object.keys(raw).filter((key) => key.startsWith('reporter.'))
    if (reporter.length > 0) log.warn({ keys: reporter }, NO_REPORTER)
    const limits = { responseBytesMax: RESPONSE_BYTES_MAX, whenLonger: 'cut' } as const
    const connection = await openConnection(written, limits, access)
    return new HttpDelivery({ settings: toSettings(written), connection, log, signal, reject })
  },
})

/** The same, whosever keys said so. */
export function toSettings(written: Config): HttpSinkSettings {
  const isArray = written['batch.json.as.array'] && written['request.body.format'] === 'json'
  const firstMs = written['retry.backoff.ms']
  const isConstant = written['retry.backoff.policy'] === 'CONSTANT_VALUE'
  return {
    url: written['http.api.url'],
    method: written['request.method'],
    headers: parseHeaders(written.headers.split(written['header.separator'])),
    format: written['request.body.format'],
    rewrite: rewriter(written),
    batch: {
      recordsMax: written['batch.max.size'],
      keyPattern: written['batch.key.pattern'],
      prefix: isArray ? '[' : written['batch.prefix'],
      suffix: isArray ? ']' : written['batch.suffix'],
      separator: isArray ? ',' : written['batch.separator'],
    },
    onNull: written['behavior.on.null.values'],
    onRefused: written['behavior.on.error'],
    retry: {
      statuses: written['retry.on.status.codes'],
      max: written['max.retries'],
      backoff: { firstMs, maxMs: isConstant ? firstMs : Math.max(firstMs, BACKOFF_MS_MAX) },
    },
    requestsMax: written['max.in.flight.requests'],
  }
}

function rewriter(written: Config): (text: string) => string {
  const { 'regex.patterns': patterns, 'regex.replacements': replacements, 'regex.separator': separator } = written
  if (patterns === '') return (text) => text
  const texts = replacements.split(separator)
  const steps = patterns.split(separator).map((text, index) => {
    return { pattern: javaRegex(text), replacement: javaReplacement(texts[index] ?? '') }
  })
  return (text) => steps.reduce((made, { pattern, replacement }) => pattern.replaceAll(made, replacement), text)
}

function ownProblems(written: Config) {
  const count = (text: string) => text.split(written['regex.separator']).length
  const isUneven = count(written['regex.patterns']) !== count(written['regex.replacements'])
  return [
    ...(written['oauth2.jwt.enabled']
      ? [
          {
            key: 'oauth2.jwt.enabled',
            message:
              'oauth2.jwt.enabled=true is not supported: leave it out and name oauth2.client.id and oauth2.client.secret',
          },
        ]
      : []),
    ...headerProblems('headers', written.headers.split(written['header.separator'])),
    ...patternProblems(written),
    ...(isUneven
      ? [{ key: 'regex.replacements', message: 'regex.patterns and regex.replacements must be as many' }]
      : []),
  ]
}

function patternProblems(written: Config) {
  try {
    rewriter(written)
    return []
  } catch (error) {
    const key = 'regex.patterns'
    return [{ key, message: `Invalid value for configuration ${key}: ${(error as Error).message}` }]
  }
}
