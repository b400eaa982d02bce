import type { MqttMessage } from './packet-reader.ts'

/** Messages that were received and not taken yet. Above the limits, no more are received. */
export class MessageBuffer {
  readonly #limits: { readonly messages: number; readonly bytes: number }
  #messages: MqttMessage[] = []
  #bytes = 0
  #wake: () => void = () => {}

  constructor(limits: { readonly messages: number; readonly bytes: number }) {
    this.#limits = limits
  }

  get isFull(): boolean {
    return this.#messages.length >= this.#limits.messages || this.#bytes >= this.#limits.bytes
  }

  add(message: MqttMessage): void {
    this.#messages.push(message)
    this.#bytes += message.payload.length
    this.#wake()
  }

  /** Ends the wait of `take`. */
  wake(): void {
    this.#wake()
  }

  /** All messages. Waits up to `waitMs` for the first one, or until `wake`. */
  async take(waitMs: number): Promise<readonly MqttMessage[]> {
    if (this.#messages.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, waitMs)
      this.#wake = resolve
      await promise
      clearTimeout(timer)
    }
    const taken = this.#messages
    this.#messages = []
    this.#bytes = 0
    return taken
  }
}
