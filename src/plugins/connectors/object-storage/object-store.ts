// The port to an object store. All methods reject with a `RetriableError` if a retry may succeed, and with another error if a person must
// act. A method that was called again after an error has the effect of one call.

export type UploadedPart = { readonly number: number; readonly etag: string }

/** An upload in parts, of which nothing is visible until it is completed. */
export type Upload = {
  readonly key: string
  readonly id: string
}

export type ObjectStore = {
  /** Bytes of a part of an upload, except the last one. */
  readonly partBytes: number
  put(key: string, bytes: Uint8Array): Promise<void>
  createUpload(key: string): Promise<Upload>
  uploadPart(upload: Upload, number: number, bytes: Uint8Array): Promise<UploadedPart>
  /** Makes the object visible. `bytes`: its size. */
  completeUpload(upload: Upload, parts: readonly UploadedPart[], bytes: number): Promise<void>
  abortUpload(upload: Upload): Promise<void>
  /** Uploads that were neither completed nor aborted, of keys with this prefix. */
  openUploads(prefix: string): Promise<readonly Upload[]>
  tag(key: string, tags: Readonly<Record<string, string>>): Promise<void>
  close(): void
}
