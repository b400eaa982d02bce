import { archiveLocation, checkExportTarget, writeArchive } from '../archive/archive-files.ts'
import { collectArchive } from '../archive/collect-archive.ts'
import { describeSize } from '../archive/registry-archive.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { openRegistryClient, REGISTRY_HELP, REGISTRY_OPTIONS, reportRequestError } from '../runtime-connection.ts'
import { createProgressBar } from '../terminal/progress-bar.ts'

const OPTIONS = { ...REGISTRY_OPTIONS, deleted: { type: 'boolean', default: false } } as const

export const exportCommand: Command = {
  help: `usage: weir export PATH --registry URL [--deleted]

Writes all schemas of a schema registry to PATH: subjects, versions, ids, configs, modes and contexts. A PATH that ends in
.json becomes one file, any other PATH a directory with one file per subject. Only an earlier export is replaced. The keys of
the DEK registry are not exported: back up its topic.

  --deleted               include all soft-deleted versions, not only those that another version references
${REGISTRY_HELP}

  weir export ./schemas --registry http://127.0.0.1:8081`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const location = archiveLocation(onePath('export', positionals))
    const registry = openRegistryClient(values)
    checkExportTarget(location)
    const progress = createProgressBar(process.stderr)
    try {
      const archive = await collectArchive(registry, {
        deleted: values.deleted,
        signal: abortOnStopSignal(),
        onSubject: (done, all) => (done === 0 ? progress.begin('reading', all) : progress.step()),
      })
      writeArchive(location, archive)
      progress.end()
      process.stdout.write(`exported ${describeSize(archive)} to ${location.path}\n`)
      return 0
    } catch (error) {
      progress.end()
      return reportRequestError(error)
    }
  },
}

/** The PATH argument of export and import. */
export function onePath(command: string, [path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError(`expected a file or directory: weir ${command} PATH`)
  if (more.length > 0) throw new UsageError(`weir ${command} takes one path: '${more[0]}' is unexpected`)
  return path
}
