import { createHash, type Hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Clock, systemClock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { type Backoff, retry } from '../../common/retry.ts'
import { type Coordinates, formatCoordinates, repositoryPath } from './coordinates.ts'

export const MAVEN_CENTRAL = 'https://repo.maven.apache.org/maven2'

export type MavenRepositoryOptions = {
  readonly clock?: Clock
  /** Limit of one download, in ms. */
  readonly timeoutMs?: number
  /** How long a server that is unavailable is retried, in ms. */
  readonly retryMs?: number
}

export type DownloadOptions = {
  readonly bytesMax?: number
  /** Called with the number of bytes of each chunk. */
  readonly onReceived?: (bytes: number) => void
}

export type Download = { readonly bytes: number; readonly sha512: string }

const POM_BYTES_MAX = 4 * 1_048_576
const METADATA_BYTES_MAX = 16 * 1_048_576
const CHECKSUM_BYTES_MAX = 4_096
const DOWNLOAD_BYTES_MAX = 1_024 * 1_048_576
const TIMEOUT_MS = 600_000
const RETRY_MS = 20_000
const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000 }
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const REDIRECTS_MAX = 10
/** Number of requests at the same time. */
const REQUESTS_MAX = 8

/** The strongest first. A repository has at least one of them for each file. */
const ALGORITHMS = ['sha512', 'sha256', 'sha1'] as const
const DIGEST_CHARACTERS = { sha512: 128, sha256: 64, sha1: 40 } as const

class TransientResponse extends Error {}

/** Reads files of a Maven repository. A file without a checksum, or with a wrong one, is never used. */
export class MavenRepository {
  /** Without credentials. */
  readonly url: string
  readonly #authorization: string | undefined
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #retryMs: number
  readonly #waiting: (() => void)[] = []
  #requests = 0

  /** Throws a `UserError` if the address is not of HTTPS, or of HTTP on this machine. */
  constructor(address: string, options: MavenRepositoryOptions = {}) {
    const url = parseAddress(address)
    const { username, password } = url
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    this.#authorization = username === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
    url.username = ''
    url.password = ''
    this.url = url.href.replace(/\/+$/, '')
    this.#clock = options.clock ?? systemClock
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    this.#retryMs = options.retryMs ?? RETRY_MS
  }

  /** Rejects with a `UserError`, as the other methods do. */
  async readPom(coordinates: Coordinates): Promise<Uint8Array> {
    return this.#readVerified(repositoryPath(coordinates), formatCoordinates(coordinates), POM_BYTES_MAX)
  }

  async readMetadata({ group, artifact }: Coordinates): Promise<Uint8Array> {
    const path = [...group.split('.'), artifact, 'maven-metadata.xml'].join('/')
    return this.#readVerified(path, `the list of versions of ${group}:${artifact}`, METADATA_BYTES_MAX)
  }

  /** Writes a file of at most `bytesMax` bytes (default 1 GiB) to `target`. */
  async download(coordinates: Coordinates, target: string, options: DownloadOptions = {}): Promise<Download> {
    const { bytesMax = DOWNLOAD_BYTES_MAX, onReceived } = options
    const path = repositoryPath(coordinates)
    const what = formatCoordinates(coordinates)
    const expected = await this.#checksum(path, what)
    return this.#attempt(path, what, async (response) => {
      const verifying = createHash(expected.algorithm)
      const recorded = createHash('sha512')
      let bytes = 0
      const hashing = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length
          if (bytes > bytesMax) throw tooLarge(what, bytesMax)
          for (const hash of [verifying, recorded]) hash.update(chunk)
          onReceived?.(chunk.length)
          yield chunk
        }
      }
      try {
        await pipeline(bodyOf(response), hashing, createWriteStream(target, { flags: 'w' }))
        check(verifying, expected, what)
      } catch (error) {
        await rm(target, { force: true })
        throw error
      }
      return { bytes, sha512: recorded.digest('hex') }
    })
  }

  async #readVerified(path: string, what: string, bytesMax: number): Promise<Uint8Array> {
    const bytes = await this.#read(path, what, bytesMax)
    if (bytes === undefined) throw notFound(what, this.url)
    const expected = await this.#checksum(path, what)
    check(createHash(expected.algorithm).update(bytes), expected, what)
    return bytes
  }

  async #checksum(path: string, what: string): Promise<Checksum> {
    for (const algorithm of ALGORITHMS) {
      const bytes = await this.#read(`${path}.${algorithm}`, what, CHECKSUM_BYTES_MAX)
      const digest = bytes && /^\s*([0-9a-f]+)(?:\s|$)/i.exec(Buffer.from(bytes).toString('latin1'))?.[1]?.toLowerCase()
      if (digest?.length === DIGEST_CHARACTERS[algorithm]) return { algorithm, digest }
      if (bytes !== undefined) throw mismatch(what, `its ${algorithm} file in ${this.url} is not a checksum`)
    }
    // A file that does not exist has no checksum either, and that is the better explanation.
    const exists = await this.#attempt(path, what, async (response) => cancelled(response, true), 'HEAD').catch(
      (error) => {
        if ((error as UserError).code === 'artifact_not_found') return false
        throw error
      },
    )
    if (!exists) throw notFound(what, this.url)
    throw mismatch(what, `${this.url} has no checksum of it`)
  }

  /** Undefined if the repository does not have the file. */
  async #read(path: string, what: string, bytesMax: number): Promise<Uint8Array | undefined> {
    try {
      return await this.#attempt(path, what, async (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        for await (const chunk of bodyOf(response)) {
          bytes += (chunk as Buffer).length
          if (bytes > bytesMax) throw tooLarge(what, bytesMax)
          chunks.push(chunk as Buffer)
        }
        return Buffer.concat(chunks)
      })
    } catch (error) {
      if ((error as UserError).code === 'artifact_not_found') return undefined
      throw error
    }
  }

  /** Requests a file until it is answered. A connection that breaks while the body is read is repeated, too. */
  async #attempt<Result>(
    path: string,
    what: string,
    use: (response: Response) => Promise<Result>,
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<Result> {
    const attempt = async () => {
      try {
        return await this.#request(path, what, use, method)
      } catch (error) {
        if (error instanceof UserError || error instanceof TransientResponse) throw error
        // fetch rejects with a TypeError whatever has happened; the cause says more.
        const { cause } = error as { readonly cause?: unknown }
        throw new TransientResponse(messageOf(cause ?? error), { cause: error })
      }
    }
    await this.#takeTurn()
    try {
      return await retry(attempt, {
        backoff: BACKOFF,
        retriable: (error) => error instanceof TransientResponse,
        withinMs: this.#retryMs,
        clock: this.#clock,
      })
    } catch (error) {
      if (!(error instanceof TransientResponse)) throw error
      throw new UserError('repository_unavailable', `${what} cannot be read from ${this.url}: ${error.message}`)
    } finally {
      this.#requests -= 1
      this.#waiting.shift()?.()
    }
  }

  async #request<Result>(
    path: string,
    what: string,
    use: (response: Response) => Promise<Result>,
    method: 'GET' | 'HEAD',
  ): Promise<Result> {
    const response = await this.#fetch(path, what, method)
    const { status } = response
    if (response.ok) return use(response)
    await cancelled(response, undefined)
    if (status === 404 || status === 410) throw notFound(what, this.url)
    if (status === 429 || status >= 500) throw new TransientResponse(`HTTP status ${status}`)
    throw unavailable(what, `${this.url} answers with HTTP status ${status}`)
  }

  /** Follows redirects only if each address is allowed: an attacker who can change one response could redirect to another server. */
  async #fetch(path: string, what: string, method: 'GET' | 'HEAD'): Promise<Response> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const own = new URL(this.url).origin
    let url = new URL(`${this.url}/${path}`)
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      // The credentials are those of the repository.
      const authorization = url.origin === own ? this.#authorization : undefined
      const response = await fetch(url, {
        method,
        headers: authorization === undefined ? {} : { authorization },
        signal,
        redirect: 'manual',
      })
      const location = response.headers.get('location')
      if (location === null || !REDIRECTS.has(response.status)) return response
      await cancelled(response, undefined)
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
      if (next === undefined || !isAllowed(next))
        throw unavailable(what, `${this.url} redirects to ${next?.origin ?? location}, which is not HTTPS`)
      url = next
    }
    throw unavailable(what, `${this.url} redirects more than ${REDIRECTS_MAX} times`)
  }

  async #takeTurn(): Promise<void> {
    while (this.#requests >= REQUESTS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#requests += 1
  }
}

type Checksum = { readonly algorithm: (typeof ALGORITHMS)[number]; readonly digest: string }

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && isAllowed(url)) return url
  // The address may contain a password.
  const shown = url === undefined ? 'it' : `${url.protocol}//${url.host}${url.pathname}`
  throw new UserError('repository_unavailable', `${shown} is not a repository: an HTTPS address is expected`)
}

/** HTTP is allowed on this machine only: whoever changes a file on its way can change its checksum, too. */
function isAllowed({ protocol, hostname }: URL): boolean {
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLocal)
}

function bodyOf(response: Response): Readable {
  return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as ReadableStream)
}

async function cancelled<Value>(response: Response, value: Value): Promise<Value> {
  await response.body?.cancel()
  return value
}

function check(hash: Hash, { algorithm, digest }: Checksum, what: string): void {
  const actual = hash.digest('hex')
  if (actual !== digest) throw mismatch(what, `its ${algorithm} is ${actual}, and the repository says ${digest}`)
}

function notFound(what: string, url: string): UserError {
  return new UserError('artifact_not_found', `${url} has no ${what}`)
}

function mismatch(what: string, reason: string): UserError {
  return new UserError('checksum_mismatch', `${what} is not installed: ${reason}`)
}

function tooLarge(what: string, bytesMax: number): UserError {
  return new UserError('install_limit', `${what} has more than ${bytesMax} bytes`)
}

function unavailable(what: string, reason: string): UserError {
  return new UserError('repository_unavailable', `${what} cannot be read: ${reason}`)
}
