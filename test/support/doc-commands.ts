import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A code block of a page: commands with requirements, the output of the previous commands, or a file they use. */
export type DocBlock =
  | { readonly kind: 'run'; readonly needs: string; readonly line: number; readonly text: string }
  | { readonly kind: 'output'; readonly line: number; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }

export const ROOT = join(import.meta.dirname, '../..')

/**
 * The fenced code blocks of a page. The comment above a block gives its kind: `run: NEEDS` for commands, `output` for
 * their output, `file: NAME` for a file. A block without such a comment is an error, so that every command is tested.
 */
export function docBlocks(page: string): readonly DocBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^(?:<!-- (run|file|output)(?:: (\S+))? -->\n)?```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: kind, 2: word = '', 3: language, 4: body = '', index }) => {
      const line = text.slice(0, index).split('\n').length
      if (kind === 'file' && word !== '') return { kind, name: word, text: body }
      if (kind === 'output') return { kind, line, text: body }
      if (kind !== 'run' || language !== 'sh') throw new Error(`${page}:${line}: the block does not say what it needs`)
      return { kind, needs: word, line, text: body }
    },
  )
}
