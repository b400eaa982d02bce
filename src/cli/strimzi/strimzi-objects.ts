import { z } from 'zod'
import { UserError } from '../../common/errors.ts'

/** The fields of Strimzi's resources that Weir reads; they are equal in `v1beta2` and `v1`. */

const listener = z.object({
  name: z.string(),
  type: z.string().optional(),
  tls: z.boolean().default(false),
  authentication: z.object({ type: z.string() }).optional(),
})
const listenerStatus = z.object({
  name: z.string(),
  bootstrapServers: z.string().optional(),
  certificates: z.array(z.string()).default([]),
})
const kafka = z.object({
  spec: z.object({ kafka: z.object({ listeners: z.array(listener).default([]) }) }),
  status: z.object({ listeners: z.array(listenerStatus).default([]) }).default({ listeners: [] }),
})
const kafkaUser = z.object({
  spec: z.object({ authentication: z.object({ type: z.string() }).optional() }).default({}),
  status: z.object({ username: z.string().optional(), secret: z.string().optional() }).default({}),
})

type KafkaListener = z.infer<typeof listener>
export type StrimziKafka = z.infer<typeof kafka>
type StrimziUser = z.infer<typeof kafkaUser>
/** The data of a Secret, decoded. */
export type SecretKeys = Readonly<Record<string, string>>

export const parseKafka = (object: unknown, name: string): StrimziKafka => parse(kafka, object, `Kafka ${name}`)
export const parseUser = (object: unknown, name: string): StrimziUser => parse(kafkaUser, object, `KafkaUser ${name}`)

function parse<T>(type: z.ZodType<T>, object: unknown, what: string): T {
  const parsed = type.safeParse(object)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UserError('invalid_kafka_reference', `${what}: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** How a client connects to a listener. */
export type ListenerClient = {
  readonly listener: string
  readonly bootstrap: string
  readonly hasTls: boolean
  /** The credentials that the Secret of the user has; undefined: none. */
  readonly login: 'tls' | 'scram-sha-512' | undefined
}

const LOGINS = ['tls', 'scram-sha-512'] as const

/**
 * The listener with this name, else the one whose authentication is that of the user: rather an internal one, and rather one with TLS.
 * Throws a `UserError` if there is none, or no single one.
 */
export function chooseListener(kafka: StrimziKafka, user: StrimziUser | undefined, named?: string): ListenerClient {
  const listeners = kafka.spec.kafka.listeners
  const kind = user?.spec.authentication?.type
  const login = LOGINS.find((one) => one === kind)
  const names = listeners.map(describeListener).join(', ')
  const chosen =
    named === undefined
      ? bestOf(
          listeners.filter(({ authentication }) => authentication?.type === kind),
          names,
          kind,
        )
      : listeners.find(({ name }) => name === named)
  if (chosen === undefined)
    throw invalid(`--kafka-listener ${named}: the Kafka has no listener of this name, but ${names || 'none'}`)
  const required = LOGINS.find((one) => one === chosen.authentication?.type)
  if (required !== undefined && required !== login)
    throw invalid(
      `the listener '${chosen.name}' requires the authentication ${required}, and ${kind === undefined ? 'no KafkaUser with credentials is given: add --kafka-user-ref' : `the KafkaUser has ${kind}`}`,
    )
  const bootstrap = kafka.status.listeners.find(({ name }) => name === chosen.name)?.bootstrapServers
  if (!bootstrap)
    throw invalid(
      `the listener '${chosen.name}' has no address in the status of the Kafka: Strimzi has not created it yet`,
    )
  return { listener: chosen.name, bootstrap, hasTls: chosen.tls, login: required }
}

function bestOf(candidates: readonly KafkaListener[], names: string, kind: string | undefined): KafkaListener {
  const rank = ({ type, tls }: KafkaListener) => (type === 'internal' ? 2 : 0) + (tls ? 1 : 0)
  const best = candidates.filter((one) => rank(one) === Math.max(...candidates.map(rank)))
  if (best.length === 1) return best[0]!
  const expected = kind === undefined ? 'without authentication' : `with the authentication ${kind}`
  throw invalid(
    best.length === 0
      ? `the Kafka has no listener ${expected}, but ${names || 'none'}: give --kafka-user-ref with a KafkaUser of such an authentication, or --kafka-listener`
      : `the Kafka has several listeners ${expected}: give --kafka-listener with one of ${best.map(({ name }) => name).join(', ')}`,
  )
}

function describeListener({ name, authentication }: KafkaListener): string {
  return `${name} (${authentication?.type ?? 'no authentication'})`
}

/** The files of a client, by name, and their content. Throws a `UserError` if a Secret lacks a key. */
export function clientFiles(
  { listener, hasTls, login }: ListenerClient,
  { kafka, ca, user }: { readonly kafka: StrimziKafka; readonly ca: SecretKeys; readonly user: SecretKeys },
): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  if (hasTls) {
    // While Strimzi replaces the key of the CA, brokers have certificates of both: the Secret has the previous ones as well.
    const own = kafka.status.listeners.find(({ name }) => name === listener)?.certificates ?? []
    const trusted = [...own, ...Object.entries(ca).flatMap(([key, pem]) => (key.endsWith('.crt') ? [pem] : []))]
    if (trusted.length === 0)
      throw invalid('neither the status of the Kafka nor the Secret of its CA has a certificate')
    files.set(CA_FILE, [...new Set(trusted.map((pem) => pem.trim()))].join('\n').concat('\n'))
  }
  if (login === 'tls')
    files.set(KEYSTORE_FILE, `${keyOf(user, 'user.key').trim()}\n${keyOf(user, 'user.crt').trim()}\n`)
  if (login === 'scram-sha-512') files.set(PASSWORD_FILE, keyOf(user, 'password'))
  return files
}

const CA_FILE = 'ca.crt'
const KEYSTORE_FILE = 'user.pem'
const PASSWORD_FILE = 'password'

/** The settings of Kafka's clients. `pathOf`: the path of one of the files. */
export function settingsOf(
  { hasTls, login }: ListenerClient,
  username: string,
  pathOf: (file: string) => string,
): Readonly<Record<string, string>> {
  const scram = login === 'scram-sha-512'
  return {
    'security.protocol': `${scram ? 'SASL_' : ''}${hasTls ? 'SSL' : 'PLAINTEXT'}`,
    ...(hasTls && { 'ssl.truststore.location': pathOf(CA_FILE), 'ssl.truststore.type': 'PEM' }),
    ...(login === 'tls' && { 'ssl.keystore.location': pathOf(KEYSTORE_FILE), 'ssl.keystore.type': 'PEM' }),
    ...(scram && {
      'sasl.mechanism': 'SCRAM-SHA-512',
      'sasl.username': username,
      'sasl.password.location': pathOf(PASSWORD_FILE),
    }),
  }
}

function keyOf(secret: SecretKeys, key: string): string {
  const value = secret[key]
  if (value) return value
  throw invalid(`the Secret of the KafkaUser has no key ${key}`)
}

function invalid(message: string): UserError {
  return new UserError('invalid_kafka_reference', message)
}
