import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { type CheckResult, findingsOf } from '../manifests/check-finding.ts'
import { CHECK_REPORTS, type CheckReportFormat } from '../manifests/reports/check-report.ts'
import { SOURCE_HELP, SOURCE_OPTIONS } from '../manifests/runtime-sources.ts'
import { oneDirectory, simulateDirectory } from '../manifests/simulate-directory.ts'

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
    const { result } = await simulateDirectory(root, values)
    process.stdout.write(CHECK_REPORTS[format](result))
    return exitCodeOf(result)
  },
}

function formatOf(text: string): CheckReportFormat {
  const found = FORMATS.find((format) => format === text)
  if (found !== undefined) return found as CheckReportFormat
  throw new UsageError(`--output ${text}: expected one of ${FORMATS.join(', ')}`)
}

function exitCodeOf(result: CheckResult): ExitCode {
  if (findingsOf(result, 'error').length > 0) return 1
  return findingsOf(result, 'undecided').length > 0 ? 3 : 0
}
