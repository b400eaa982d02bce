import { readArchive } from '../archive/archive-files.ts'
import { collectArchive } from '../archive/collect-archive.ts'
import { withArchivedTexts } from '../archive/equivalent-schemas.ts'
import { executeImport } from '../archive/execute-import.ts'
import { countVersionsToRegister, type ImportPlan, planImport } from '../archive/import-plan.ts'
import { describeSize } from '../archive/registry-archive.ts'
import {
  openRegistryClient,
  REGISTRY_HELP,
  REGISTRY_OPTIONS,
  reportRequestError,
} from '../archive/registry-connection.ts'
import { type Command, type ExitCode, parseArguments } from '../command.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { createProgressBar } from '../terminal/progress-bar.ts'
import { onePath } from './export.ts'

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  'dry-run': { type: 'boolean', default: false },
  'schemas-only': { type: 'boolean', default: false },
} as const

export const importCommand: Command = {
  help: `usage: weir import PATH --registry URL [--dry-run] [--schemas-only]

Imports what weir export wrote to PATH into a schema registry, with the same ids. Existing content is kept; if any of it
contradicts PATH, all conflicts are listed and nothing is written (exit code 1). An interrupted import is completed by
running it again. Subjects have mode IMPORT only while they are written.

  --dry-run               print what would be done, and write nothing
  --schemas-only          leave configs and modes unchanged
${REGISTRY_HELP}

  weir import ./schemas --registry http://127.0.0.1:8081 --dry-run`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const path = onePath('import', positionals)
    const registry = openRegistryClient(values)
    const archive = readArchive(path)
    const signal = abortOnStopSignal()
    const progress = createProgressBar(process.stderr)
    try {
      const target = await collectArchive(registry, {
        deleted: true,
        extraSubjects: archive.subjects.map(({ subject }) => subject),
        signal,
        onSubject: (done, all) => (done === 0 ? progress.begin('comparing', all) : progress.step()),
      })
      const plan = planImport(archive, await withArchivedTexts(archive, target, registry), {
        schemasOnly: values['schemas-only'],
      })
      if (plan.conflicts.length === 0 && !values['dry-run']) {
        progress.begin('writing', countVersionsToRegister(plan))
        await executeImport(plan, registry, { signal, onVersion: progress.step })
      }
      progress.end()
      return report(plan, `${describeSize(archive)} from ${path}`, values['dry-run'])
    } catch (error) {
      progress.end()
      return reportRequestError(error, '\nrun the command again to complete the import')
    }
  },
}

function report(plan: ImportPlan, source: string, isDryRun: boolean): ExitCode {
  const { conflicts } = plan
  const missing = countVersionsToRegister(plan)
  const settings = plan.contextConfigs.length + plan.subjectConfigs.length + plan.modes.length
  const amounts = `${missing} of them new, ${settings} configs and modes`
  const last =
    conflicts.length > 0
      ? `nothing was written: ${conflicts.length} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}`
      : `${isDryRun ? 'would import' : 'imported'} ${source}: ${amounts}`
  process.stdout.write([...conflicts, last, ''].join('\n'))
  return conflicts.length === 0 ? 0 : 1
}
