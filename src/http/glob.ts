/** Whether `*` in a pattern, for any characters, can make it this text. Takes as long as pattern times text at most. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, in_] = [0, 0]
  // Where to continue when a shorter stretch for the last `*` was wrong.
  let [star, retry] = [-1, 0]
  while (at < text.length) {
    if (pattern[in_] === '*') {
      star = in_++
      retry = at
    } else if (in_ < pattern.length && pattern[in_] === text[at]) {
      in_++
      at++
    } else if (star >= 0) {
      in_ = star + 1
      at = ++retry
    } else return false
  }
  while (pattern[in_] === '*') in_++
  return in_ === pattern.length
}
