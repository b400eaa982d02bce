export type DiffLine = { readonly number: number; readonly text: string }
/** A row of two texts side by side. `changed` has a line on both sides that differs. */
export type DiffRow = {
  readonly kind: 'same' | 'removed' | 'added' | 'changed'
  readonly left?: DiffLine
  readonly right?: DiffLine
}
/** Rows that are shown, or a run of equal rows that can be opened. */
export type DiffPart = { readonly isFolded: boolean; readonly rows: readonly DiffRow[] }

/** Memory and time grow with the square of the edits. Texts that differ more are shown as replaced. */
const EDITS_MAX = 2_000

/** Compares two texts by lines with the algorithm of Myers. */
export function diffLines(left: string, right: string): readonly DiffRow[] {
  const [a, b] = [left.split('\n'), right.split('\n')]
  const isShared = pairsOf(a, b)
  const rows: DiffRow[] = []
  let [x, y] = [0, 0]
  for (const [nextX, nextY] of [...isShared, [a.length, b.length] as const]) {
    rows.push(...hunk(a, b, [x, nextX], [y, nextY]))
    if (nextX < a.length) rows.push({ kind: 'same', left: lineOf(a, nextX), right: lineOf(b, nextY) })
    x = nextX + 1
    y = nextY + 1
  }
  return rows
}

/** Folds runs of equal rows, except `context` rows beside a difference. */
export function foldUnchanged(rows: readonly DiffRow[], context = 3): readonly DiffPart[] {
  const isNear = new Uint8Array(rows.length)
  rows.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - context), at + context + 1)
  })
  const parts: { isFolded: boolean; rows: DiffRow[] }[] = []
  rows.forEach((row, at) => {
    const isFolded = isNear[at] === 0
    const last = parts.at(-1)
    if (last?.isFolded === isFolded) last.rows.push(row)
    else parts.push({ isFolded, rows: [row] })
  })
  // A single row needs as much space as the button that opens it.
  return parts.map((part) => (part.rows.length === 1 ? { ...part, isFolded: false } : part))
}

const lineOf = (lines: readonly string[], at: number): DiffLine => ({ number: at + 1, text: lines[at] ?? '' })

/** The lines between two equal ones. Removed and added lines are paired in their order. */
function hunk(
  a: readonly string[],
  b: readonly string[],
  [fromA, toA]: readonly [number, number],
  [fromB, toB]: readonly [number, number],
): readonly DiffRow[] {
  const [removed, added] = [toA - fromA, toB - fromB]
  return Array.from({ length: Math.max(removed, added) }, (_, at) => {
    if (at >= added) return { kind: 'removed', left: lineOf(a, fromA + at) }
    if (at >= removed) return { kind: 'added', right: lineOf(b, fromB + at) }
    return { kind: 'changed', left: lineOf(a, fromA + at), right: lineOf(b, fromB + at) }
  })
}

type Pair = readonly [number, number]

/** The indexes of the lines that both texts share, ascending. */
function pairsOf(a: readonly string[], b: readonly string[]): readonly Pair[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1
    endB -= 1
  }
  const run = (length: number, fromA: number, fromB: number) =>
    Array.from({ length }, (_, at): Pair => [fromA + at, fromB + at])
  const middle = shortestEdit(a.slice(start, endA), b.slice(start, endB))
  return [
    ...run(start, 0, 0),
    ...middle.map(([x, y]): Pair => [x + start, y + start]),
    ...run(a.length - endA, endA, endB),
  ]
}

function shortestEdit(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const editsMax = Math.min(a.length + b.length, EDITS_MAX)
  /** For each number of edits, how far each diagonal reaches: index is the diagonal plus the number of edits plus 1. */
  const reached: Int32Array[] = []
  /** How far a diagonal reaches after one edit less. */
  const before = (edits: number, diagonal: number) => reached[edits - 1]?.[diagonal + edits] ?? -1
  const isAddition = (edits: number, diagonal: number) =>
    diagonal === -edits || (diagonal !== edits && before(edits, diagonal - 1) < before(edits, diagonal + 1))
  const startOf = (edits: number, diagonal: number) => {
    if (edits === 0) return 0
    return isAddition(edits, diagonal) ? before(edits, diagonal + 1) : before(edits, diagonal - 1) + 1
  }
  for (let edits = 0; edits <= editsMax; edits += 1) {
    const furthest = new Int32Array(2 * edits + 3).fill(-1)
    reached.push(furthest)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(edits, diagonal)
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1
      furthest[diagonal + edits + 1] = x
      if (x >= a.length && x - diagonal >= b.length) return traceBack(edits)
    }
  }
  return []

  function traceBack(total: number): readonly Pair[] {
    const pairs: Pair[] = []
    let [x, y] = [a.length, b.length]
    for (let edits = total; edits >= 0; edits -= 1) {
      const diagonal = x - y
      const start = startOf(edits, diagonal)
      while (x > start) {
        x -= 1
        y -= 1
        pairs.push([x, y])
      }
      if (isAddition(edits, diagonal)) y -= 1
      else x -= 1
    }
    return pairs.reverse()
  }
}
