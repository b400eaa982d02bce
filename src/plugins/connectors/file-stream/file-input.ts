import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FileAccess } from '../../../sdk/index.ts'

/** The source of bytes. `read` returns the number of bytes, 0 if none are available now. */
export type Input = AsyncDisposable & {
  read(into: Buffer, position: number): Promise<number>
}

/** Opens a file. Resolves to undefined if the file does not exist. */
export async function openFileInput(file: string, files: FileAccess): Promise<Input | undefined> {
  const handle = await files
    .open(file)
    .catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : unreadable(file, error)))
  if (handle === undefined) return undefined
  let isAtEnd = false
  return {
    async read(into, position) {
      // A task at the end of its file asks for its size only, because a read would have to be followed by that anyway.
      if (isAtEnd && !(await hasGrown(handle, file, position))) return 0
      const { bytesRead } = await handle
        .read(into, 0, into.length, position)
        .catch((error: Error) => unreadable(file, error))
      if (bytesRead === 0) await hasGrown(handle, file, position)
      isAtEnd = bytesRead === 0
      return bytesRead
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

const ABSENT_MS_MIN = 1_000
const ABSENT_MS_MAX = 10_000

const END_MS_MIN = 100
const END_MS_MAX = 500

/** Returns the delay before reading again after `idleMs` at the end of a file: a tenth of it, 100 to 500 ms. */
export function pauseAtEnd(idleMs: number): number {
  return Math.min(END_MS_MAX, Math.max(END_MS_MIN, idleMs / 10))
}

/**
 * Returns the delay before checking again for a file that has been missing for `absentMs`: a fifth of it, 1 to 10 s.
 */
export function pauseWithoutFile(absentMs: number): number {
  return Math.min(ABSENT_MS_MAX, Math.max(ABSENT_MS_MIN, absentMs / 5))
}

function unreadable(file: string, error: Error): never {
  throw new Error(`cannot read '${file}': ${error.message}`, { cause: error })
}

/**
 * Returns whether there may be bytes after the position; for a device or a pipe, only a read shows that. Rejects if the file was
 * truncated or replaced: without this check, no further lines would be read and no error reported.
 */
async function hasGrown(handle: FileHandle, file: string, position: number): Promise<boolean> {
  const stat = await handle.stat()
  if (!stat.isFile() || stat.size > position) return true
  if (stat.size === position) return false
  throw new Error(
    `'${file}' has ${stat.size} bytes but was already read up to byte ${position}: it was truncated or replaced. ` +
      `Reset the connector's offsets to read it from the beginning`,
  )
}

/** Wraps a stream. Bytes that were received but not read yet remain in the stream's buffer. */
export function openStreamInput(stream: Readable): Input {
  return {
    async read(into) {
      const chunk = stream.read() as Buffer | null
      if (chunk === null) return 0
      if (chunk.length > into.length) stream.unshift(chunk.subarray(into.length))
      return chunk.copy(into)
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
