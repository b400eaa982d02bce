import { PACKET, type Qos } from './packet-writer.ts'

export type MqttMessage = {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: Qos
  readonly isRetained: boolean
  readonly isDuplicate: boolean
  /** 0 for QoS 0. */
  readonly id: number
}

export type ReceivedPacket =
  | { readonly type: 'connack'; readonly code: number }
  | { readonly type: 'publish'; readonly message: MqttMessage }
  | { readonly type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp'; readonly id: number }
  | { readonly type: 'suback'; readonly id: number; readonly codes: readonly number[] }
  | { readonly type: 'pingresp' }

const ACKNOWLEDGEMENTS = {
  [PACKET.puback]: 'puback',
  [PACKET.pubrec]: 'pubrec',
  [PACKET.pubrel]: 'pubrel',
  [PACKET.pubcomp]: 'pubcomp',
} as const

/** Reads the packets of a broker from the pieces in which they arrive. */
export class PacketReader {
  readonly #bytesMax: number
  #chunks: Buffer[] = []
  #bytes = 0

  /** `bytesMax`: size of the largest packet that is accepted. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The packets that are complete. Throws an `Error` if the bytes are not packets of a broker. */
  *read(chunk: Buffer): Generator<ReceivedPacket> {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    for (;;) {
      const header = this.#header()
      if (header === undefined || this.#bytes < header.bytes + header.length) return
      const all = this.#joined()
      const end = header.bytes + header.length
      const body = all.subarray(header.bytes, end)
      this.#chunks = [all.subarray(end)]
      this.#bytes = all.length - end
      yield parsePacket(all[0]!, body)
    }
  }

  /** Undefined until the header is complete. */
  #header(): { readonly bytes: number; readonly length: number } | undefined {
    const start = this.#bytes < 5 || this.#chunks[0]!.length >= 5 ? this.#joinedIfShort() : this.#joined()
    let length = 0
    for (let at = 1; at <= 4; at++) {
      const byte = start[at]
      if (byte === undefined) return undefined
      length += (byte & 0x7f) * 128 ** (at - 1)
      if (byte < 128) {
        if (length > this.#bytesMax) throw new Error(`a packet has ${length} bytes, the maximum is ${this.#bytesMax}`)
        return { bytes: at + 1, length }
      }
    }
    throw new Error('the length of a packet is invalid')
  }

  /** A large packet is joined once, when it is complete. */
  #joinedIfShort(): Buffer {
    return this.#chunks[0]!.length >= 5 ? this.#chunks[0]! : this.#joined()
  }

  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }
}

function parsePacket(first: number, body: Buffer): ReceivedPacket {
  const type = first >> 4
  if (type === PACKET.publish) return { type: 'publish', message: parseMessage(first & 0x0f, body) }
  if (type === PACKET.pingresp) return { type: 'pingresp' }
  if (body.length < 2) throw new Error(`a packet of type ${type} has ${body.length} bytes`)
  const id = body.readUInt16BE(0)
  if (type === PACKET.connack) return { type: 'connack', code: body[1]! }
  if (type === PACKET.suback) return { type: 'suback', id, codes: [...body.subarray(2)] }
  const acknowledged = ACKNOWLEDGEMENTS[type as keyof typeof ACKNOWLEDGEMENTS]
  if (acknowledged === undefined) throw new Error(`a packet of type ${type} is not one of a broker`)
  return { type: acknowledged, id }
}

function parseMessage(flags: number, body: Buffer): MqttMessage {
  const qos = (flags >> 1) & 3
  const topicBytes = body.length < 2 ? 0 : body.readUInt16BE(0)
  const start = 2 + topicBytes + (qos === 0 ? 0 : 2)
  if (qos === 3 || body.length < start) throw new Error('a message is invalid')
  return {
    topic: body.toString('utf8', 2, 2 + topicBytes),
    // A copy: the packet is part of a larger buffer.
    payload: Buffer.from(body.subarray(start)),
    qos: qos as Qos,
    isRetained: (flags & 1) !== 0,
    isDuplicate: (flags & 8) !== 0,
    id: qos === 0 ? 0 : body.readUInt16BE(2 + topicBytes),
  }
}
