import { loadPlugins, secretKeysOf } from '../../worker/main.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { diffText, plannedChanges } from '../manifests/diff-report.ts'
import { textReport } from '../manifests/reports/text-report.ts'
import { SOURCE_HELP, SOURCE_OPTIONS } from '../manifests/runtime-sources.ts'
import { oneDirectory, simulateDirectory } from '../manifests/simulate-directory.ts'
import { namesResource } from '../verbs/resource-words.ts'
import { commandOfVerb } from '../verbs/verbs.ts'

const OPTIONS = { ...SOURCE_OPTIONS, output: { type: 'string', default: 'text' } } as const

export const diffCommand: Command = {
  help: `usage: weir diff DIR [--registry [NAME=]URL]… [--worker [NAME=]URL]… [--snapshot [NAME=]PATH]… [--against REV]
       weir diff subject NAME… [--from N] [--to N]

The first form prints what applying the manifests of DIR would change in the runtimes, with secrets masked. The operator's reconcilers
run on a copy of the runtimes in memory: nothing is written. Deletions are shown for manifests that --against REV has and
DIR does not. The second form prints how two versions of a subject differ, and whether they are compatible; its other options are
those of weir versions.

  --from N, --to N        versions of the subject; default: the last two

  --output FORMAT         text or json; default: text
${SOURCE_HELP}

Exit codes: 0 no differences, 1 differences, 2 wrong usage, 3 undecided: a manifest cannot be applied, or a runtime does
not respond.

  weir diff subject orders-value --from 1 --to 2
  weir diff manifests --registry http://127.0.0.1:8081 --worker http://127.0.0.1:8083`,

  async run(args) {
    if (namesResource(args.find((arg) => !arg.startsWith('-')))) return commandOfVerb('diff').run(args)
    const { values, positionals } = parseArguments(args, OPTIONS)
    const root = oneDirectory('diff', positionals)
    const { output } = values
    if (output !== 'text' && output !== 'json') throw new UsageError(`--output ${output}: expected text or json`)
    const { outcomes, result } = await simulateDirectory(root, values)
    const { catalog } = await loadPlugins([])
    const planned = plannedChanges(outcomes, (config) => secretKeysOf(config, catalog))
    process.stdout.write(output === 'json' ? `${JSON.stringify(planned, undefined, 2)}\n` : diffText(planned))
    if (result.findings.some(({ severity }) => severity === 'error' || severity === 'undecided')) {
      process.stderr.write(textReport(result))
      return 3
    }
    return planned.length === 0 ? 0 : 1
  },
}
