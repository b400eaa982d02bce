import { type Command, type ExitCode, readArgs } from './command.ts'
import { carryOut } from './dump/carry-out.ts'
import { collectDump } from './dump/collect.ts'
import { sizeOf } from './dump/dump.ts'
import { readDump } from './dump/file.ts'
import { type ImportPlan, missingCount, planImport } from './dump/plan.ts'
import { createProgress } from './dump/progress.ts'
import { REGISTRY_HELP, REGISTRY_OPTIONS, registryAt, undecided } from './dump/registry-at.ts'
import { inSpellingOf } from './dump/respelled.ts'
import { onePath } from './export.ts'
import { abortedWhenAsked } from './signals.ts'

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  'dry-run': { type: 'boolean', default: false },
  'schemas-only': { type: 'boolean', default: false },
} as const

export const importCommand: Command = {
  help: `usage: weir import PATH --registry URL [--dry-run] [--schemas-only]

Makes a schema registry hold what weir export wrote to PATH, under the same ids. What is there already stays; when anything
there contradicts PATH, all of that is listed and nothing is written (exit code 1). Run again after it was cut off, it
goes on where it was. Subjects have mode IMPORT only while they are written.

  --dry-run               say what would be done, and do nothing
  --schemas-only          leave configs and modes alone
${REGISTRY_HELP}

  weir import ./schemas --registry http://127.0.0.1:8081 --dry-run`,

  async run(args) {
    const { values, positionals } = readArgs(args, OPTIONS)
    const path = onePath('import', positionals)
    const registry = registryAt(values)
    const dump = readDump(path)
    const signal = abortedWhenAsked()
    const progress = createProgress(process.stderr)
    try {
      const target = await collectDump(registry, {
        deleted: true,
        also: dump.subjects.map(({ subject }) => subject),
        signal,
        onSubject: (done, all) => (done === 0 ? progress.begin('comparing', all) : progress.step()),
      })
      const plan = planImport(dump, await inSpellingOf(dump, target, registry), { schemasOnly: values['schemas-only'] })
      if (plan.conflicts.length === 0 && !values['dry-run']) {
        progress.begin('writing', missingCount(plan))
        await carryOut(plan, registry, { signal, onVersion: progress.step })
      }
      progress.end()
      return tell(plan, `${sizeOf(dump)} from ${path}`, values['dry-run'])
    } catch (error) {
      progress.end()
      return undecided(error, '\nrun it again: it goes on where it was')
    }
  },
}

function tell(plan: ImportPlan, what: string, isDry: boolean): ExitCode {
  const { conflicts } = plan
  const missing = missingCount(plan)
  const settings = plan.contextConfigs.length + plan.subjectConfigs.length + plan.modes.length
  const amounts = `${missing} of them new, ${settings} configs and modes`
  const last =
    conflicts.length > 0
      ? `nothing was written: ${conflicts.length} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}`
      : `${isDry ? 'would import' : 'imported'} ${what}: ${amounts}`
  process.stdout.write([...conflicts, last, ''].join('\n'))
  return conflicts.length === 0 ? 0 : 1
}
