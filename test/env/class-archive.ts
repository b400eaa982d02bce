import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'

/** An archive of the classes of a Java program, with which a start needs half of the CPU time. */
export type ClassArchive = {
  /** JVM arguments to use the archive, or to write it at the exit if there is none yet. */
  readonly jvm: readonly string[]
  /** Whether the JVM writes the archive when it exits. A JVM that is killed writes none. */
  readonly isWritten: boolean
  /** Moves the archive into the cache. To be called after the JVM has exited. */
  publish(): void
}

export type ArchivedProgram = {
  /** Identifies the program; an archive replaces those with the same name. */
  readonly name: string
  readonly classpath: string
  /** The version of the JVM, which cannot use an archive of another version. */
  readonly release: string
  /** Directory of the run. */
  readonly directory: string
}

// Without the warnings of classes that cannot be archived, which a JVM would write to standard output.
const SILENT = '-Xlog:disable'

export function classArchive({ name, classpath, release, directory }: ArchivedProgram): ClassArchive {
  const cache = cacheDirectory('class-archives')
  const hash = createHash('sha256').update(`${release}\0${classpath}`).digest('hex').slice(0, 8)
  const archive = join(cache, `${name}-${hash}.jsa`)
  const written = join(directory, 'classes.jsa')
  if (existsSync(archive)) return { jvm: [`-XX:SharedArchiveFile=${archive}`, SILENT], isWritten: false, publish() {} }
  return {
    jvm: [`-XX:ArchiveClassesAtExit=${written}`, SILENT],
    isWritten: true,
    publish() {
      if (!existsSync(written)) return
      // Copied and renamed, because other runs may do the same concurrently.
      const copy = `${archive}.${process.pid}`
      copyFileSync(written, copy)
      for (const file of readdirSync(cache)) {
        if (file.startsWith(`${name}-`) && file.endsWith('.jsa')) rmSync(join(cache, file), { force: true })
      }
      renameSync(copy, archive)
    },
  }
}
