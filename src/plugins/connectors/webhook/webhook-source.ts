import { isUtf8 } from 'node:buffer'
import { JSON_DEPTH_MAX, JsonStructure } from '../../../common/json-structure.ts'
import { readTls } from '../../../java-compat/connector-tls.ts'
import { parseExact, plainValue } from '../../../java-compat/json/connect-json-reader.ts'
import {
  type ConfigProblem,
  defineSource,
  field,
  type HostAccess,
  RetriableError,
  type Schema,
  type SourceRecord,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import {
  type Authenticator,
  basicAuthenticator,
  bearerAuthenticator,
  NO_AUTHENTICATION,
  signatureAuthenticator,
} from './authenticator.ts'
import { type PendingRequest, Receiver, type ReceiverOptions } from './request-receiver.ts'

const BATCH_MAX = 500
/** Maximum wait for a batch before an empty one is yielded. */
const IDLE_MS = 500

const LISTENER = /^(https?):\/\/(\[[\da-fA-F:]+\]|[^/:[\]]+):(\d{1,5})$/

const config = z
  .object({
    topic: field.text({ reaches: 'written topic', doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    listener: field
      .text({
        reaches: 'listener',
        doc: 'Address to listen on: http://HOST:PORT, or https://HOST:PORT, which requires a keystore. Port 0: any free port.',
        importance: 'HIGH',
      })
      .regex(LISTENER, 'expected http://host:port or https://host:port')
      .default('http://127.0.0.1:8088'),
    path: field
      .text({ doc: 'Path of the URL at which records are accepted.', importance: 'HIGH' })
      .regex(/^\/[^?#\s]*$/, 'expected a path such as /events')
      .default('/'),
    'value.format': field
      .oneOf(['string', 'json', 'bytes'], {
        doc: 'Format of request bodies: string, JSON (invalid JSON is rejected with 400), or bytes.',
        importance: 'HIGH',
      })
      .default('string'),
    'key.header': field
      .text({
        doc: 'Request header whose value becomes the key of the record. A record of a request without it has no key.',
      })
      .default('Idempotency-Key'),
    'record.headers': field.list({ doc: 'Request headers that are added to the headers of the record.' }).default([]),
    'auth.type': field
      .oneOf(['NONE', 'BASIC', 'BEARER', 'HMAC'], {
        doc: 'Authentication of senders: by connection.user and connection.password, by bearer.token, or by a signature of the body.',
        importance: 'HIGH',
      })
      .default('NONE'),
    'connection.user': field.text({ doc: 'User name for auth.type=BASIC.' }).optional(),
    'connection.password': field.password({ doc: 'Password for auth.type=BASIC.' }).optional(),
    'bearer.token': field.password({ doc: 'Token for auth.type=BEARER.' }).optional(),
    'signature.secret': field.password({ doc: 'Secret with which bodies are signed, for auth.type=HMAC.' }).optional(),
    'signature.header': field
      .text({ doc: 'Request header that contains the signature, for auth.type=HMAC.', nonEmpty: true })
      .default('X-Hub-Signature-256'),
    'signature.algorithm': field
      .oneOf(['sha1', 'sha256', 'sha512'], { doc: 'Hash algorithm for auth.type=HMAC.', importance: 'LOW' })
      .default('sha256'),
    'signature.encoding': field
      .oneOf(['hex', 'base64'], { doc: 'Encoding of the signature, for auth.type=HMAC.', importance: 'LOW' })
      .default('hex'),
    'signature.prefix': field
      .text({ doc: 'Prefix of the signature in the header, for auth.type=HMAC.', importance: 'LOW' })
      .default('sha256='),
    'body.max.bytes': field
      .int({ doc: 'Maximum size of a body in bytes. Larger bodies are rejected with 413.', min: 1 })
      .default(1_000_000),
    'pending.max.requests': field
      .int({
        doc: 'Maximum number of pending requests. Further requests are rejected with 503 and Retry-After.',
        min: 1,
      })
      .default(1000),
    'pending.max.bytes': field
      .int({ doc: 'Maximum total size of the bodies of pending requests, in bytes.', min: 1 })
      .default(64_000_000),
    'answer.timeout.ms': field
      .int({
        doc: 'Timeout in ms. A request that is not complete by then is rejected with 408, a request whose record is not yet stored in Kafka with 503.',
        min: 1,
      })
      .default(30_000),
    'https.ssl.keystore.location': field
      .path({ doc: 'File with the certificate and private key for https, in PEM or PKCS#12 format.' })
      .optional(),
    'https.ssl.keystore.password': field.password({ doc: 'Password of the keystore.' }).optional(),
  })
  .superRefine((settings, context) => {
    for (const { key, message } of problemsOf(settings)) field.addProblem(context, key, message)
  })

type Config = z.infer<typeof config>

/** An HTTP endpoint that responds to a request after its record was written to the topic. */
export const webhookSource = defineSource({
  class: 'WebhookSource',
  version: SHIPPED_VERSION,
  summary: 'Receives records by HTTP and responds to each request after its record is stored in Kafka.',
  notes: `
**After a 2xx response, the record is stored in Kafka. After any other response, or none, the sender may retry the request, and the record
can then be stored twice.** 204: the record is written (or a transform dropped it, or it was sent to the dead-letter queue). 400, 404, 405, 413:
the request will never be accepted. 401: the credentials or the signature are wrong. 503 with \`Retry-After\`: too many requests are pending,
or Kafka does not respond. A sender that retries should identify each request by \`Idempotency-Key\`: it becomes the key of the record, so
that a compacted topic or a consumer can detect duplicates.

The endpoint runs in one task, on the machine of its worker, and moves with it: put a Service in front of the workers, or use a group of
one worker. The offset of \`{"path": PATH}\` is the number of requests; it has no other meaning.
`,
  config,
  async *poll({ config: settings, signal, resumeFrom, onStored, log, files, network }) {
    const pending = new Map<SourceRecord, PendingRequest>()
    onStored((records) => {
      for (const record of records) {
        pending.get(record)?.respond(204)
        pending.delete(record)
      }
    })
    const toRecord = recordMaker(settings, Number(resumeFrom({ path: settings.path })?.['requests'] ?? 0))
    await using receiver = await openReceiver(settings, { files, network })
    log.info({ listener: settings.listener, port: receiver.port, path: settings.path }, 'the webhook is listening')
    yield []
    while (!signal.aborted) {
      const requests = await receiver.take(BATCH_MAX, IDLE_MS, signal)
      yield requests.map((request) => {
        const record = toRecord(request)
        pending.set(record, request)
        return record
      })
    }
  },
})

function recordMaker(settings: Config, before: number): (request: PendingRequest) => SourceRecord {
  const { topic, path, 'key.header': keyHeader, 'record.headers': names } = settings
  const { read, schema } = FORMATS[settings['value.format']]
  const sourcePartition = { path }
  let requests = before
  return ({ headers, body, receivedMs }) => {
    requests += 1
    const key = headers[keyHeader.toLowerCase()] ?? null
    return {
      topic,
      key: key === null ? null : String(key),
      keySchema: key === null ? null : STRING,
      value: read(body),
      valueSchema: schema,
      headers: names.flatMap((name) => {
        const value = headers[name.toLowerCase()]
        return value === undefined ? [] : [{ key: name, value: String(value), schema: STRING }]
      }),
      timestampMs: receivedMs,
      sourcePartition,
      sourceOffset: { requests },
    }
  }
}

type Format = { readonly schema: Schema | null; readonly read: (body: Buffer) => unknown }

const FORMATS: Readonly<Record<Config['value.format'], Format>> = {
  string: { schema: STRING, read: textOf },
  json: { schema: null, read: jsonOf },
  bytes: { schema: { type: 'bytes' }, read: (body) => body },
}

function jsonOf(body: Buffer): unknown {
  const text = textOf(body)
  // Deeper values could not be converted, and would fail the task.
  if (new JsonStructure().add(body) !== undefined)
    throw new Error(`the JSON is nested more than ${JSON_DEPTH_MAX} levels deep`)
  return plainValue(parseExact(text))
}

function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString()
  throw new Error('the body is not valid UTF-8')
}

async function openReceiver(settings: Config, { files, network }: HostAccess): Promise<Receiver> {
  const [, scheme, host = '', port] = LISTENER.exec(settings.listener)!
  network.checkListener(host, Number(port))
  const options: ReceiverOptions = {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    tls: scheme === 'https' ? readTls('https.', settings, files) : undefined,
    path: settings.path,
    authenticator: authenticatorOf(settings),
    bodyBytesMax: settings['body.max.bytes'],
    pendingBytesMax: settings['pending.max.bytes'],
    pendingMax: settings['pending.max.requests'],
    responseTimeoutMs: settings['answer.timeout.ms'],
    check: FORMATS[settings['value.format']].read,
  }
  try {
    return await Receiver.open(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // The previous instance of this task may still be shutting down.
    if (code === 'EADDRINUSE') {
      throw new RetriableError(`${settings.listener} is in use by another program or task: choose another port`, {
        cause: error,
      })
    }
    throw new Error(`cannot listen at ${settings.listener}: ${message}`, { cause: error })
  }
}

function authenticatorOf(settings: Config): Authenticator {
  switch (settings['auth.type']) {
    case 'NONE':
      return NO_AUTHENTICATION
    case 'BASIC':
      return basicAuthenticator(settings['connection.user']!, settings['connection.password']!)
    case 'BEARER':
      return bearerAuthenticator(settings['bearer.token']!)
    case 'HMAC':
      return signatureAuthenticator({
        secret: settings['signature.secret']!,
        header: settings['signature.header'].toLowerCase(),
        algorithm: settings['signature.algorithm'],
        encoding: settings['signature.encoding'],
        prefix: settings['signature.prefix'],
      })
  }
}

const NEEDS: Readonly<Record<Config['auth.type'], readonly (keyof Config)[]>> = {
  NONE: [],
  BASIC: ['connection.user', 'connection.password'],
  BEARER: ['bearer.token'],
  HMAC: ['signature.secret'],
}

function problemsOf(settings: Config): readonly ConfigProblem[] {
  const type = settings['auth.type']
  const missing = NEEDS[type].filter((key) => !settings[key])
  const isBare = settings.listener.startsWith('https:') && !settings['https.ssl.keystore.location']
  return [
    ...missing.map((key) => ({ key, message: `auth.type=${type} requires ${key}` })),
    ...(isBare
      ? [{ key: 'https.ssl.keystore.location', message: 'an https listener requires https.ssl.keystore.location' }]
      : []),
  ]
}
