import { createHash } from 'node:crypto'
import type { CheckFinding, CheckResult, Severity } from '../check-finding.ts'
import { portablePath } from './file-uri.ts'
import { textReport } from './text-report.ts'

const COMMANDS: Readonly<Record<Exclude<Severity, 'note'>, string>> = {
  error: 'error',
  undecided: 'warning',
  warning: 'warning',
}

/** Workflow commands, which GitHub Actions shows as annotations of the changed lines, after the text for its log. */
export function githubReport(result: CheckResult): string {
  const commands = result.findings.flatMap((finding) => {
    const { severity } = finding
    return severity === 'note' ? [] : [commandOf(finding, COMMANDS[severity])]
  })
  const log = textReport(result)
  // The runner reads commands in any line of the log, and a message has what a manifest contains. It stops doing so until
  // it reads a token, which no manifest can contain, because it depends on the whole log.
  const token = createHash('sha256').update(log).digest('hex')
  return [`::stop-commands::${token}`, log.trimEnd(), `::${token}::`, ...commands, ''].join('\n')
}

function commandOf({ file, line, column, rule, message, hint }: CheckFinding, command: string): string {
  const properties = { file: portablePath(file), line: String(line), col: String(column), title: `weir: ${rule}` }
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(value)}`)
  const text = hint === undefined ? message : `${message}\nHint: ${hint}`
  return `::${command} ${list.join(',')}::${escapedData(text)}`
}

function escapedData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
