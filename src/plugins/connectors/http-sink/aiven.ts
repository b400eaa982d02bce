import { defineSink, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import {
  addProblems,
  type ConnectionSettings,
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
    'http.url': httpUrl({ doc: 'URL that records are sent to, with POST.', importance: 'HIGH' }),
    'http.authorization.type': field
      .oneOf(['none', 'static', 'apikey', 'oauth2'], {
        doc: 'How requests are authenticated: with the fixed header http.headers.authorization, or with a token from oauth2.access.token.url.',
        importance: 'HIGH',
      })
      .default('none'),
    'http.headers.authorization': field.password({ doc: 'Header Authorization for static and apikey.' }).optional(),
    'http.headers.content.type': field.text({ doc: 'The header Content-Type.', importance: 'LOW' }).optional(),
    'http.headers.additional': field
      .list({ doc: 'Other headers, NAME:VALUE, separated by commas.', importance: 'LOW' })
      .default([]),
    'oauth2.access.token.url': httpUrl({
      doc: 'Token endpoint for oauth2 (client credentials grant).',
      importance: 'HIGH',
    }).optional(),
    'oauth2.client.id': connectionFields['oauth2.client.id'],
    'oauth2.client.secret': connectionFields['oauth2.client.secret'],
    'oauth2.client.authorization.mode': field
      .oneOf(['header', 'url'], { doc: 'Where oauth2 sends id and secret: in a Basic header, or in the form.' })
      .default('header'),
    'oauth2.client.scope': connectionFields['oauth2.client.scope'],
    'oauth2.response.token.property': connectionFields['oauth2.token.property'],
    'batching.enabled': field
      .boolean({ doc: 'Whether a request contains several records.', importance: 'HIGH' })
      .default(false),
    'batch.max.size': field
      .int({ doc: 'Maximum number of records in a request, with batching.', min: 1, max: 1_000_000 })
      .default(500),
    'batch.prefix': field
      .text({ doc: 'Text before the records, with batching.', importance: 'HIGH', isVerbatim: true })
      .default(''),
    'batch.suffix': field
      .text({
        doc: 'Text after the records, with batching. Default: a line end.',
        importance: 'HIGH',
        isVerbatim: true,
      })
      .optional(),
    'batch.separator': field
      .text({ doc: 'Text between records, with batching. Default: a line end.', importance: 'HIGH', isVerbatim: true })
      .optional(),
    'max.retries': field
      .int({ doc: 'Number of consecutive failed attempts before the task fails.', min: 0 })
      .default(1),
    'retry.backoff.ms': field
      .int({
        doc: 'Delay before the first retry, in ms. It grows to at most one minute. A longer Retry-After takes precedence.',
        min: 1,
      })
      .default(3000),
    'http.timeout': field
      .int({
        doc: 'Timeout of a request, including its whole response, in seconds.',
        importance: 'LOW',
        min: 1,
      })
      .default(30),
  })
  .superRefine((settings, context) => addProblems(problemsOf(settings), context))

type Config = z.infer<typeof config>

/** The HTTP sink with the configuration keys of Aiven's connector. */
export const aivenHttpSink = defineSink({
  class: 'AivenHttpSink',
  aliases: ['io.aiven.kafka.connect.http.HttpSinkConnector'],
  version: SHIPPED_VERSION,
  summary: "Sends the records of its topics to an HTTP server, configured by the keys of Aiven's HTTP sink.",
  notes: `
**Each record is delivered at least once, in order per key. Rejected records, and only those, are in the dead-letter topic.** It is
[HttpSink](http-sink.md) with other configuration keys, and behaves as described there. Strings are sent unchanged, other values as JSON.
The texts before, after and between records may contain \`\\n\`, \`\\r\` and \`\\t\`.
`,
  config,
  start: async ({ config: written, log, signal, reject, ...access }) => {
    const limits = { responseBytesMax: RESPONSE_BYTES_MAX, whenLonger: 'cut' } as const
    const connection = await openConnection(connectionOf(written), limits, access)
    return new HttpDelivery({ settings: toSettings(written), connection, log, signal, reject })
  },
})

function toSettings(written: Config): HttpSinkSettings {
  const isBatching = written['batching.enabled']
  const type = written['http.headers.content.type']
  const isStatic = /static|apikey/.test(written['http.authorization.type'])
  const headers = [
    ...(type === undefined ? [] : [['content-type', type] as const]),
    ...(isStatic ? [['authorization', written['http.headers.authorization']!] as const] : []),
    ...parseHeaders(written['http.headers.additional']),
  ]
  return {
    url: written['http.url'],
    method: 'POST',
    headers,
    format: 'auto',
    rewrite: (text) => text,
    batch: {
      recordsMax: isBatching ? written['batch.max.size'] : 1,
      keyPattern: '',
      prefix: isBatching ? unescaped(written['batch.prefix']) : '',
      suffix: isBatching ? unescaped(written['batch.suffix'] ?? '\n') : '',
      separator: unescaped(written['batch.separator'] ?? '\n'),
    },
    onNull: 'fail',
    onRefused: 'fail',
    retry: {
      statuses: parseStatuses('408,425,429,500-'),
      max: written['max.retries'],
      backoff: { firstMs: written['retry.backoff.ms'], maxMs: Math.max(written['retry.backoff.ms'], BACKOFF_MS_MAX) },
    },
    requestsMax: 1,
  }
}

/** Converts the configuration to the connection settings of `HttpSink`. */
function connectionOf(written: Config): ConnectionSettings {
  return {
    ...z.object(connectionFields).parse({}),
    'auth.type': written['http.authorization.type'] === 'oauth2' ? 'OAUTH2' : 'NONE',
    'oauth2.token.url': written['oauth2.access.token.url'],
    'oauth2.client.id': written['oauth2.client.id'],
    'oauth2.client.secret': written['oauth2.client.secret'],
    'oauth2.client.scope': written['oauth2.client.scope'],
    'oauth2.client.auth.mode': written['oauth2.client.authorization.mode'],
    'oauth2.token.property': written['oauth2.response.token.property'],
    'http.request.timeout.ms': written['http.timeout'] * 1000,
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\t': '\t', '\\\\': '\\' }

function unescaped(text: string): string {
  return text.replace(/\\[nrt\\]/g, (written) => ESCAPES[written]!)
}

function problemsOf(written: Config) {
  const type = written['http.authorization.type']
  const oauth2 = connectionProblems(connectionOf(written)).map(({ key, message }) => ({
    key: key === 'oauth2.token.url' ? 'oauth2.access.token.url' : key,
    message: message
      .replace('auth.type=OAUTH2', 'http.authorization.type=oauth2')
      .replace(' oauth2.token.url', ' oauth2.access.token.url'),
  }))
  const key = 'http.headers.authorization'
  const isBare = (type === 'static' || type === 'apikey') && !written[key]
  return [
    ...oauth2,
    ...(isBare ? [{ key, message: `http.authorization.type=${type} needs ${key}` }] : []),
    ...headerProblems('http.headers.additional', written['http.headers.additional']),
  ]
}
