import { type JavaPattern, javaRegex } from '../../../../java-compat/java-regex.ts'

/**
 * Parses regular expressions that match whole names, in upper or lower case, separated by commas. A comma in an expression is
 * written `\,`. Throws an `Error` that names the key for an invalid expression.
 */
export function parseNamePatterns(key: string, text: string): readonly JavaPattern[] {
  return text
    .split(/(?<!\\),/)
    .map((entry) => entry.replaceAll('\\,', ',').trim())
    .filter((entry) => entry !== '')
    .map((entry) => parseNamePattern(key, entry, text))
}

/** `text` is the value of the key that contains the expression. */
export function parseNamePattern(key: string, expression: string, text = expression): JavaPattern {
  try {
    return javaRegex(`(?i)${expression}`, { whole: true })
  } catch (error) {
    throw new Error(
      `Invalid value ${text} for configuration ${key}: '${expression}' is no regular expression: ${(error as Error).message}`,
    )
  }
}
