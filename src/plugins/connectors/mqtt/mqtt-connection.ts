import type { Socket } from 'node:net'
import { type MqttMessage, PacketReader, type ReceivedPacket } from './packet-reader.ts'
import {
  acknowledgement,
  connectPacket,
  emptyPacket,
  type MqttClientOptions,
  type PublishOptions,
  publishPacket,
  type Qos,
  subscribePacket,
} from './packet-writer.ts'

export type MqttConnectionOptions = MqttClientOptions & {
  readonly connectTimeoutMs: number
  /** Called with each message. Messages of QoS 1 and 2 must be acknowledged. */
  readonly onMessage: (message: MqttMessage, connection: MqttConnection) => void
}

/** Size of the largest packet that is accepted. */
const PACKET_BYTES_MAX = 64 * 1024 * 1024
const ID_MAX = 65_535
/** Identifies a subscription; those of messages are above. */
const SUBSCRIBE_ID = 1
/** Code of a filter that the broker rejects. */
const FAILURE = 0x80

const REJECTED = 'the broker rejects a subscription: check mqtt.topics and the rights of the user'
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'it does not know MQTT 3.1.1',
  2: 'it does not accept the client id (mqtt.client.id)',
  3: 'it is unavailable',
  4: 'the user name or the password is wrong: check mqtt.username and mqtt.password',
  5: 'the client is not authorized: check mqtt.username, mqtt.password and the certificate',
}

/** A refusal of the broker that a retry does not change. */
export class MqttRefusedError extends Error {
  override readonly name = 'MqttRefusedError'
}

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/** A connection to a broker as a client of MQTT 3.1.1. It is not opened again: its user does so. */
export class MqttConnection {
  readonly #socket: Socket
  readonly #options: MqttConnectionOptions
  readonly #reader = new PacketReader(PACKET_BYTES_MAX)
  /** Messages that were published and are not acknowledged, by their ids. */
  readonly #published = new Map<number, Waiting>()
  /** Waits for CONNACK, then for SUBACK. */
  #awaited: Waiting | undefined
  #lastId = SUBSCRIBE_ID
  #keepAlive: NodeJS.Timeout | undefined
  #isPingPending = false
  #isPaused = false
  #error: Error | undefined
  readonly #closed = Promise.withResolvers<Error>()

  private constructor(socket: Socket, options: MqttConnectionOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the broker closed the connection')))
  }

  /** Resolves when the broker has accepted the client. `socket` is connecting, or connected. */
  static async open(socket: Socket, options: MqttConnectionOptions): Promise<MqttConnection> {
    const connection = new MqttConnection(socket, options)
    const timer = setTimeout(
      () => connection.#fail(new Error(`the broker did not respond within ${options.connectTimeoutMs} ms`)),
      options.connectTimeoutMs,
    )
    try {
      socket.write(connectPacket(options))
      await connection.#next()
    } catch (error) {
      connection.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
    connection.#startKeepAlive()
    return connection
  }

  /** Resolves with the reason when the connection has ended. */
  get closed(): Promise<Error> {
    return this.#closed.promise
  }

  /** Rejects with a `MqttRefusedError` if the broker rejects a filter. */
  async subscribe(filters: readonly string[], qos: Qos): Promise<void> {
    const granted = this.#next()
    this.#socket.write(subscribePacket(SUBSCRIBE_ID, filters, qos))
    await granted
  }

  /** Resolves when the broker has the message, with QoS 0 when it is sent. */
  async publish(message: Omit<PublishOptions, 'id'>): Promise<void> {
    if (this.#error !== undefined) throw this.#error
    const id = message.qos === 0 ? 0 : this.#nextId()
    const packet = publishPacket({ ...message, id })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (message.qos === 0) this.#socket.write(packet, (error) => (error ? reject(error) : resolve()))
    else {
      this.#published.set(id, { resolve, reject })
      this.#socket.write(packet)
    }
    await promise
  }

  /** Tells the broker that a message is stored, so that it does not send it again. */
  acknowledge({ qos, id }: MqttMessage): void {
    if (this.#error !== undefined || qos === 0) return
    this.#socket.write(acknowledgement(qos === 1 ? 'puback' : 'pubrec', id))
  }

  /** Receives no more messages until `resume`. */
  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#socket.resume()
  }

  close(): void {
    if (this.#error === undefined) this.#socket.write(emptyPacket('disconnect'))
    this.#fail(new Error('the connection is closed'))
  }

  #next(): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    const { promise, ...waiting } = Promise.withResolvers<void>()
    this.#awaited = waiting
    return promise
  }

  #receive(chunk: Buffer): void {
    try {
      for (const packet of this.#reader.read(chunk)) this.#handle(packet)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #handle(packet: ReceivedPacket): void {
    switch (packet.type) {
      case 'connack':
        this.#settle(packet.code === 0 ? undefined : refusal(packet.code))
        return
      case 'suback':
        this.#settle(packet.codes.includes(FAILURE) ? new MqttRefusedError(REJECTED) : undefined)
        return
      case 'publish':
        this.#options.onMessage(packet.message, this)
        return
      case 'pubrec':
        this.#socket.write(acknowledgement('pubrel', packet.id))
        return
      case 'pubrel':
        this.#socket.write(acknowledgement('pubcomp', packet.id))
        return
      case 'puback':
      case 'pubcomp':
        this.#published.get(packet.id)?.resolve()
        this.#published.delete(packet.id)
        return
      case 'pingresp':
        this.#isPingPending = false
    }
  }

  #settle(error: Error | undefined): void {
    const awaited = this.#awaited
    this.#awaited = undefined
    if (error === undefined) awaited?.resolve()
    else awaited?.reject(error)
  }

  #nextId(): number {
    do this.#lastId = this.#lastId >= ID_MAX ? SUBSCRIBE_ID + 1 : this.#lastId + 1
    while (this.#published.has(this.#lastId))
    return this.#lastId
  }

  /** A broker that does not respond to a ping until the next one is gone. */
  #startKeepAlive(): void {
    const { keepAliveSeconds } = this.#options
    this.#keepAlive = setInterval(
      () => {
        // Nothing is received while it is paused.
        const isOverdue = this.#isPingPending && !this.#isPaused
        if (isOverdue) this.#fail(new Error('the broker does not respond any more'))
        this.#isPingPending = !this.#isPaused
        this.#socket.write(emptyPacket('pingreq'))
      },
      (keepAliveSeconds * 1000) / 2,
    )
  }

  #fail(error: Error): void {
    if (this.#error !== undefined) return
    this.#error = error
    clearInterval(this.#keepAlive)
    this.#settle(error)
    for (const { reject } of this.#published.values()) reject(error)
    this.#published.clear()
    this.#socket.end()
    this.#socket.destroySoon()
    this.#closed.resolve(error)
  }
}

function refusal(code: number): Error {
  const reason = `the broker refuses the connection: ${REFUSALS[code] ?? `code ${code}`}`
  return code === 3 ? new Error(reason) : new MqttRefusedError(reason)
}
