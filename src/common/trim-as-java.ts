/** Trims like Java's `String.trim`: spaces and control characters, but no other white space, such as U+00A0. */
export function trimAsJava(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1
  return text.slice(start, end)
}
