import { printableText } from '../terminal/printable-text.ts'
import { green, red, type Style, yellow } from '../terminal/style.ts'

/** What `weir doctor` says of one thing. */
export type DoctorFinding = {
  /** What was checked, such as `broker` or `clock of the worker`. */
  readonly check: string
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do. */
  readonly remedy?: string
}

const STYLES: Readonly<Record<DoctorFinding['verdict'], Style>> = { ok: green, warning: yellow, problem: red }
const VERDICT_WIDTH = 'warning'.length

/** A line for each, and another one with what to do. */
export function doctorText(findings: readonly DoctorFinding[]): string {
  return findings
    .flatMap(({ check, verdict, message, remedy }) => [
      `${STYLES[verdict](verdict.padEnd(VERDICT_WIDTH))}  ${printableText(`${check}: ${message}`)}`,
      ...(remedy === undefined ? [] : [`${' '.repeat(VERDICT_WIDTH)}  → ${printableText(remedy)}`]),
    ])
    .join('\n')
}
