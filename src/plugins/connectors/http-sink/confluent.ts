import { javaRegex, javaReplacement } from '../../../java-compat/java-regex.ts'
import { defineSink, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import {
  addProblems,
  connectionFields,
  connectionProblems,
  headerProblems,
  httpUrl,
  openConnection,
  parseHeaders,
} from '../http/connection.ts'
import { parseStatuses, RETRIED_STATUSES } from '../http/retriable-status.ts'
import { BACKOFF_MS_MAX, HttpDelivery, RESPONSE_BYTES_MAX } from './delivery.ts'
import { Reporter, type ReporterSettings, type ReportTopicSettings } from './reporter.ts'
import type { HttpSinkSettings } from './settings.ts'

const config = z
  .object({
    'http.api.url': httpUrl({
      doc:
        'URL to which records are sent. May contain the placeholders `${topic}`, `${key}`, `${partition}`, `${offset}`, `${timestamp}`, ' +
        '`${key.FIELD}`, and `${FIELD}` and `${FIELD.INNER}` of the value.',
      importance: 'HIGH',
    }),
    'request.method': field
      .oneOf(['POST', 'PUT', 'PATCH'], { doc: 'HTTP method of requests.', importance: 'HIGH' })
      .default('POST'),
    headers: field
      .text({
        doc: 'Headers of every request as NAME:VALUE, separated by header.separator. Values may contain the placeholders of http.api.url.',
        importance: 'HIGH',
      })
      .default(''),
    'header.separator': field.text({ doc: 'Separator of headers.', nonEmpty: true }).default('|'),
    'request.body.format': field
      .oneOf(['string', 'json'], {
        doc: "Format of values in the body: the result of Java's String.valueOf, or JSON. Strings that contain JSON are sent unchanged.",
      })
      .default('string'),
    'batch.max.size': field
      .int({ doc: 'Maximum number of records in a request.', importance: 'HIGH', min: 1, max: 1_000_000 })
      .default(1),
    'batch.key.pattern': field
      .text({
        doc: 'Template of the batch key: only consecutive records with the same batch key are sent in one request. May contain the placeholders of http.api.url.',
      })
      .default(''),
    'batch.prefix': field.text({ doc: 'Text before the records of a request.', isVerbatim: true }).default(''),
    'batch.suffix': field.text({ doc: 'Text after the records of a request.', isVerbatim: true }).default(''),
    'batch.separator': field.text({ doc: 'Text between the records of a request.', isVerbatim: true }).default(','),
    'batch.json.as.array': field
      .boolean({
        doc: 'With request.body.format=json: whether to send an array even if the request contains a single record.',
      })
      .default(false),
    'regex.patterns': field
      .text({
        doc: 'Java regular expressions, separated by regex.separator. Their matches in the text of a record are replaced.',
      })
      .default(''),
    'regex.replacements': field
      .text({ doc: 'Replacements for the regular expressions, separated by regex.separator.' })
      .default(''),
    'regex.separator': field
      .text({ doc: 'Separator of regular expressions and replacements.', nonEmpty: true })
      .default('~'),
    'behavior.on.null.values': field
      .oneOf(['ignore', 'log', 'delete', 'fail'], {
        doc: 'Handling of records without a value: ignore them, log them, send them as DELETE (to URL/KEY if the URL does not contain the key), or fail.',
        importance: 'LOW',
      })
      .default('ignore'),
    'behavior.on.error': field
      .oneOf(['fail', 'log', 'ignore'], {
        doc: 'Handling of records that the server rejects: fail, according to errors.tolerance; log them; or ignore them.',
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
      .oneOf(['EXPONENTIAL_WITH_JITTER', 'CONSTANT_VALUE'], {
        doc: 'Retry delays: growing with jitter, or constant.',
        importance: 'LOW',
      })
      .default('EXPONENTIAL_WITH_JITTER'),
    'retry.on.status.codes': field
      .parsed(
        field.text({
          doc: 'Response statuses and ranges of statuses for which a request is retried. Other error statuses reject the record.',
        }),
        parseStatuses,
      )
      .prefault(RETRIED_STATUSES),
    'max.in.flight.requests': field
      .int({
        doc: 'Maximum number of concurrent requests. Records with the same key, or without a key from the same partition, are sent in order.',
        min: 1,
        max: 256,
      })
      .default(1),
    'report.errors.as': field
      .oneOf(['error_string', 'http_response'], {
        doc: 'Value of a report of a rejected record: the error message, or the body of the response.',
        importance: 'LOW',
      })
      .default('error_string'),
    'reporter.bootstrap.servers': field
      .text({
        doc: 'Enables reports, as does every key reporter.*. The value has no effect: reports are written to the Kafka cluster of the task.',
        importance: 'LOW',
      })
      .default(''),
    'reporter.result.topic.name': field
      .text({
        reaches: 'written topic',
        doc: 'Topic for reports of delivered records. Empty: no such reports.',
        importance: 'LOW',
      })
      .default('success-responses'),
    'reporter.result.topic.partitions': field
      .int({ doc: 'Number of partitions with which that topic is created.', importance: 'LOW', min: 1 })
      .default(1),
    'reporter.result.topic.replication.factor': field
      .int({ doc: 'Replication factor with which that topic is created.', importance: 'LOW', min: 1, max: 32_767 })
      .default(3),
    'reporter.result.topic.key.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the keys of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.result.topic.value.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the values of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.error.topic.name': field
      .text({
        reaches: 'written topic',
        doc: 'Topic for reports of rejected records. Empty: no such reports.',
        importance: 'LOW',
      })
      .default('error-responses'),
    'reporter.error.topic.partitions': field
      .int({ doc: 'Number of partitions with which that topic is created.', importance: 'LOW', min: 1 })
      .default(1),
    'reporter.error.topic.replication.factor': field
      .int({ doc: 'Replication factor with which that topic is created.', importance: 'LOW', min: 1, max: 32_767 })
      .default(3),
    'reporter.error.topic.key.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the keys of these reports.', importance: 'LOW' })
      .default('json'),
    'reporter.error.topic.value.format': field
      .oneOf(['json', 'string'], { doc: 'Format of the values of these reports.', importance: 'LOW' })
      .default('json'),
    'oauth2.jwt.enabled': field
      .boolean({ doc: 'Must be false: authentication with a client JWT is not supported.', importance: 'LOW' })
      .default(false),
    ...connectionFields,
  })
  .superRefine((settings, context) => {
    addProblems([...connectionProblems(settings), ...ownProblems(settings)], context)
  })

type Config = z.infer<typeof config>

/** Keys of the Kafka clients of Confluent's reporter. */
const REPORTER_CLIENT_KEY = /^reporter\.(?:admin|producer)\./
const NO_REPORTER_CLIENTS =
  'these keys have no effect: reports are written by the producer of the task, which producer.override.* configures'

/** Sends records to an HTTP server. Takes the configuration keys of Confluent's HTTP sink. */
export const httpSink = defineSink({
  class: 'HttpSink',
  aliases: ['io.confluent.connect.http.HttpSinkConnector'],
  version: SHIPPED_VERSION,
  summary: 'Sends records to an HTTP server, individually or in batches.',
  notes: `
**Each record is delivered at least once, in order per key. Only rejected records are sent to the dead-letter queue.** A record is
delivered when the server has sent a complete response with a 2xx status. When there is no response, when the connection is interrupted,
and for the statuses in \`retry.on.status.codes\`, the request is retried after a growing delay, or after the delay in the \`Retry-After\`
header (a date is compared with the \`Date\` header). After \`max.retries\` failed attempts the task fails; no record is skipped.

Other error statuses reject the record, which is handled according to \`errors.tolerance\` and \`errors.deadletterqueue.topic.name\`. A rejected
batch is split in halves until the rejected records are found, so the server may receive its other records more than once. 401, 403, 407 and
redirects fail the task: they concern the client, not a record. An OAuth2 token is renewed before it expires, and once after a 401.

If a key \`reporter.*\` is set, a report of each record is written before its offset is committed: for a delivered record, the response (its
first 16 KiB) to \`reporter.result.topic.name\`; for a rejected record, the reason to \`reporter.error.topic.name\`. A report has the key of the record and
the headers \`input_record_topic\`, \`input_record_partition\`, \`input_record_offset\` and \`input_record_timestamp\`. Reports may be duplicated
when a task restarts. A report that cannot be stored fails the task.

Differences from the original: 4xx statuses are retried only if \`retry.on.status.codes\` contains them. Reports are written only if a key
\`reporter.*\` is set, to the cluster of the task; \`reporter.admin.*\` and \`reporter.producer.*\` have no effect.
Authentication with a client JWT (\`oauth2.jwt.*\`) is rejected: use client credentials.
`,
  config,
  start: async ({ config: settings, raw, log, signal, reject, report, ...access }) => {
    const keys = Object.keys(raw).filter((key) => REPORTER_CLIENT_KEY.test(key))
    if (keys.length > 0) log.warn({ keys }, NO_REPORTER_CLIENTS)
    const isReporting = Object.keys(raw).some((key) => key.startsWith('reporter.'))
    const reporter = isReporting ? { reporter: new Reporter(reporterSettings(settings), report) } : {}
    const limits = { responseBytesMax: RESPONSE_BYTES_MAX, whenLonger: 'cut' } as const
    const connection = await openConnection(settings, limits, access)
    return new HttpDelivery({ settings: toSettings(settings), connection, log, signal, reject, ...reporter })
  },
})

/** An empty name of a topic turns its reports off. */
export function reporterSettings(settings: Config): ReporterSettings {
  const topic = (kind: 'result' | 'error'): ReportTopicSettings | undefined => {
    const name = settings[`reporter.${kind}.topic.name`]
    if (name === '') return undefined
    return {
      name,
      partitions: settings[`reporter.${kind}.topic.partitions`],
      replicationFactor: settings[`reporter.${kind}.topic.replication.factor`],
      keyFormat: settings[`reporter.${kind}.topic.key.format`],
      valueFormat: settings[`reporter.${kind}.topic.value.format`],
    }
  }
  return { results: topic('result'), errors: topic('error'), errorsAs: settings['report.errors.as'] }
}

/** Converts the configuration to the settings that both HTTP sinks share. */
export function toSettings(settings: Config): HttpSinkSettings {
  const isArray = settings['batch.json.as.array'] && settings['request.body.format'] === 'json'
  const firstMs = settings['retry.backoff.ms']
  const isConstant = settings['retry.backoff.policy'] === 'CONSTANT_VALUE'
  return {
    url: settings['http.api.url'],
    method: settings['request.method'],
    headers: parseHeaders(settings.headers.split(settings['header.separator'])),
    format: settings['request.body.format'],
    rewrite: rewriter(settings),
    batch: {
      recordsMax: settings['batch.max.size'],
      keyPattern: settings['batch.key.pattern'],
      prefix: isArray ? '[' : settings['batch.prefix'],
      suffix: isArray ? ']' : settings['batch.suffix'],
      separator: isArray ? ',' : settings['batch.separator'],
    },
    onNull: settings['behavior.on.null.values'],
    onRejected: settings['behavior.on.error'],
    retry: {
      statuses: settings['retry.on.status.codes'],
      max: settings['max.retries'],
      backoff: { firstMs, maxMs: isConstant ? firstMs : Math.max(firstMs, BACKOFF_MS_MAX) },
    },
    requestsMax: settings['max.in.flight.requests'],
  }
}

function rewriter(settings: Config): (text: string) => string {
  const { 'regex.patterns': patterns, 'regex.replacements': replacements, 'regex.separator': separator } = settings
  if (patterns === '') return (text) => text
  const texts = replacements.split(separator)
  const steps = patterns.split(separator).map((text, index) => {
    return { pattern: javaRegex(text), replacement: javaReplacement(texts[index] ?? '') }
  })
  return (text) => steps.reduce((made, { pattern, replacement }) => pattern.replaceAll(made, replacement), text)
}

function ownProblems(settings: Config) {
  const count = (text: string) => text.split(settings['regex.separator']).length
  const isUneven = count(settings['regex.patterns']) !== count(settings['regex.replacements'])
  return [
    ...(settings['oauth2.jwt.enabled']
      ? [
          {
            key: 'oauth2.jwt.enabled',
            message:
              'oauth2.jwt.enabled=true is not supported: remove it, and set oauth2.client.id and oauth2.client.secret',
          },
        ]
      : []),
    ...headerProblems('headers', settings.headers.split(settings['header.separator'])),
    ...patternProblems(settings),
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

function patternProblems(settings: Config) {
  try {
    rewriter(settings)
    return []
  } catch (error) {
    const key = 'regex.patterns'
    return [{ key, message: `Invalid value for configuration ${key}: ${(error as Error).message}` }]
  }
}
