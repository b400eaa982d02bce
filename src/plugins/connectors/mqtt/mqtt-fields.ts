import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { readTls } from '../../../java-compat/connector-tls.ts'
import { field, type HostAccess, RetriableError, type TaskLog, type z } from '../../../sdk/index.ts'
import { MqttConnection, type MqttConnectionOptions, MqttRefusedError } from './mqtt-connection.ts'
import type { Qos } from './packet-writer.ts'

const BROKER_URI = /^(tcp|ssl|mqtts?):\/\/(\[[\da-fA-F:]+\]|[^/:[\]\s]+)(?::(\d{1,5}))?\/?$/

/** Configuration keys of source and sink. */
export const mqttFields = {
  'mqtt.server.uri': field
    .list({
      doc: 'Brokers as tcp://HOST:PORT or ssl://HOST:PORT, separated by commas. They are tried in order.',
      importance: 'HIGH',
      reaches: 'url',
    })
    .refine((uris) => uris.length > 0 && uris.every((uri) => BROKER_URI.test(uri)), {
      error: 'expected tcp://host:port or ssl://host:port',
    }),
  'mqtt.username': field.text({ doc: 'User name. Empty: none.', importance: 'HIGH' }).default(''),
  'mqtt.password': field.password({ doc: 'Password of mqtt.username. Empty: none.', importance: 'HIGH' }).default(''),
  'mqtt.client.id': field
    .text({
      doc: 'Client id, to which the number of the task is appended. Default: the name of the connector. The broker closes an older connection with the same id.',
    })
    .default(''),
  'mqtt.clean.session.enabled': field
    .boolean({
      doc: 'Whether the broker forgets the session at the end of a connection, and with it the messages that were not delivered.',
      importance: 'LOW',
    })
    .default(true),
  'mqtt.connect.timeout.seconds': field
    .int({ doc: 'Timeout for a connection, in seconds.', importance: 'LOW', min: 1, max: 86_400 })
    .default(30),
  'mqtt.keepalive.interval.seconds': field
    .int({
      doc: 'Maximum interval between packets to the broker, in seconds.',
      importance: 'LOW',
      min: 1,
      max: 65_535,
    })
    .default(60),
  'mqtt.ssl.trust.store.path': field
    .path({ doc: 'File with trusted certificates, in PEM or PKCS#12 format. Default: the certificates of the system.' })
    .default(''),
  'mqtt.ssl.trust.store.password': field.password({ doc: 'Password of the truststore.' }).default(''),
  'mqtt.ssl.key.store.path': field
    .path({ doc: 'File with the certificate and private key of the client, in PEM or PKCS#12 format.' })
    .default(''),
  'mqtt.ssl.key.store.password': field.password({ doc: 'Password of the keystore.' }).default(''),
  'mqtt.ssl.key.password': field.password({ doc: 'Password of the private key.' }).default(''),
} as const

export type MqttSettings = z.infer<z.ZodObject<typeof mqttFields>>

/** Keys of the originals that set nothing here. */
export const MQTT_WITHOUT_EFFECT = [
  'max.retry.time.ms',
  'records.buffer.queue.size',
  'records.buffer.queue.max.batch.size',
]

/** Patterns of keys that are known, and set nothing. */
export const MQTT_KNOWN_KEYS = [
  ...MQTT_WITHOUT_EFFECT.map((key) => key.replaceAll('.', '\\.')),
  'confluent\\.license',
  'confluent\\.topic(\\..*)?',
  'records\\.buffer\\.queue\\..*',
]

/** Logs the keys of the configuration that have no effect. */
export function logKeysWithoutEffect(raw: Readonly<Record<string, string>>, log: TaskLog): void {
  const keys = MQTT_WITHOUT_EFFECT.filter((key) => raw[key] !== undefined)
  if (keys.length > 0) log.info({ keys }, 'these keys have no effect')
}

export function qosField(doc: string) {
  return field.int({ doc, min: 0, max: 2 }).transform((qos) => qos as Qos)
}

/**
 * Connects to the first broker that accepts the client. Rejects with a `RetriableError` if one may accept it later, and with an
 * `Error` if one refuses it.
 */
export async function openMqttConnection(
  settings: MqttSettings,
  {
    connector,
    task,
    onMessage,
    ...access
  }: HostAccess &
    Pick<MqttConnectionOptions, 'onMessage'> & {
      readonly connector: string
      readonly task: number
    },
): Promise<MqttConnection> {
  const options: MqttConnectionOptions = {
    clientId: `${settings['mqtt.client.id'] || connector}-${task}`,
    isClean: settings['mqtt.clean.session.enabled'],
    keepAliveSeconds: settings['mqtt.keepalive.interval.seconds'],
    user: settings['mqtt.username'] || undefined,
    // MQTT allows a password only with a user name.
    password: settings['mqtt.username'] === '' ? undefined : settings['mqtt.password'] || undefined,
    connectTimeoutMs: settings['mqtt.connect.timeout.seconds'] * 1000,
    onMessage,
  }
  const failures: Error[] = []
  for (const uri of settings['mqtt.server.uri']) {
    try {
      return await MqttConnection.open(openBrokerSocket(uri, settings, access), options)
    } catch (error) {
      const message = `${uri}: ${(error as Error).message}`
      const isPermanent = error instanceof MqttRefusedError || (error as { code?: unknown }).code === 'not_allowed'
      if (isPermanent) throw new Error(message, { cause: error })
      failures.push(new Error(message, { cause: error }))
    }
  }
  throw new RetriableError(failures.map(({ message }) => message).join('; '), { cause: failures[0] })
}

function openBrokerSocket(uri: string, settings: MqttSettings, { files, network }: HostAccess): Socket {
  const [, scheme, name = '', port] = BROKER_URI.exec(uri)!
  const isTls = scheme === 'ssl' || scheme === 'mqtts'
  const host = name.replace(/^\[|\]$/g, '')
  const number = Number(port ?? (isTls ? 8883 : 1883))
  const place = { host, port: number, ...network.connectOptions(host, number) }
  if (!isTls) return connectPlain({ ...place, noDelay: true })
  return connectTls({
    ...place,
    ...(isIP(host) === 0 && { servername: host }),
    ...readTls('', sslKeys(settings), files),
  })
}

/** The keys of the original by the names that Kafka has for them. */
function sslKeys(settings: MqttSettings): Readonly<Record<string, unknown>> {
  const names = {
    'ssl.truststore.location': 'mqtt.ssl.trust.store.path',
    'ssl.truststore.password': 'mqtt.ssl.trust.store.password',
    'ssl.keystore.location': 'mqtt.ssl.key.store.path',
    'ssl.keystore.password': 'mqtt.ssl.key.store.password',
    'ssl.key.password': 'mqtt.ssl.key.password',
  } as const
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, key]) => (settings[key] === '' ? [] : [[name, settings[key]]])),
  )
}

/** Rows of the table of keys and values of the originals, for source and sink. */
export const MQTT_KEY_NOTES = `| \`confluent.license\`, \`confluent.topic.*\` | without effect: there is no license |
| \`max.retry.time.ms\` | without effect: a connection is opened again until the task is stopped |
| \`ws://\` and \`wss://\` | rejected: use the TCP listener of the broker |
| JKS stores | rejected: convert them to PKCS#12 or PEM |`
