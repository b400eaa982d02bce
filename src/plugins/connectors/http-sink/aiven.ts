import { defineSink, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
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
import { parseStatuses, RETRIED_STATUSES } from '../http/retriable-status.ts'
import { BACKOFF_MS_MAX, HttpDelivery, RESPONSE_BYTES_MAX } from './delivery.ts'
import type { HttpSinkSettings } from './settings.ts'

const config = z
  .object({
    'http.url': httpUrl({ doc: 'URL to which records are sent by POST.', importance: 'HIGH' }),
    'http.authorization.type': field
      .oneOf(['none', 'static', 'apikey', 'oauth2'], {
        doc: 'Authentication of requests: with the static header http.headers.authorization, or with a token from oauth2.access.token.url.',
        importance: 'HIGH',
      })
      .default('none'),
    'http.headers.authorization': field
      .password({ doc: 'Value of the header Authorization for http.authorization.type=static and apikey.' })
      .optional(),
    'http.headers.content.type': field.text({ doc: 'Value of the header Content-Type.', importance: 'LOW' }).optional(),
    'http.headers.additional': field
      .list({ doc: 'Additional headers as NAME:VALUE, separated by commas.', importance: 'LOW' })
      .default([]),
    'oauth2.access.token.url': httpUrl({
      doc: 'Token endpoint for http.authorization.type=oauth2 (client credentials grant).',
      importance: 'HIGH',
    }).optional(),
    'oauth2.client.id': connectionFields['oauth2.client.id'],
    'oauth2.client.secret': connectionFields['oauth2.client.secret'],
    'oauth2.client.authorization.mode': field
      .oneOf(['header', 'url'], {
        doc: 'Whether the client id and secret are sent in a Basic header or in the URL-encoded form.',
      })
      .default('header'),
    'oauth2.client.scope': connectionFields['oauth2.client.scope'],
    'oauth2.response.token.property': connectionFields['oauth2.token.property'],
    'batching.enabled': field
      .boolean({ doc: 'Whether a request contains several records.', importance: 'HIGH' })
      .default(false),
    'batch.max.size': field
      .int({ doc: 'With batching: maximum number of records in a request.', min: 1, max: 1_000_000 })
      .default(500),
    'batch.prefix': field
      .text({ doc: 'With batching: text before the records.', importance: 'HIGH', isVerbatim: true })
      .default(''),
    'batch.suffix': field
      .text({
        doc: 'With batching: text after the records. Default: a newline.',
        importance: 'HIGH',
        isVerbatim: true,
      })
      .optional(),
    'batch.separator': field
      .text({ doc: 'With batching: text between records. Default: a newline.', importance: 'HIGH', isVerbatim: true })
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
        doc: 'Timeout of a request including the complete response, in seconds.',
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
  summary: "Sends records to an HTTP server, with the configuration keys of Aiven's HTTP sink.",
  notes: `
**Each record is delivered at least once, in order per key. Only rejected records are sent to the dead-letter queue.** The connector
is [HttpSink](http-sink.md) with other configuration keys, and behaves as described there. Strings are sent unchanged, other values as JSON.
The texts before, after and between records may contain the escapes \`\\n\`, \`\\r\` and \`\\t\`.
`,
  config,
  start: async ({ config: settings, log, signal, reject, ...access }) => {
    const limits = { responseBytesMax: RESPONSE_BYTES_MAX, whenLonger: 'cut' } as const
    const connection = await openConnection(connectionOf(settings), limits, access)
    return new HttpDelivery({ settings: toSettings(settings), connection, log, signal, reject })
  },
})

function toSettings(settings: Config): HttpSinkSettings {
  const isBatching = settings['batching.enabled']
  const type = settings['http.headers.content.type']
  const isStatic = /static|apikey/.test(settings['http.authorization.type'])
  const headers = [
    ...(type === undefined ? [] : [['content-type', type] as const]),
    ...(isStatic ? [['authorization', settings['http.headers.authorization']!] as const] : []),
    ...parseHeaders(settings['http.headers.additional']),
  ]
  return {
    url: settings['http.url'],
    method: 'POST',
    headers,
    format: 'auto',
    rewrite: (text) => text,
    batch: {
      recordsMax: isBatching ? settings['batch.max.size'] : 1,
      keyPattern: '',
      prefix: isBatching ? unescaped(settings['batch.prefix']) : '',
      suffix: isBatching ? unescaped(settings['batch.suffix'] ?? '\n') : '',
      separator: unescaped(settings['batch.separator'] ?? '\n'),
    },
    onNull: 'fail',
    onRejected: 'fail',
    retry: {
      statuses: parseStatuses(RETRIED_STATUSES),
      max: settings['max.retries'],
      backoff: { firstMs: settings['retry.backoff.ms'], maxMs: Math.max(settings['retry.backoff.ms'], BACKOFF_MS_MAX) },
    },
    requestsMax: 1,
  }
}

/** Converts the configuration to the connection settings of `HttpSink`. */
function connectionOf(settings: Config): ConnectionSettings {
  return {
    ...z.object(connectionFields).parse({}),
    'auth.type': settings['http.authorization.type'] === 'oauth2' ? 'OAUTH2' : 'NONE',
    'oauth2.token.url': settings['oauth2.access.token.url'],
    'oauth2.client.id': settings['oauth2.client.id'],
    'oauth2.client.secret': settings['oauth2.client.secret'],
    'oauth2.client.scope': settings['oauth2.client.scope'],
    'oauth2.client.auth.mode': settings['oauth2.client.authorization.mode'],
    'oauth2.token.property': settings['oauth2.response.token.property'],
    'http.request.timeout.ms': settings['http.timeout'] * 1000,
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\t': '\t', '\\\\': '\\' }

function unescaped(text: string): string {
  return text.replace(/\\[nrt\\]/g, (settings) => ESCAPES[settings]!)
}

function problemsOf(settings: Config) {
  const type = settings['http.authorization.type']
  const oauth2 = connectionProblems(connectionOf(settings)).map(({ key, message }) => ({
    key: key === 'oauth2.token.url' ? 'oauth2.access.token.url' : key,
    message: message
      .replace('auth.type=OAUTH2', 'http.authorization.type=oauth2')
      .replace(' oauth2.token.url', ' oauth2.access.token.url'),
  }))
  const key = 'http.headers.authorization'
  const isBare = (type === 'static' || type === 'apikey') && !settings[key]
  return [
    ...oauth2,
    ...(isBare ? [{ key, message: `http.authorization.type=${type} requires ${key}` }] : []),
    ...headerProblems('http.headers.additional', settings['http.headers.additional']),
  ]
}
