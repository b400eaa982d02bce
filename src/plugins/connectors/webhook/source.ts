import { isUtf8 } from 'node:buffer'
import { readTls } from '../../../java-compat/ssl-fields.ts'
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
import { SHIPPED_VERSION } from '../../version.ts'
import {
  type Authenticator,
  basicAuthenticator,
  bearerAuthenticator,
  NO_AUTHENTICATION,
  signatureAuthenticator,
} from './authenticator.ts'
import { type PendingRequest, Receiver, type ReceiverOptions } from './receiver.ts'

const BATCH_MAX = 500
/** Maximum wait for a batch before an empty one is yielded. */
const IDLE_MS = 500

const LISTENER = /^(https?):\/\/(\[[\da-fA-F:]+\]|[^/:[\]]+):(\d{1,5})$/

const config = z
  .object({
    topic: field.text({ doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    listener: field
      .text({
        reaches: 'listener',
        doc: 'Address to listen on: http://HOST:PORT, or https://HOST:PORT with a keystore. Port 0: any free port.',
        importance: 'HIGH',
      })
      .regex(LISTENER, 'expected http://host:port or https://host:port')
      .default('http://127.0.0.1:8088'),
    path: field
      .text({ doc: 'Path that accepts records.', importance: 'HIGH' })
      .regex(/^\/[^?#\s]*$/, 'expected a path such as /events')
      .default('/'),
    'value.format': field
      .oneOf(['string', 'json', 'bytes'], {
        doc: 'Format of a body: string, JSON (invalid JSON is refused with 400), or bytes.',
        importance: 'HIGH',
      })
      .default('string'),
    'key.header': field
      .text({ doc: 'Request header that becomes the key of the record. Requests without it have no key.' })
      .default('Idempotency-Key'),
    'record.headers': field.list({ doc: 'Request headers that become headers of the record.' }).default([]),
    'auth.type': field
      .oneOf(['NONE', 'BASIC', 'BEARER', 'HMAC'], {
        doc: 'How senders are authenticated: by connection.user and connection.password, by bearer.token, or by a signature of the body.',
        importance: 'HIGH',
      })
      .default('NONE'),
    'connection.user': field.text({ doc: 'User for auth.type=BASIC.' }).optional(),
    'connection.password': field.password({ doc: 'Password for auth.type=BASIC.' }).optional(),
    'bearer.token': field.password({ doc: 'Token for auth.type=BEARER.' }).optional(),
    'signature.secret': field.password({ doc: 'Secret that signs bodies, for auth.type=HMAC.' }).optional(),
    'signature.header': field
      .text({ doc: 'Header with the signature, for auth.type=HMAC.', nonEmpty: true })
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
      .int({ doc: 'Maximum size of a body. Larger bodies are refused with 413.', min: 1 })
      .default(1_000_000),
    'pending.max.requests': field
      .int({ doc: 'Maximum number of pending requests. Further requests get 503 with Retry-After.', min: 1 })
      .default(1000),
    'pending.max.bytes': field
      .int({ doc: 'Maximum total size of the bodies of pending requests.', min: 1 })
      .default(64_000_000),
    'answer.timeout.ms': field
      .int({
        doc: 'Timeout in ms. A request that is incomplete by then gets 408, one whose record is not yet in the log gets 503.',
        min: 1,
      })
      .default(30_000),
    'https.ssl.keystore.location': field.path({ doc: 'Certificate and key, PEM or PKCS#12, with https.' }).optional(),
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
  summary: 'Accepts records by HTTP and responds to each request when its record is in the log.',
  notes: `
**After a 2xx response the record is in the log. After any other response, or none, the sender may repeat the request, and the record can
then be in the log twice.** 204: the record is written (or a transform dropped it, or it is in the dead-letter topic). 400, 404, 405, 413:
the request will never be accepted. 401: the credentials or the signature are wrong. 503 with \`Retry-After\`: too many requests are pending,
or the log does not respond. Senders that may repeat themselves identify each request by \`Idempotency-Key\`: it becomes the key of the
record, so that a compacted topic or a consumer can recognize repetitions.

The endpoint runs in one task, on the machine of its worker, and moves with it: put a Service in front of the workers, or use a group of
one worker. The source has no position: \`{"path": PATH}\` counts its requests.
`,
  config,
  async *poll({ config: written, signal, resumeFrom, onStored, log, files, network }) {
    const onItsWay = new Map<SourceRecord, PendingRequest>()
    onStored((records) => {
      for (const record of records) {
        onItsWay.get(record)?.answer(204)
        onItsWay.delete(record)
      }
    })
    const toRecord = recordMaker(written, Number(resumeFrom({ path: written.path })?.['requests'] ?? 0))
    await using receiver = await open(written, { files, network })
    log.info({ listener: written.listener, port: receiver.port, path: written.path }, 'the webhook is listening')
    yield []
    while (!signal.aborted) {
      const requests = await receiver.take(BATCH_MAX, IDLE_MS, signal)
      yield requests.map((request) => {
        const record = toRecord(request)
        onItsWay.set(record, request)
        return record
      })
    }
  },
})

function recordMaker(written: Config, before: number): (request: PendingRequest) => SourceRecord {
  const { topic, path, 'key.header': keyHeader, 'record.headers': names } = written
  const { read, schema } = FORMATS[written['value.format']]
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
  json: { schema: null, read: (body) => JSON.parse(textOf(body)) as unknown },
  bytes: { schema: { type: 'bytes' }, read: (body) => body },
}

function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString()
  throw new Error('the body is no UTF-8 text')
}

async function open(written: Config, { files, network }: HostAccess): Promise<Receiver> {
  const [, scheme, host = '', port] = LISTENER.exec(written.listener)!
  network.checkListener(host, Number(port))
  const options: ReceiverOptions = {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    tls: scheme === 'https' ? readTls('https.', written, files) : undefined,
    path: written.path,
    gate: gateOf(written),
    bodyBytesMax: written['body.max.bytes'],
    waitingBytesMax: written['pending.max.bytes'],
    waitingMax: written['pending.max.requests'],
    answerTimeoutMs: written['answer.timeout.ms'],
    check: FORMATS[written['value.format']].read,
  }
  try {
    return await Receiver.open(options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // The previous instance of this task may still be shutting down.
    if (code === 'EADDRINUSE') {
      throw new RetriableError(`${written.listener} is taken by another program or task: choose another port`, {
        cause: error,
      })
    }
    throw new Error(`cannot listen at ${written.listener}: ${message}`, { cause: error })
  }
}

function gateOf(written: Config): Authenticator {
  switch (written['auth.type']) {
    case 'NONE':
      return NO_AUTHENTICATION
    case 'BASIC':
      return basicAuthenticator(written['connection.user']!, written['connection.password']!)
    case 'BEARER':
      return bearerAuthenticator(written['bearer.token']!)
    case 'HMAC':
      return signatureAuthenticator({
        secret: written['signature.secret']!,
        header: written['signature.header'].toLowerCase(),
        algorithm: written['signature.algorithm'],
        encoding: written['signature.encoding'],
        prefix: written['signature.prefix'],
      })
  }
}

const NEEDS: Readonly<Record<Config['auth.type'], readonly (keyof Config)[]>> = {
  NONE: [],
  BASIC: ['connection.user', 'connection.password'],
  BEARER: ['bearer.token'],
  HMAC: ['signature.secret'],
}

function problemsOf(written: Config): readonly ConfigProblem[] {
  const type = written['auth.type']
  const missing = NEEDS[type].filter((key) => !written[key])
  const isBare = written.listener.startsWith('https:') && !written['https.ssl.keystore.location']
  return [
    ...missing.map((key) => ({ key, message: `auth.type=${type} needs ${key}` })),
    ...(isBare
      ? [{ key: 'https.ssl.keystore.location', message: 'an https listener needs https.ssl.keystore.location' }]
      : []),
  ]
}
