/** Quality of service: at most once, at least once, exactly once between client and broker. */
export type Qos = 0 | 1 | 2

export type MqttClientOptions = {
  readonly clientId: string
  readonly isClean: boolean
  readonly keepAliveSeconds: number
  readonly user: string | undefined
  readonly password: string | undefined
}

export type PublishOptions = {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: Qos
  readonly isRetained: boolean
  /** For QoS 1 and 2. */
  readonly id: number
}

/** Types of packets, in the upper half of their first byte. */
export const PACKET = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  suback: 9,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
} as const

/** Version 3.1.1. */
const PROTOCOL_LEVEL = 4
const FLAGS = { clean: 0x02, password: 0x40, user: 0x80 }
const LENGTH_MAX = 268_435_455
/** Maximum size of a topic and of other texts. */
export const TEXT_BYTES_MAX = 65_535

export function connectPacket({ clientId, isClean, keepAliveSeconds, user, password }: MqttClientOptions): Buffer {
  const flags =
    (isClean ? FLAGS.clean : 0) | (user === undefined ? 0 : FLAGS.user) | (password === undefined ? 0 : FLAGS.password)
  const body = [text('MQTT'), Buffer.from([PROTOCOL_LEVEL, flags]), uint16(keepAliveSeconds), text(clientId)]
  if (user !== undefined) body.push(text(user))
  if (password !== undefined) body.push(text(password))
  return packet(PACKET.connect, 0, body)
}

export function publishPacket({ topic, payload, qos, isRetained, id }: PublishOptions): Buffer {
  const flags = (qos << 1) | (isRetained ? 1 : 0)
  return packet(PACKET.publish, flags, [text(topic), ...(qos === 0 ? [] : [uint16(id)]), payload])
}

export function subscribePacket(id: number, filters: readonly string[], qos: Qos): Buffer {
  return packet(PACKET.subscribe, 2, [uint16(id), ...filters.flatMap((filter) => [text(filter), Buffer.from([qos])])])
}

/** `puback`, `pubrec`, `pubrel` or `pubcomp`. */
export function acknowledgement(type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp', id: number): Buffer {
  return packet(PACKET[type], type === 'pubrel' ? 2 : 0, [uint16(id)])
}

export function emptyPacket(type: 'pingreq' | 'disconnect'): Buffer {
  return packet(PACKET[type], 0, [])
}

function packet(type: number, flags: number, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, { length: bytes }) => sum + bytes, 0)
  if (length > LENGTH_MAX) throw new RangeError(`a packet of ${length} bytes is larger than MQTT allows`)
  return Buffer.concat([Buffer.from([(type << 4) | flags, ...variableLength(length)]), ...parts])
}

/** Seven bits for each byte, the lowest ones first. */
function variableLength(length: number): readonly number[] {
  return length < 128 ? [length] : [(length % 128) | 128, ...variableLength(Math.floor(length / 128))]
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  if (bytes.length > TEXT_BYTES_MAX) throw new RangeError(`a text of ${bytes.length} bytes is longer than MQTT allows`)
  return Buffer.concat([uint16(bytes.length), bytes])
}
