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
import { Reporter, type ReporterSettings, type ReportTopicSettings } from './reporter.ts'
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
      .oneOf(['POST', 'PUT', 'PATCH'], { doc: 'HTTP method that sends records.', importance: 'HIGH' })
      .default('POST'),
    headers: field
      .text({
        doc: 'Headers of every request, NAME:VALUE, separated by header.separator. Values may contain the placeholders of http.api.url.',
        importance: 'HIGH',
      })
      .default(''),
    'header.separator': field.text({ doc: 'Separator of headers.', nonEmpty: true }).default('|'),
    'request.body.format': field
      .oneOf(['string', 'json'], {
        doc: 'Format of values in the body: string as Java converts them, or JSON. Strings that are JSON are sent unchanged.',
      })
      .default('string'),
    'batch.max.size': field
      .int({ doc: 'Maximum number of records in a request.', importance: 'HIGH', min: 1, max: 1_000_000 })
      .default(1),
    'batch.key.pattern': field
      .text({
        doc: 'Consecutive records are in one batch only if this pattern has the same value for them. May contain the placeholders of http.api.url.',
      })
      .default(''),
    'batch.prefix': field.text({ doc: 'Text before the records of a request.', isVerbatim: true }).default(''),
    'batch.suffix': field.text({ doc: 'Text after the records of a request.', isVerbatim: true }).default(''),
    'batch.separator': field.text({ doc: 'Text between the records of a request.', isVerbatim: true }).default(','),
    'batch.json.as.array': field
      .boolean({
        doc: 'With request.body.format=json: send each request as an array of records, even if it has only one.',
      })
      .default(false),
    'regex.patterns': field
      .text({
        doc: 'Java regular expressions whose matches are replaced in the text of a record, separated by regex.separator.',
      })
      .default(''),
    'regex.replacements': field
      .text({ doc: 'Replacement for each expression, separated by regex.separator.' })
      .default(''),
    'regex.separator': field.text({ doc: 'Separator of expressions.', nonEmpty: true }).default('~'),
    'behavior.on.null.values': field
      .oneOf(['ignore', 'log', 'delete', 'fail'], {
        doc: 'What happens to records without a value: ignored, logged, sent as DELETE (to URL/KEY if the URL does not contain the key), or failed.',
        importance: 'LOW',
      })
      .default('ignore'),
    'behavior.on.error': field
      .oneOf(['fail', 'log', 'ignore'], {
        doc: 'What happens to records that the server rejects: handled according to errors.tolerance, logged, or ignored.',
        importance: 'LOW',
      })
      .default('fail'),
    'max.retries': field
      .int({ doc: 'Number of consecutive failed attempts before the task fails.', min: 0 })
      .default(10),
    'retry.backoff.ms': field
      .int({
        doc: 'Delay before the first retry, in ms. It grows to at most one minute. A longer Retry-After takes precedence.',
        min: 1,
      })
      .default(3000),
    'retry.backoff.policy': field
      .oneOf(['EXPONENTIAL_WITH_JITTER', 'CONSTANT_VALUE'], { doc: 'Whether retry delays grow.', importance: 'LOW' })
      .default('EXPONENTIAL_WITH_JITTER'),
    'retry.on.status.codes': field
      .parsed(
        field.text({
          doc: 'Statuses and ranges of statuses that are retried. Other error statuses reject the record.',
        }),
        parseStatuses,
      )
      .prefault('408,425,429,500-'),
    'max.in.flight.requests': field
      .int({
        doc: 'Maximum number of concurrent requests. Records with the same key, or without a key from the same partition, are sent in order.',
        min: 1,
        max: 256,
      })
      .default(1),
    'report.errors.as': field
      .oneOf(['error_string', 'http_response'], {
        doc: 'Value of reports of rejected records: the error message, or the body of the response.',
        importance: 'LOW',
      })
      .default('error_string'),
    'reporter.bootstrap.servers': field
      .text({
        doc: 'With any key reporter.* reports are written. They are written to the cluster of the task, whatever is named here.',
        importance: 'LOW',
      })
      .default(''),
    'reporter.result.topic.name': field
      .text({ doc: 'Topic of the reports of delivered records. Empty: none are written.', importance: 'LOW' })
      .default('success-responses'),
    'reporter.result.topic.partitions': field
      .int({ doc: 'Partitions of that topic when it is created.', importance: 'LOW', min: 1 })
      .default(1),
    'reporter.result.topic.replication.factor': field
      .int({ doc: 'Replication factor of that topic when it is created.', importance: 'LOW', min: 1, max: 32_767 })
      .default(3),
    'reporter.result.topic.key.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the keys of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.result.topic.value.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the values of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.error.topic.name': field
      .text({ doc: 'Topic of the reports of rejected records. Empty: none are written.', importance: 'LOW' })
      .default('error-responses'),
    'reporter.error.topic.partitions': field
      .int({ doc: 'Partitions of that topic when it is created.', importance: 'LOW', min: 1 })
      .default(1),
    'reporter.error.topic.replication.factor': field
      .int({ doc: 'Replication factor of that topic when it is created.', importance: 'LOW', min: 1, max: 32_767 })
      .default(3),
    'reporter.error.topic.key.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the keys of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.error.topic.value.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the values of these reports.', importance: 'LOW' })
      .default('json'),
    'oauth2.jwt.enabled': field
      .boolean({ doc: 'Authentication with a client JWT is not supported: only false is accepted.', importance: 'LOW' })
      .default(false),
    ...connectionFields,
  })
  .superRefine((settings, context) => {
    addProblems([...connectionProblems(settings), ...ownProblems(settings)], context)
  })

type Config = z.infer<typeof config>

/** Keys of clients of its own, which Confluent's reporter has. */
const REPORTER_CLIENT_KEY = /^reporter\.(?:admin|producer)\./
const NO_REPORTER_CLIENTS =
  'these keys have no effect: reports are written by the producer of the task, which producer.override.* configures'

/** Sends records to an HTTP server. Takes the configuration keys of Confluent's HTTP sink. */
export const httpSink = defineSink({
  class: 'HttpSink',
  aliases: ['io.confluent.connect.http.HttpSinkConnector'],
  version: SHIPPED_VERSION,
  summary: 'Sends the records of its topics to an HTTP server, singly or in batches.',
  notes: `
**Each record is delivered at least once, in order per key. Rejected records, and only those, are in the dead-letter topic.** A record is
delivered when the server has sent a complete response with a 2xx status. When there is no response, when the connection is interrupted,
and for the statuses in \`retry.on.status.codes\`, the request is retried after a growing delay or after the \`Retry-After\` of the server (a
date is measured by the clock of the server). After \`max.retries\` failed attempts the task fails; no record is skipped.

Other error statuses reject the record, which is handled according to \`errors.tolerance\` and \`errors.deadletterqueue.topic.name\`. A rejected
batch is halved until the rejected records are found, so the server may receive its other records more than once. 401, 403, 407 and
redirects fail the task: they concern the client, not a record. An OAuth2 token is renewed before it expires, and once after a 401.

With keys \`reporter.*\`, a report of each record is written before its offset is committed: for a delivered record the response (its first
16 KiB) to \`reporter.result.topic.name\`, for a rejected one the reason to \`reporter.error.topic.name\`. A report has the key of the record and
the headers \`input_record_topic\`, \`input_record_partition\`, \`input_record_offset\` and \`input_record_timestamp\`. Reports may be repeated
when a task restarts. A report that cannot be stored fails the task.

Differences from the original: 4xx statuses are retried only if \`retry.on.status.codes\` contains them. Reports are written only if a key
\`reporter.*\` is set, to the cluster of the task; \`reporter.admin.*\` and \`reporter.producer.*\` have no effect.
Authentication with a client JWT (\`oauth2.jwt.*\`) is refused: use client credentials.
`,
  config,
  start: async ({ config: written, raw, log, signal, reject, report, ...access }) => {
    const keys = Object.keys(raw).filter((key) => REPORTER_CLIENT_KEY.test(key))
    if (keys.length > 0) log.warn({ keys }, NO_REPORTER_CLIENTS)
    const isReporting = Object.keys(raw).some((key) => key.startsWith('reporter.'))
    const reporter = isReporting ? { reporter: new Reporter(reporterSettings(written), report) } : {}
    const limits = { responseBytesMax: RESPONSE_BYTES_MAX, whenLonger: 'cut' } as const
    const connection = await openConnection(written, limits, access)
    return new HttpDelivery({ settings: toSettings(written), connection, log, signal, reject, ...reporter })
  },
})

/** An empty name of a topic turns its reports off. */
export function reporterSettings(written: Config): ReporterSettings {
  const topic = (kind: 'result' | 'error'): ReportTopicSettings | undefined => {
    const name = written[`reporter.${kind}.topic.name`]
    if (name === '') return undefined
    return {
      name,
      partitions: written[`reporter.${kind}.topic.partitions`],
      replicationFactor: written[`reporter.${kind}.topic.replication.factor`],
      keyFormat: written[`reporter.${kind}.topic.key.format`],
      valueFormat: written[`reporter.${kind}.topic.value.format`],
    }
  }
  return { results: topic('result'), errors: topic('error'), errorsAs: written['report.errors.as'] }
}

/** Converts the configuration to the settings that both HTTP sinks share. */
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
      ? [
          {
            key: 'regex.replacements',
            message: 'regex.patterns and regex.replacements must have the same number of entries',
          },
        ]
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
