import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../env/process.ts'
import { watchMount } from '../env/workspace.ts'

const SIZE_MB = 192
const PIECE = Buffer.alloc(2 ** 16)

/** A small file system in memory for the data of one broker, which can be filled. */
export class SmallDisk {
  readonly #filler: string
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
    this.#filler = join(directory, 'filler')
  }

  /** Undefined if this user may not mount file systems. */
  static async mount(directory: string): Promise<SmallDisk | undefined> {
    mkdirSync(directory, { recursive: true })
    const args = ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', directory]
    const { code } = await run({ file: 'mount', args, directory: '.' }).catch(() => ({ code: 1 }))
    if (code !== 0) return undefined
    watchMount(directory)
    return new SmallDisk(directory)
  }

  fill(): void {
    const file = openSync(this.#filler, 'w')
    try {
      for (;;) writeSync(file, PIECE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true })
  }

  async unmount(): Promise<void> {
    await run({ file: 'umount', args: ['-l', this.#directory], directory: '.' })
  }
}
