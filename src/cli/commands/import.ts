import { existsSync, writeFileSync } from 'node:fs'
import type { RegistryClient } from '../../clients/registry-client.ts'
import { readArchive } from '../archive/archive-files.ts'
import { collectArchive } from '../archive/collect-archive.ts'
import { withArchivedTexts } from '../archive/equivalent-schemas.ts'
import { executeImport } from '../archive/execute-import.ts'
import {
  countVersionsToRegister,
  type ImportPlan,
  NO_SETTINGS,
  planImport,
  planSettings,
} from '../archive/import-plan.ts'
import { registerAnew } from '../archive/register-anew.ts'
import { describeSize, type RegistryArchive, versionsOf } from '../archive/registry-archive.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { openRegistryClient, REGISTRY_HELP, REGISTRY_OPTIONS, reportRequestError } from '../runtime-connection.ts'
import { printableText } from '../terminal/printable-text.ts'
import { createProgressBar, type ProgressBar } from '../terminal/progress-bar.ts'
import { onePath } from './export.ts'

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  'dry-run': { type: 'boolean', default: false },
  'schemas-only': { type: 'boolean', default: false },
  'new-ids': { type: 'string' },
} as const

export const importCommand: Command = {
  help: `usage: weir import PATH --registry URL [--dry-run] [--schemas-only] [--new-ids FILE]

Imports what weir export wrote to PATH into a schema registry, with the same ids. Existing content is kept; if any of it
contradicts PATH, all conflicts are listed and nothing is written (exit code 1). An interrupted import is completed by
running it again. Subjects have mode IMPORT only while they are written.

  --dry-run               print what would be done, and write nothing
  --schemas-only          leave configs and modes unchanged
  --new-ids FILE          let the registry assign ids and versions, as for any client, and write the old and the new ones to
                          FILE (JSON). It checks compatibility; versions that it rejects are listed (exit code 1). Records
                          with the old ids cannot be read with the new ones
${REGISTRY_HELP}

  weir import ./schemas --registry http://127.0.0.1:8081 --dry-run`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const path = onePath('import', positionals)
    const registry = openRegistryClient(values)
    const { 'new-ids': idsFile } = values
    if (idsFile !== undefined && existsSync(idsFile))
      throw new UsageError(`--new-ids ${idsFile}: the file exists already`)
    const archive = readArchive(path)
    const signal = abortOnStopSignal()
    const progress = createProgressBar(process.stderr)
    const request: ImportRequest = {
      archive,
      registry,
      isDryRun: values['dry-run'],
      schemasOnly: values['schemas-only'],
      source: `${describeSize(archive)} from ${path}`,
      signal,
      progress,
    }
    try {
      return await (idsFile === undefined ? importWithIds(request) : importWithNewIds(request, idsFile))
    } catch (error) {
      progress.end()
      return reportRequestError(error, '\nrun the command again to complete the import')
    }
  },
}

type ImportRequest = {
  readonly archive: RegistryArchive
  readonly registry: RegistryClient
  readonly isDryRun: boolean
  readonly schemasOnly: boolean
  /** The amount and the path of the archive, for messages. */
  readonly source: string
  readonly signal: AbortSignal
  readonly progress: ProgressBar
}

async function importWithIds(request: ImportRequest): Promise<ExitCode> {
  const { archive, registry, isDryRun, schemasOnly, source, signal, progress } = request
  const target = await collectTarget(request)
  const plan = planImport(archive, await withArchivedTexts(archive, target, registry), { schemasOnly })
  if (plan.conflicts.length === 0 && !isDryRun) {
    progress.begin('writing', countVersionsToRegister(plan))
    await executeImport(plan, registry, { signal, onVersion: progress.step })
  }
  progress.end()
  return report(plan, source, isDryRun)
}

async function importWithNewIds(request: ImportRequest, idsFile: string): Promise<ExitCode> {
  const { archive, registry, isDryRun, schemasOnly, source, signal, progress } = request
  const { conflicts, ...settings } = schemasOnly ? NO_SETTINGS : planSettings(archive, await collectTarget(request))
  if (conflicts.length > 0 || isDryRun) {
    progress.end()
    return report({ ...settings, conflicts, waves: [] }, source, isDryRun)
  }
  progress.begin('writing', versionsOf(archive).length)
  // Levels precede the versions that they allow, and modes follow those that they would forbid.
  await executeImport({ ...settings, conflicts, waves: [], modes: [] }, registry, { signal })
  const { assigned, rejected } = await registerAnew(archive, registry, { signal, onVersion: progress.step })
  await executeImport(
    { conflicts, contextConfigs: [], waves: [], subjectConfigs: [], modes: settings.modes },
    registry,
    {},
  )
  progress.end()
  writeFileSync(idsFile, `${JSON.stringify(assigned, undefined, 2)}\n`, { flag: 'wx' })
  const lines = [
    ...rejected.map((one) => `not accepted: ${one}`),
    `imported ${assigned.length} of ${source} with new ids, which are in ${idsFile}`,
  ]
  process.stdout.write(`${lines.map((line) => printableText(line)).join('\n')}\n`)
  return rejected.length === 0 ? 0 : 1
}

function collectTarget({ archive, registry, signal, progress }: ImportRequest): Promise<RegistryArchive> {
  return collectArchive(registry, {
    deleted: true,
    extraSubjects: archive.subjects.map(({ subject }) => subject),
    signal,
    onSubject: (done, all) => (done === 0 ? progress.begin('comparing', all) : progress.step()),
  })
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
  process.stdout.write([...conflicts, last, ''].map((line) => printableText(line)).join('\n'))
  return conflicts.length === 0 ? 0 : 1
}
