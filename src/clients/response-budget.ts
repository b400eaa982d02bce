/** Limits the responses of several servers that are being read at the same time, so that they cannot use up the memory. */
export class ResponseBudget {
  /** Limit of one response, in bytes. */
  readonly bytesMax: number
  readonly #totalBytesMax: number
  #bytes = 0

  constructor({ bytesMax, totalBytesMax }: { readonly bytesMax: number; readonly totalBytesMax: number }) {
    this.bytesMax = bytesMax
    this.#totalBytesMax = totalBytesMax
  }

  /** The same body. Throws when all bodies that are being read would exceed the limit. */
  async *count(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let bytes = 0
    try {
      for await (const chunk of body) {
        if (this.#bytes + chunk.length > this.#totalBytesMax)
          throw new Error(`the responses that are being read have more than ${this.#totalBytesMax} bytes`)
        this.#bytes += chunk.length
        bytes += chunk.length
        yield chunk
      }
    } finally {
      this.#bytes -= bytes
    }
  }
}
