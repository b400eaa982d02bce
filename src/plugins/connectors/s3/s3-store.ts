import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type {
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
  PutObjectCommandInput,
  S3Client,
  S3ClientConfig,
} from '@aws-sdk/client-s3'
import type { NetworkAccess, TaskLog } from '../../../sdk/index.ts'
import { createTransport } from '../http/transport.ts'
import type { ObjectStore, Upload, UploadedPart } from '../object-storage/object-store.ts'
import { type S3Credentials, s3Credentials } from './s3-credentials.ts'
import { s3Error } from './s3-error.ts'
import { s3RequestHandler } from './s3-transport.ts'

export type S3Settings = {
  readonly bucket: string
  readonly region: string
  /** The server, if it is not Amazon's. */
  readonly endpoint: string | undefined
  readonly isPathStyle: boolean
  readonly isAccelerated: boolean
  readonly credentials: S3Credentials
  readonly partBytes: number
  readonly retriesMax: number
  /** Whether each request has the MD5 of its content. */
  readonly sendsDigest: boolean
  readonly encryption: {
    readonly algorithm: string | undefined
    readonly kmsKeyId: string | undefined
    /** 32 bytes in base64. */
    readonly customerKey: string | undefined
  }
  readonly acl: string | undefined
  readonly proxyUrl: string | undefined
  /** Whether an object that cannot be tagged is stored without tags. */
  readonly ignoresTagErrors: boolean
}

const CONNECT_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 300_000
/** Of lists and of errors: objects are not read. */
const RESPONSE_BYTES_MAX = 4_194_304
/** For uploads that are discarded when the task stops. */
const ABORT_TIMEOUT_MS = 10_000

type Library = typeof import('@aws-sdk/client-s3')

/** Opens a bucket of Amazon S3, or of a server with its API. Amazon's client is loaded here, when a task starts. */
export async function openS3Store(
  settings: S3Settings,
  { network, signal, log }: { readonly network: NetworkAccess; readonly signal: AbortSignal; readonly log: TaskLog },
): Promise<ObjectStore> {
  const library = await import('@aws-sdk/client-s3')
  const transport = createTransport({
    network,
    proxyUrl: settings.proxyUrl === undefined ? undefined : await resolved(settings.proxyUrl, network),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    responseBytesMax: RESPONSE_BYTES_MAX,
    whenLonger: 'refuse',
  })
  const config: S3ClientConfig = {
    region: settings.region,
    forcePathStyle: settings.isPathStyle,
    useAccelerateEndpoint: settings.isAccelerated,
    maxAttempts: settings.retriesMax + 1,
    // Other servers do not know the checksums of Amazon's client.
    requestChecksumCalculation: settings.endpoint === undefined ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(settings.endpoint !== undefined && { endpoint: settings.endpoint }),
    ...(await s3Credentials(settings.credentials, settings.region)),
  }
  const client = new library.S3Client({ ...config, requestHandler: s3RequestHandler(transport, signal) })
  // Uploads are also discarded after the signal of the task.
  const closing = () =>
    new library.S3Client({
      ...config,
      maxAttempts: 1,
      requestHandler: s3RequestHandler(transport, AbortSignal.timeout(ABORT_TIMEOUT_MS)),
    })
  return new S3Store({ library, client, closing, settings, log, onClose: () => transport.close() })
}

/** With an address that is allowed, because connections to the proxy are not checked. */
async function resolved(proxyUrl: string, network: NetworkAccess): Promise<string> {
  const url = new URL(proxyUrl)
  const address = await network.resolve(url.hostname, Number(url.port || (url.protocol === 'https:' ? 443 : 80)))
  url.hostname = isIPv6(address) ? `[${address}]` : address
  return url.href
}

type S3StoreParts = {
  readonly library: Library
  readonly client: S3Client
  readonly closing: () => S3Client
  readonly settings: S3Settings
  readonly log: TaskLog
  readonly onClose: () => void
}

class S3Store implements ObjectStore {
  readonly partBytes: number
  readonly #library: Library
  readonly #client: S3Client
  readonly #settings: S3Settings
  readonly #parts: S3StoreParts

  constructor(parts: S3StoreParts) {
    this.#library = parts.library
    this.#client = parts.client
    this.#settings = parts.settings
    this.#parts = parts
    this.partBytes = parts.settings.partBytes
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const { PutObjectCommand } = this.#library
    const input = { ...this.#place(key), ...this.#properties(), ...this.#digest(bytes), Body: bytes }
    await this.#do(`writing ${this.#name(key)}`, () => this.#client.send(new PutObjectCommand(input)))
  }

  async createUpload(key: string): Promise<Upload> {
    const { CreateMultipartUploadCommand } = this.#library
    const command = new CreateMultipartUploadCommand({ ...this.#place(key), ...this.#properties() })
    const { UploadId: id } = await this.#do(`beginning ${this.#name(key)}`, () => this.#client.send(command))
    if (id === undefined) throw new Error(`the server began no upload of ${this.#name(key)}`)
    return { key, id }
  }

  async uploadPart({ key, id }: Upload, number: number, bytes: Uint8Array): Promise<UploadedPart> {
    const { UploadPartCommand } = this.#library
    const part = { UploadId: id, PartNumber: number, Body: bytes }
    const input = { ...this.#place(key), ...this.#customerKey(), ...this.#digest(bytes), ...part }
    const { ETag: etag = '' } = await this.#do(`writing part ${number} of ${this.#name(key)}`, () =>
      this.#client.send(new UploadPartCommand(input)),
    )
    return { number, etag }
  }

  async completeUpload({ key, id }: Upload, parts: readonly UploadedPart[], bytes: number): Promise<void> {
    const { CompleteMultipartUploadCommand } = this.#library
    const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }))
    const input = { ...this.#place(key), ...this.#customerKey(), UploadId: id, MultipartUpload: { Parts } }
    await this.#do(`completing ${this.#name(key)}`, async () => {
      try {
        await this.#client.send(new CompleteMultipartUploadCommand(input))
      } catch (error) {
        // The response to a request that completed the upload was lost.
        if ((error as Error).name !== 'NoSuchUpload' || !(await this.#exists(key, bytes))) throw error
      }
    })
  }

  async abortUpload({ key, id }: Upload): Promise<void> {
    const { AbortMultipartUploadCommand } = this.#library
    const command = new AbortMultipartUploadCommand({ ...this.#place(key), UploadId: id })
    await this.#do(`discarding the upload of ${this.#name(key)}`, async () => {
      await this.#parts
        .closing()
        .send(command)
        .catch((error: Error) => {
          if (error.name !== 'NoSuchUpload') throw error
        })
    })
  }

  async openUploads(prefix: string): Promise<readonly Upload[]> {
    const { ListMultipartUploadsCommand } = this.#library
    const found: Upload[] = []
    let input: ListMultipartUploadsCommandInput = { Bucket: this.#settings.bucket, Prefix: prefix }
    for (;;) {
      const command = new ListMultipartUploadsCommand(input)
      const page: ListMultipartUploadsCommandOutput = await this.#do(`listing uploads of ${this.#name(prefix)}`, () =>
        this.#client.send(command),
      )
      for (const { Key, UploadId } of page.Uploads ?? []) if (Key && UploadId) found.push({ key: Key, id: UploadId })
      if (page.IsTruncated !== true) return found
      input = { ...input, KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  async tag(key: string, tags: Readonly<Record<string, string>>): Promise<void> {
    const { PutObjectTaggingCommand } = this.#library
    const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
    const command = new PutObjectTaggingCommand({ ...this.#place(key), Tagging: { TagSet } })
    try {
      await this.#do(`tagging ${this.#name(key)}`, () => this.#client.send(command))
    } catch (error) {
      if (!this.#settings.ignoresTagErrors) throw error
      this.#parts.log.warn({ err: error, key }, 'an object is stored without tags')
    }
  }

  close(): void {
    this.#client.destroy()
    this.#parts.onClose()
  }

  async #exists(key: string, bytes: number): Promise<boolean> {
    const { HeadObjectCommand } = this.#library
    const command = new HeadObjectCommand({ ...this.#place(key), ...this.#customerKey() })
    const found = await this.#client.send(command).catch(() => undefined)
    return found?.ContentLength === bytes
  }

  async #do<Result>(operation: string, send: () => Promise<Result>): Promise<Result> {
    try {
      return await send()
    } catch (error) {
      throw s3Error(error, operation)
    }
  }

  #place(key: string) {
    return { Bucket: this.#settings.bucket, Key: key }
  }

  #name(key: string): string {
    return `s3://${this.#settings.bucket}/${key}`
  }

  #digest(bytes: Uint8Array): { readonly ContentMD5?: string } {
    return this.#settings.sendsDigest ? { ContentMD5: createHash('md5').update(bytes).digest('base64') } : {}
  }

  #properties(): Partial<PutObjectCommandInput> {
    const { acl, encryption } = this.#settings
    const { algorithm, kmsKeyId } = encryption
    return {
      ...(acl !== undefined && { ACL: acl as PutObjectCommandInput['ACL'] }),
      ...(algorithm !== undefined &&
        encryption.customerKey === undefined && {
          ServerSideEncryption: algorithm as PutObjectCommandInput['ServerSideEncryption'],
          ...(kmsKeyId !== undefined && { SSEKMSKeyId: kmsKeyId }),
        }),
      ...this.#customerKey(),
    }
  }

  #customerKey(): Partial<PutObjectCommandInput> {
    const { customerKey, algorithm } = this.#settings.encryption
    if (customerKey === undefined) return {}
    return { SSECustomerAlgorithm: algorithm ?? 'AES256', SSECustomerKey: customerKey }
  }
}
