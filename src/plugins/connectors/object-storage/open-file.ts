import type { Schema } from '../../../sdk/index.ts'
import type { FileCompression } from './compression.ts'
import type { FileEncoder } from './file-format.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { ObjectStore, Upload, UploadedPart } from './object-store.ts'

/** Values that are taken, and compressed if that is set, at once. */
const PIECE_BYTES = 1_048_576

export type OpenFileOptions = {
  readonly key: string
  readonly encoder: FileEncoder
  readonly pieceBytes: number | undefined
  readonly compression: FileCompression | undefined
  readonly store: ObjectStore
  readonly memory: MemoryBudget
}

/**
 * An object that is being written. Its bytes are uploaded in parts as soon as there are enough of them; the object becomes visible with
 * `complete`. After an error, the method that failed can be called again.
 */
export class OpenFile {
  readonly key: string
  readonly #options: OpenFileOptions
  /** Bytes that are ready for a part. */
  #ready: Buffer[] = []
  #readyBytes = 0
  #parts: UploadedPart[] = []
  #upload: Upload | undefined
  #uploadedBytes = 0
  #heldBytes = 0
  #isEmpty = true
  #hasEnded = false
  #isStored = false

  constructor(options: OpenFileOptions) {
    this.key = options.key
    this.#options = options
  }

  /** Bytes in memory. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  add(value: unknown, schema: Schema | null): void {
    this.#options.encoder.add(value, schema)
    this.#count()
  }

  removeLast(): void {
    this.#options.encoder.removeLast()
    this.#count()
  }

  /** Whether `spill` has something to do. */
  get isFull(): boolean {
    const { encoder, pieceBytes = PIECE_BYTES } = this.#options
    return encoder.length >= pieceBytes
  }

  /** Compresses what was added, and uploads complete parts. */
  async spill(): Promise<void> {
    if (this.isFull) await this.#keep(this.#options.encoder.take())
    await this.#uploadParts(this.#options.store.partBytes)
  }

  /** Makes the object visible, with all that was added. */
  async complete(): Promise<void> {
    if (this.#isStored) return
    if (!this.#hasEnded) {
      await this.#keep(this.#options.encoder.end())
      this.#hasEnded = true
    }
    const { store } = this.#options
    await this.#uploadParts(store.partBytes)
    if (this.#upload === undefined) {
      await store.put(this.key, Buffer.concat(this.#ready))
    } else {
      if (this.#readyBytes > 0) await this.#uploadParts(1)
      await store.completeUpload(this.#upload, this.#parts, this.#uploadedBytes)
    }
    this.#isStored = true
    this.#release()
  }

  /** Discards the file. */
  async abort(): Promise<void> {
    this.#release()
    if (this.#upload !== undefined && !this.#isStored) await this.#options.store.abortUpload(this.#upload)
  }

  async #keep(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return
    const { compression } = this.#options
    const kept = compression === undefined ? bytes : await compression.compress(bytes, this.#isEmpty)
    this.#isEmpty = false
    this.#ready.push(kept)
    this.#readyBytes += kept.length
    this.#count()
  }

  /** Uploads parts of equal size while there are at least so many bytes. */
  async #uploadParts(bytesMin: number): Promise<void> {
    const { store } = this.#options
    while (this.#readyBytes >= bytesMin) {
      this.#upload ??= await store.createUpload(this.key)
      const all = this.#ready.length === 1 ? this.#ready[0]! : Buffer.concat(this.#ready)
      this.#ready = [all]
      const part = all.subarray(0, store.partBytes)
      this.#parts.push(await store.uploadPart(this.#upload, this.#parts.length + 1, part))
      this.#uploadedBytes += part.length
      // A copy, so that the memory of the part is released.
      const rest = Buffer.from(all.subarray(part.length))
      this.#ready = rest.length === 0 ? [] : [rest]
      this.#readyBytes = rest.length
      this.#count()
    }
  }

  #count(): void {
    const held = this.#options.encoder.length + this.#readyBytes
    this.#options.memory.change(held - this.#heldBytes)
    this.#heldBytes = held
  }

  #release(): void {
    this.#ready = []
    this.#readyBytes = 0
    this.#options.memory.change(-this.#heldBytes)
    this.#heldBytes = 0
  }
}
