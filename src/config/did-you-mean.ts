/** Longer words are not compared: the time grows with the length of both. */
const CHARACTERS_MAX = 200

/** The most similar known word, if a few typos or a different case explain the difference. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (word.length > CHARACTERS_MAX) return undefined
  const allowed = Math.max(1, Math.floor(word.length / 3))
  let best: { readonly word: string; readonly typos: number } | undefined
  for (const candidate of known) {
    const typos = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (typos <= allowed && (best === undefined || typos < best.typos)) best = { word: candidate, typos }
  }
  return best?.word
}

/** The Damerau-Levenshtein distance: letters to insert, delete, replace or transpose. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (above[column - 1] ?? 0) + Number(!same),
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    before = above
    above = current
  }
  return above[b.length] ?? 0
}
