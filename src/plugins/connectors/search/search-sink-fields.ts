import { readTls } from '../../../java-compat/connector-tls.ts'
import { type ConfigProblem, field, type HostAccess, type TaskLog, type z } from '../../../sdk/index.ts'
import type { TransportTls } from '../http/transport.ts'
import { openSearchServer, type SearchServer } from './search-server.ts'
import type { DocumentId, SearchSinkSettings } from './search-sink-settings.ts'

const ms = (doc: string) => field.int({ doc, importance: 'LOW', min: 0 })

/** Configuration keys of both originals. */
export const searchSinkFields = {
  'connection.url': field
    .list({
      doc: 'URLs of nodes, separated by commas. A task uses one while it responds, then the next one.',
      importance: 'HIGH',
      reaches: 'url',
    })
    .refine((urls) => urls.length > 0 && urls.every((url) => URL.canParse(withProtocol(url))), {
      error: 'expected URLs such as https://host:9200',
    }),
  'connection.username': field.text({ doc: 'User name for basic authentication.' }).optional(),
  'connection.password': field.password({ doc: 'Password for basic authentication.' }).optional(),
  'connection.timeout.ms': ms('Timeout for establishing a connection, in ms.').default(1000),
  'read.timeout.ms': ms('Timeout of a request including the complete response, in ms.').default(3000),
  'batch.size': field.int({ doc: 'Maximum number of documents in a request.', min: 1, max: 1_000_000 }).default(2000),
  'max.in.flight.requests': field
    .int({ doc: 'Maximum number of concurrent requests of a task.', min: 1, max: 1000 })
    .default(5),
  'max.retries': field
    .int({
      doc: 'Number of consecutive failed attempts, without any document that was accepted, before the task fails.',
      importance: 'LOW',
      min: 0,
    })
    .default(5),
  'retry.backoff.ms': ms(
    'Delay before the first retry, in ms. It grows to at most one minute. A longer Retry-After takes precedence.',
  ).default(100),
  'key.ignore': field
    .boolean({
      doc: 'Whether the id of a document is not the key of its record, but its topic, partition and offset.',
      importance: 'HIGH',
    })
    .default(false),
  'topic.key.ignore': field.list({ doc: 'Topics with key.ignore=true.', importance: 'LOW' }).default([]),
  'schema.ignore': field
    .boolean({
      doc: 'Whether no mapping is created from schemas: the server derives it from documents.',
      importance: 'LOW',
    })
    .default(false),
  'topic.schema.ignore': field.list({ doc: 'Topics with schema.ignore=true.', importance: 'LOW' }).default([]),
  'compact.map.entries': field
    .boolean({
      doc: 'Whether maps with text keys are objects. Other maps are lists of objects with key and value.',
      importance: 'LOW',
    })
    .default(true),
  'drop.invalid.message': field
    .boolean({
      doc: 'Whether records that cannot be a document are logged and left out, instead of handled according to errors.tolerance.',
      importance: 'LOW',
    })
    .default(false),
} as const

type SearchSinkFields = z.infer<z.ZodObject<typeof searchSinkFields>>

/** Size of a request, if no other one is configured. Larger documents are sent alone. */
export const BULK_BYTES = 5 * 1024 * 1024
/** Maximum delay between attempts, unless the server requests a longer one. */
const BACKOFF_MS_MAX = 60_000

/** The settings that follow from the keys of both originals. */
export function commonSettings(
  config: SearchSinkFields,
): Pick<SearchSinkSettings, 'ignoresSchema' | 'compactsMaps' | 'requestsMax' | 'retry'> {
  const schemaless = new Set(config['topic.schema.ignore'])
  const firstMs = config['retry.backoff.ms']
  return {
    ignoresSchema: (topic) => config['schema.ignore'] || schemaless.has(topic),
    compactsMaps: config['compact.map.entries'],
    requestsMax: config['max.in.flight.requests'],
    retry: { max: config['max.retries'], backoff: { firstMs, maxMs: Math.max(firstMs, BACKOFF_MS_MAX) } },
  }
}

/** The id of documents of a topic, with that of topics whose keys are ignored. */
export function idOfTopics(config: SearchSinkFields, ignoring: DocumentId): (topic: string) => DocumentId {
  const keyless = new Set(config['topic.key.ignore'])
  return (topic) => (config['key.ignore'] || keyless.has(topic) ? ignoring : 'key')
}

/** Opens the server with the keys of both originals and the certificates of those with this prefix. */
export function openServer(
  config: SearchSinkFields,
  {
    prefix,
    tls,
    proxyUrl,
    compresses,
    task,
    ...access
  }: HostAccess & {
    /** Prefix of the keys `ssl.*`. */
    readonly prefix: string
    readonly tls: Pick<TransportTls, 'checkServerIdentity' | 'rejectUnauthorized'>
    readonly proxyUrl: string | undefined
    readonly compresses: boolean
    /** Number of the task. */
    readonly task: number
    readonly signal: AbortSignal
  },
): SearchServer {
  const name = config['connection.username']
  const password = config['connection.password']
  return openSearchServer(
    {
      urls: serverUrls(config['connection.url']),
      firstNode: task,
      user: name === undefined || password === undefined ? undefined : { name, password },
      compresses,
      tls: { ...readTls(prefix, config, access.files), ...tls },
      proxyUrl,
      connectTimeoutMs: config['connection.timeout.ms'],
      requestTimeoutMs: config['read.timeout.ms'],
    },
    access,
  )
}

function withProtocol(url: string): string {
  return /^https?:\/\//i.test(url) ? url : `http://${url}`
}

/** As by the originals, all connections use HTTPS if one URL does. */
function serverUrls(texts: readonly string[]): readonly string[] {
  const isHttps = texts.some((text) => /^https:/i.test(text))
  return texts.map((text) => {
    const url = withProtocol(text).replace(/\/+$/, '')
    return isHttps ? url.replace(/^http:/i, 'https:') : url
  })
}

/** Problems that involve several keys of both originals. */
export function commonProblems(config: SearchSinkFields): readonly ConfigProblem[] {
  const both = (all: 'key.ignore' | 'schema.ignore', topics: 'topic.key.ignore' | 'topic.schema.ignore') =>
    config[all] && config[topics].length > 0
      ? [{ key: topics, message: `${topics} cannot be set with ${all}=true, which applies to all topics` }]
      : []
  const isHalf = (config['connection.username'] === undefined) !== (config['connection.password'] === undefined)
  return [
    ...both('key.ignore', 'topic.key.ignore'),
    ...both('schema.ignore', 'topic.schema.ignore'),
    ...(isHalf
      ? [{ key: 'connection.username', message: 'connection.username and connection.password must be set together' }]
      : []),
  ]
}

/** A key of an original that is rejected with the reason. */
export function rejectedField(doc: string) {
  return field
    .text({ doc: `Rejected: ${doc}.`, importance: 'LOW' })
    .refine(() => false, { error: doc })
    .optional()
}

/** Whether rejected records of the task are stored in a dead-letter queue. */
export function hasDeadLetters(raw: Readonly<Record<string, string>>): boolean {
  return raw['errors.tolerance'] === 'all' && Boolean(raw['errors.deadletterqueue.topic.name'])
}

/** Logs the keys of the configuration that have no effect. */
export function logWithoutEffect(keys: readonly string[], raw: Readonly<Record<string, string>>, log: TaskLog): void {
  const ignored = keys.filter((key) => raw[key] !== undefined)
  if (ignored.length > 0) log.info({ keys: ignored }, 'these keys have no effect')
}
