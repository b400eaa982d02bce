import type { ObjectStore, Upload } from '../../src/plugins/connectors/object-storage/object-store.ts'

/** Stands for the death of the process: nothing after it happens. */
export class Killed extends Error {}

/** A bucket in memory. `beforeEach` runs before each operation, and can fail it. */
export class MemoryBucket {
  readonly objects = new Map<string, Buffer>()
  readonly uploads = new Map<string, Map<number, Buffer>>()
  /** What each key contained, in order. */
  readonly history = new Map<string, Buffer[]>()
  beforeEach: (operation: string) => void = () => {}
  afterEach: (operation: string) => void = () => {}
  #ids = 0

  store(partBytes: number): ObjectStore {
    return {
      partBytes,
      put: (key, bytes) => this.#do('put', () => this.#write(key, Buffer.from(bytes))),
      createUpload: (key) =>
        this.#do('create', () => {
          const id = `${++this.#ids}`
          this.uploads.set(`${key} ${id}`, new Map())
          return { key, id }
        }),
      uploadPart: (upload, number, bytes) =>
        this.#do('part', () => {
          this.#partsOf(upload).set(number, Buffer.from(bytes))
          return { number, etag: `etag ${number}` }
        }),
      completeUpload: (upload, parts) =>
        this.#do('complete', () => {
          const held = this.#partsOf(upload)
          this.#write(upload.key, Buffer.concat(parts.map(({ number }) => held.get(number)!)))
          this.uploads.delete(`${upload.key} ${upload.id}`)
        }),
      abortUpload: (upload) => this.#do('abort', () => void this.uploads.delete(`${upload.key} ${upload.id}`)),
      openUploads: (prefix) =>
        this.#do('list', () =>
          [...this.uploads.keys()]
            .filter((key) => key.startsWith(prefix))
            .map((key) => ({ key: key.split(' ')[0]!, id: key.split(' ')[1]! })),
        ),
      tag: () => this.#do('tag', () => {}),
      close: () => {},
    }
  }

  /** The lines of all objects. */
  lines(): readonly string[] {
    return [...this.objects.values()].flatMap((bytes) => bytes.toString().trimEnd().split('\n'))
  }

  async #do<Result>(operation: string, run: () => Result): Promise<Result> {
    this.beforeEach(operation)
    const result = run()
    this.afterEach(operation)
    return result
  }

  #partsOf({ key, id }: Upload): Map<number, Buffer> {
    const parts = this.uploads.get(`${key} ${id}`)
    if (parts === undefined) throw new Error(`there is no upload ${id} of ${key}`)
    return parts
  }

  #write(key: string, bytes: Buffer): void {
    this.objects.set(key, bytes)
    this.history.set(key, [...(this.history.get(key) ?? []), bytes])
  }
}
