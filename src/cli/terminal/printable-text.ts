/** Characters that change what a terminal or a log shows: control characters, and those that reverse the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/**
 * A text of a manifest, such as a value or a path, as it may be printed: a character that would move the cursor, hide
 * other text or begin a new line is written as its code. `keep`: characters that stay as they are.
 */
export function printableText(text: string, keep = ''): string {
  return text.replace(UNPRINTABLE, (character) =>
    keep.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
