import { type DiffRow, diffLines, foldUnchanged } from '../../common/line-diff.ts'

/** The lines by which two texts differ, with three equal lines around them, as `diff -u` prints them. */
export function lineDifferences(older: string, newer: string): readonly string[] {
  return foldUnchanged(diffLines(older, newer)).flatMap(({ isFolded, rows }) =>
    isFolded ? [`  … ${rows.length} equal lines`] : hunkLines(rows),
  )
}

/** Consecutive removed lines come before the added ones. */
function hunkLines(rows: readonly DiffRow[]): readonly string[] {
  const lines: string[] = []
  let added: string[] = []
  for (const { kind, left, right } of rows) {
    if (kind === 'same') {
      lines.push(...added, `  ${left?.text ?? ''}`)
      added = []
      continue
    }
    if (left !== undefined) lines.push(`- ${left.text}`)
    if (right !== undefined) added.push(`+ ${right.text}`)
  }
  return [...lines, ...added]
}
