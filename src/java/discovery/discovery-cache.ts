import { hash, randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDirectories } from '../../common/create-directories.ts'

/**
 * Keeps what was found in plugin locations, by the hashes of their files. Contains nothing that cannot be found again, so
 * every error counts as an absent value, and the directory may be deleted at any time. Each file is a SHA-256 checksum
 * and JSON, one line each, so that damage is detected, too.
 */
export class DiscoveryCache {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** The cache of this user in the directory for temporary files, which all workers of a machine share. */
  static ofUser(): DiscoveryCache {
    return new DiscoveryCache(join(tmpdir(), `weir-java-${process.getuid?.() ?? 'user'}`))
  }

  get directory(): string {
    return this.#directory
  }

  /** `name` is a file name, and includes the version of the value's type. */
  async read(name: string): Promise<unknown> {
    if (!isOwn(this.#directory)) return undefined
    try {
      const text = await readFile(join(this.#directory, name), 'utf8')
      const [checksum, json = ''] = text.split('\n')
      return checksum === hash('sha256', json) ? JSON.parse(json) : undefined
    } catch {
      return undefined
    }
  }

  async write(name: string, value: unknown): Promise<void> {
    const temporary = join(this.#directory, `.${randomUUID()}`)
    try {
      createDirectories(this.#directory, { mode: 0o700 })
      if (!isOwn(this.#directory)) return
      const json = JSON.stringify(value)
      await writeFile(temporary, `${hash('sha256', json)}\n${json}`, { mode: 0o600 })
      await rename(temporary, join(this.#directory, name))
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined)
    }
  }
}

/** Whether only this user can write to the directory. Needed because any user may create a directory in `/tmp`. */
function isOwn(directory: string): boolean {
  try {
    const { uid, mode } = lstatSync(directory)
    return uid === process.getuid?.() && (mode & 0o022) === 0
  } catch {
    return false
  }
}
