import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A block of a page: commands and what they need, or a file that they name. */
export type DocBlock =
  | { readonly kind: 'run'; readonly needs: string; readonly line: number; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }

export const ROOT = join(import.meta.dirname, '../..')

/**
 * What stands in fences on a page. The comment above says what it is: `run: NEEDS` for commands, `file: NAME` for a file.
 * A fence that says nothing is an error, so that no command goes untried.
 */
export function docBlocks(page: string): readonly DocBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^(?:<!-- (run|file): (\S+) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: kind, 2: word = '', 3: language, 4: body = '', index }) => {
      const line = text.slice(0, index).split('\n').length
      if (kind === 'file') return { kind, name: word, text: body }
      if (kind !== 'run' || language !== 'sh') throw new Error(`${page}:${line}: nothing says what this block needs`)
      return { kind, needs: word, line, text: body }
    },
  )
}
