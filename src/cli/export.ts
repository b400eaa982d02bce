import { type Command, readArgs, UsageError } from './command.ts'
import { collectDump } from './dump/collect.ts'
import { sizeOf } from './dump/dump.ts'
import { checkWritable, placeAt, writeDump } from './dump/file.ts'
import { createProgress } from './dump/progress.ts'
import { REGISTRY_HELP, REGISTRY_OPTIONS, registryAt, undecided } from './dump/registry-at.ts'
import { abortedWhenAsked } from './signals.ts'

const OPTIONS = { ...REGISTRY_OPTIONS, deleted: { type: 'boolean', default: false } } as const

export const exportCommand: Command = {
  help: `usage: weir export PATH --registry URL [--deleted]

Writes everything that a schema registry holds to PATH: subjects, versions, ids, configs, modes and contexts. A PATH that
ends in .json becomes one file, any other one a directory with a file for each subject.

  --deleted               soft-deleted versions too; without it only those that something else refers to
${REGISTRY_HELP}

  weir export ./schemas --registry http://127.0.0.1:8081`,

  async run(args) {
    const { values, positionals } = readArgs(args, OPTIONS)
    const place = placeAt(onePath('export', positionals))
    const registry = registryAt(values)
    checkWritable(place)
    const progress = createProgress(process.stderr)
    try {
      const dump = await collectDump(registry, {
        deleted: values.deleted,
        signal: abortedWhenAsked(),
        onSubject: (done, all) => (done === 0 ? progress.begin('reading', all) : progress.step()),
      })
      writeDump(place, dump)
      progress.end()
      process.stdout.write(`exported ${sizeOf(dump)} to ${place.path}\n`)
      return 0
    } catch (error) {
      progress.end()
      return undecided(error)
    }
  },
}

/** The one thing besides options that these commands take. */
export function onePath(command: string, [path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError(`which file or directory? weir ${command} PATH`)
  if (more.length > 0) throw new UsageError(`weir ${command} takes one path, '${more[0]}' is too many`)
  return path
}
