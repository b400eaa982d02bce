import { statSync } from 'node:fs'
import { manifestDirectoryOf, readManifestDirectory, Simulation } from '../../operator/simulation.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { type CheckResult, findingsOf } from '../manifests/check-finding.ts'
import { checkResultOf } from '../manifests/check-manifests.ts'
import { readRevision } from '../manifests/git-revision.ts'
import { CHECK_REPORTS, type CheckReportFormat } from '../manifests/reports/check-report.ts'
import { openRuntimeSources, SOURCE_HELP, SOURCE_OPTIONS } from '../manifests/runtime-sources.ts'

const OPTIONS = { ...SOURCE_OPTIONS, output: { type: 'string', default: 'text' } } as const
const FORMATS = Object.keys(CHECK_REPORTS)

export const checkCommand: Command = {
  help: `usage: weir check DIR [--registry [NAME=]URL]… [--worker [NAME=]URL]… [--snapshot [NAME=]PATH]… [--against REV]

Checks the manifests of DIR before they are applied. The verdict is that of the operator's admission webhook and of its
reconcilers, which run on a copy of the runtimes in memory: nothing is written to a runtime. Without --registry,
--snapshot and --against, registries count as empty. Without --worker, no connector exists, and connector settings are
validated by the plugins of this machine. With --config alone, the runtimes of the configuration file are read.

  --output FORMAT         ${FORMATS.join(', ')}; default: text
${SOURCE_HELP}

Exit codes: 0 all manifests can be applied, 1 some cannot, 2 wrong usage, 3 undecided, such as when a runtime does not
respond.

  weir check manifests --registry http://127.0.0.1:8081 --worker http://127.0.0.1:8083
  weir check manifests --against origin/main --output github`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const root = oneDirectory('check', positionals)
    const format = formatOf(values.output)
    const { against } = values
    const directory = await readManifestDirectory(root)
    const before = against === undefined ? undefined : manifestDirectoryOf(await readRevision(root, against))
    const known = before === undefined ? [directory] : [directory, before]
    if (known.every(({ resources, problems }) => resources.length + problems.length === 0)) {
      throw new UsageError(`${root} contains no manifests of Weir: give another directory`)
    }
    const sources = openRuntimeSources(values, known)
    try {
      const simulation = new Simulation(sources)
      if (before !== undefined) await simulation.apply(before)
      const outcomes = await simulation.apply(directory)
      const result = { ...checkResultOf(root, directory, before, outcomes), notes: notesOf(sources, against) }
      process.stdout.write(CHECK_REPORTS[format](result))
      return exitCodeOf(result)
    } finally {
      await sources.close()
    }
  },
}

/** The DIR argument of a command on manifests. */
export function oneDirectory(command: string, [path, ...more]: readonly string[]): string {
  if (path === undefined) throw new UsageError(`expected a directory of manifests: weir ${command} DIR`)
  if (more.length > 0) throw new UsageError(`weir ${command} takes one directory: '${more[0]}' is unexpected`)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new UsageError(`${path} is not a directory: weir ${command} DIR reads all manifests below DIR`)
}

function formatOf(text: string): CheckReportFormat {
  const found = FORMATS.find((format) => format === text)
  if (found !== undefined) return found as CheckReportFormat
  throw new UsageError(`--output ${text}: expected one of ${FORMATS.join(', ')}`)
}

/** With `--against`, an empty registry is what the earlier manifests are applied to. */
function notesOf({ emptyRegistries }: { emptyRegistries: () => readonly string[] }, against: string | undefined) {
  if (against !== undefined) return []
  return emptyRegistries().map(
    (name) =>
      `registry ${name} counts as empty: schemas were not compared with registered ones (--registry, --snapshot or --against)`,
  )
}

function exitCodeOf(result: CheckResult): ExitCode {
  if (findingsOf(result, 'error').length > 0) return 1
  return findingsOf(result, 'undecided').length > 0 ? 3 : 0
}
