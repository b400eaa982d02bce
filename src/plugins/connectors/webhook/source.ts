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
/** How long a batch is waited for before «nothing now» is said. */
const IDLE_MS = 500

const LISTENER = /^(https?):\/\/(\[[\da-fA-F:]+\]|[^/:[\]]+):(\d{1,5})$/

const config = z
  .object({
    topic: field.text({ doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true }),
    listener: field
      .text({
        reaches: 'listener',
        doc: 'Where to listen: http://HOST:PORT, or https://HOST:PORT with a keystore. Port 0: any free one.',
        importance: 'HIGH',
      })
      .regex(LISTENER, 'expected http://host:port or https://host:port')
      .default('http://127.0.0.1:8088'),
    path: field
      .text({ doc: 'The path that takes records.', importance: 'HIGH' })
      .regex(/^\/[^?#\s]*$/, 'expected a path such as /events')
      .default('/'),
    'value.format': field
      .oneOf(['string', 'json', 'bytes'], {
        doc: 'What a body is: a text, JSON (what is none is refused with 400), or bytes as they are.',
        importance: 'HIGH',
      })
      .default('string'),
    'key.header': field
      .text({ doc: "The request's header that is the record's key; requests without it have none." })
      .default('Idempotency-Key'),
    'record.headers': field.list({ doc: 'Headers of the request that become headers of the record.' }).default([]),
    'auth.type': field
      .oneOf(['NONE', 'BASIC', 'BEARER', 'HMAC'], {
        doc: 'How senders show that they may: connection.user and connection.password, bearer.token, or a signature.',
        importance: 'HIGH',
      })
      .default('NONE'),
    'connection.user': field.text({ doc: 'With BASIC: the user.' }).optional(),
    'connection.password': field.password({ doc: 'With BASIC: the password.' }).optional(),
    'bearer.token': field.password({ doc: 'With BEARER: the token.' }).optional(),
    'signature.secret': field.password({ doc: 'With HMAC: the secret that bodies are signed with.' }).optional(),
    'signature.header': field
      .text({ doc: 'With HMAC: the header that holds the signature.', nonEmpty: true })
      .default('X-Hub-Signature-256'),
    'signature.algorithm': field
      .oneOf(['sha1', 'sha256', 'sha512'], { doc: 'With HMAC: the hash.', importance: 'LOW' })
      .default('sha256'),
    'signature.encoding': field
      .oneOf(['hex', 'base64'], { doc: 'With HMAC: how the signature is written.', importance: 'LOW' })
      .default('hex'),
    'signature.prefix': field
      .text({ doc: 'With HMAC: what stands in front of the signature.', importance: 'LOW' })
      .default('sha256='),
    'body.max.bytes': field.int({ doc: 'Longer bodies are refused with 413.', min: 1 }).default(1_000_000),
    'pending.max.requests': field
      .int({ doc: 'Requests that wait for their answer, at most; others get 503 and a Retry-After.', min: 1 })
      .default(1000),
    'pending.max.bytes': field.int({ doc: 'The same for the bytes of their bodies.', min: 1 }).default(64_000_000),
    'answer.timeout.ms': field
      .int({
        doc: 'After so many ms a request that is not there in whole is answered 408, and one whose record is not in the log yet 503.',
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

/** An HTTP endpoint as a source: a request is answered when its record is in the log. */
export const webhookSource = defineSource({
  class: 'WebhookSource',
  version: SHIPPED_VERSION,
  summary: 'Takes records by HTTP, and answers each request when its record is in the log.',
  notes: `
**Who was answered 2xx has the record in the log; who got another answer, or none, may send it again, and then it can be there
twice.** 204: it is written (or a transform dropped it, or it is with the dead letters). 400, 404, 405, 413: it never will be.
401: the credentials or the signature are wrong. 503 with \`Retry-After\`: too much is waiting, or the log does not answer. Senders
that may repeat themselves name each request in \`Idempotency-Key\`: it is the record's key, so that a compacted topic or a reader
can tell repetitions.

The endpoint is where its one task runs, on the worker's machine, and moves with it: put a Service in front of the workers, or one
worker into the group. The source has no position: \`{"path": PATH}\` counts its requests.
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
    // The task that was here before may be about to leave.
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
