/** Pages of a table from `from` to before `to`. A range to `OPEN_END` also contains pages that are added later. */
export type TablePageRange = { readonly from: number; readonly to: number }

export const OPEN_END = Number.POSITIVE_INFINITY
export const ALL_PAGES: TablePageRange = { from: 0, to: OPEN_END }

/** Adds a range to sorted, disjoint ranges, and joins those that touch. */
export function addPageRange(ranges: readonly TablePageRange[], added: TablePageRange): readonly TablePageRange[] {
  const touching = ranges.filter(({ from, to }) => from <= added.to && to >= added.from)
  const joined = {
    from: Math.min(added.from, ...touching.map(({ from }) => from)),
    to: Math.max(added.to, ...touching.map(({ to }) => to)),
  }
  return [...ranges.filter((range) => !touching.includes(range)), joined].toSorted((a, b) => a.from - b.from)
}

/** The ranges between sorted, disjoint ranges, up to the open end. */
export function missingPageRanges(ranges: readonly TablePageRange[]): readonly TablePageRange[] {
  const starts = [0, ...ranges.map(({ to }) => to)]
  const ends = [...ranges.map(({ from }) => from), OPEN_END]
  return starts.map((from, index) => ({ from, to: ends[index]! })).filter(({ from, to }) => from < to)
}

/** Splits ranges into parts of at most `pagesMax` pages. Only the last part has an open end. */
export function splitPageRanges(
  ranges: readonly TablePageRange[],
  pages: number,
  pagesMax: number,
): readonly TablePageRange[] {
  return ranges.flatMap((range) => {
    const parts: TablePageRange[] = []
    let { from } = range
    for (; from + pagesMax < Math.min(range.to, pages); from += pagesMax) parts.push({ from, to: from + pagesMax })
    return [...parts, { from, to: range.to }]
  })
}

/** Prints ranges as `0-128,256-`, with the first page and the page after the last one. */
export function printPageRanges(ranges: readonly TablePageRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to === OPEN_END ? '' : to}`).join(',')
}

/** Parses what `printPageRanges` prints. Undefined if the text has another form. */
export function parsePageRanges(text: string): readonly TablePageRange[] | undefined {
  if (text === '') return []
  let ranges: readonly TablePageRange[] = []
  for (const part of text.split(',')) {
    const [, from, to] = /^(\d{1,10})-(\d{0,10})$/.exec(part) ?? []
    if (from === undefined || to === undefined) return undefined
    const range = { from: Number(from), to: to === '' ? OPEN_END : Number(to) }
    if (range.to <= range.from) return undefined
    ranges = addPageRange(ranges, range)
  }
  return ranges
}
