/** A position in a manifest at which a test expects a finding. */
export type FindingMarker = {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly rule: string
}

/**
 * The markers of manifests: a comment below a line, with a caret under the character at which a finding is expected and
 * the rule of the finding. `#<` stands for the first column, and `v` for the line below the comment.
 *
 *     tasksMax: two
 *     #         ^ InvalidManifest
 */
export function findingMarkersOf(files: Readonly<Record<string, string>>): readonly FindingMarker[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
    return lines.flatMap((line, at) => {
      const [, sign, rule = ''] = MARKER.exec(line) ?? []
      if (sign === undefined) return []
      const number = sign === 'v' ? at + 2 : lines.slice(0, at).findLastIndex((one) => !MARKER.test(one)) + 1
      return [{ file, line: number, column: sign === '<' ? 1 : line.indexOf(sign) + 1, rule }]
    })
  })
}

const MARKER = /^#\s*([<^v]) (\w+)$/
